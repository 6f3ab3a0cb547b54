package resources

import (
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// defaultFlushBytes is the size from which on a bulk request is sent where the campaign sets none: 3 MB.
const defaultFlushBytes = 3_000_000

// bulkDriver is Knee's own loader, which is in the agent.
type bulkDriver struct{ *v1alpha1.Bulk }

func (bulkDriver) image(o Options) string { return o.AgentImage }

func (bulkDriver) hasAgent() bool { return true }

func (d bulkDriver) from() (*v1alpha1.WorkloadSource, string) {
	if d.Files == nil {
		return nil, ""
	}
	return &d.Files.From, "spec.workload.bulk.files.from"
}

func (d bulkDriver) configure(cfg *record.Config, _ v1alpha1.BenchmarkCampaignSpec) {
	bulk := &record.BulkConfig{Dataset: string(d.Dataset)}
	switch {
	case d.Documents != nil:
		bulk.Documents = *d.Documents
	case d.DocumentsPerClient != nil:
		bulk.Documents = *d.DocumentsPerClient * int64(cfg.Trial.Clients)
	case d.DurationSeconds != nil:
		bulk.DurationSeconds = *d.DurationSeconds
	}
	switch {
	case d.FlushDocuments != nil:
		bulk.FlushDocuments = *d.FlushDocuments
	case d.FlushBytes != "":
		q := resource.MustParse(string(d.FlushBytes))
		bulk.FlushBytes = q.Value()
	default:
		bulk.FlushBytes = defaultFlushBytes
	}
	if d.Files != nil {
		bulk.Flat = d.Files.From.ConfigMap != ""
		for _, name := range d.Files.Names {
			bulk.Files = append(bulk.Files, d.path(name))
		}
	}
	cfg.Bulk = bulk
}

// path is where a file lies in the pod. In a ConfigMap files lie flat, "__" for "/".
func (d bulkDriver) path(name string) string {
	switch from := d.Files.From; {
	case from.Volume != nil:
		return path.Join(record.WorkloadPath, from.Volume.Path, name)
	case from.ConfigMap != "":
		return path.Join(record.WorkloadPath, strings.ReplaceAll(name, "/", "__"))
	}
	return path.Join(record.WorkloadPath, name)
}
