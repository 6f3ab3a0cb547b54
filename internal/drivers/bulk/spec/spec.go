// Package spec implements the manager's side of the driver "bulk", which uses Knee's own loader. The loader is part of the
// agent.
package spec

import (
	"fmt"
	"path"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers"
	"github.com/knee-bench/knee/internal/drivers/bulk/bulkconfig"
	"github.com/knee-bench/knee/internal/record"
)

// defaultFlushBytes is the size of a bulk request if the campaign sets no size: 3 MB.
const defaultFlushBytes = 3_000_000

type bulk struct{ *v1alpha1.Bulk }

// New returns the driver, and whether the campaign sets the field bulk.
func New(d v1alpha1.Drivers) (drivers.Spec, bool) { return bulk{d.Bulk}, d.Bulk != nil }

func (b bulk) Describe() string {
	if b.Dataset != "" {
		return fmt.Sprintf("Knee's own loader, dataset %s", b.Dataset)
	}
	return "Knee's own loader, files of the campaign"
}

func (bulk) FillsIndex() bool { return true }

func (bulk) Unit() string { return "docs/s" }

func (bulk) Override(v1alpha1.Variant) {}

func (bulk) Params() map[string]v1alpha1.ParamValue { return nil }

func (bulk) NeedsOpenSearch() bool { return true }

func (bulk) DefaultIndex() string { return "" }

func (b bulk) Files() (*v1alpha1.WorkloadSource, *field.Path) {
	if b.Bulk.Files == nil {
		return nil, nil
	}
	return &b.Bulk.Files.From, drivers.Path("bulk", "files", "from")
}

func (b bulk) Duration(bool) (time.Duration, bool) {
	if b.DurationSeconds == nil {
		return 0, false
	}
	return time.Duration(*b.DurationSeconds) * time.Second, true
}

func (bulk) CallTime() time.Duration { return 0 }

func (b bulk) Documents(bool) (int64, bool) {
	if b.Bulk.Documents == nil {
		return 0, false
	}
	return *b.Bulk.Documents, true
}

func (bulk) Image(i drivers.Images) string { return i.Agent }

func (bulk) HasAgent() bool { return true }

func (bulk) NodePorts() []int32 { return nil }

func (b bulk) Configure(cfg *record.Config, _ v1alpha1.BenchmarkCampaignSpec) {
	out := bulkconfig.Config{Dataset: string(b.Dataset)}
	switch {
	case b.Bulk.Documents != nil:
		out.Documents = *b.Bulk.Documents
	case b.DocumentsPerClient != nil:
		out.Documents = *b.DocumentsPerClient * int64(cfg.Attempt.Clients)
	case b.DurationSeconds != nil:
		out.DurationSeconds = *b.DurationSeconds
	}
	switch {
	case b.FlushDocuments != nil:
		out.FlushDocuments = *b.FlushDocuments
	case b.FlushBytes != "":
		q := resource.MustParse(string(b.FlushBytes))
		out.FlushBytes = q.Value()
	default:
		out.FlushBytes = defaultFlushBytes
	}
	if b.Bulk.Files != nil {
		out.Flat = b.Bulk.Files.From.ConfigMap != ""
		for _, name := range b.Bulk.Files.Names {
			out.Files = append(out.Files, filePath(b.Bulk.Files.From, name))
		}
	}
	cfg.Driver = record.NewDriverConfig(bulkconfig.Name, out)
}

// filePath returns the path of a file in the pod. A ConfigMap has no folders, so "/" is written as "__" in its keys.
func filePath(from v1alpha1.WorkloadSource, name string) string {
	switch {
	case from.Volume != nil:
		return path.Join(record.WorkloadPath, from.Volume.Path, name)
	case from.ConfigMap != "":
		return path.Join(record.WorkloadPath, strings.ReplaceAll(name, "/", "__"))
	}
	return path.Join(record.WorkloadPath, name)
}

func (bulk) Validate(drivers.Campaign) field.ErrorList { return nil }
