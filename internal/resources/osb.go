package resources

import (
	"maps"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// osbDriver is opensearch-benchmark: its own image, a workload's files, and parameters of which one takes the clients.
type osbDriver struct {
	*v1alpha1.OSB
	topology plan.Topology
}

func (d osbDriver) image(o Options) string { return image(d.Image, o.OSBImage, d.Version) }

func (osbDriver) hasAgent() bool { return false }

func (d osbDriver) from() (*v1alpha1.WorkloadSource, string) { return d.From, "spec.workload.osb.from" }

func (d osbDriver) configure(cfg *record.Config, campaign v1alpha1.BenchmarkCampaignSpec) {
	osb := &record.OSBConfig{
		Workload: d.Workload, TestProcedure: d.TestProcedure,
		Params: d.params(cfg.Trial), ClientsParam: d.ClientsParam, SetupTasks: d.SetupTasks, IngestTasks: d.IngestTasks,
	}
	switch {
	case cfg.Trial.Phase == record.Final && ptr.Deref(campaign.Final.Search, false):
		osb.SearchTasks = d.SearchTasks
	case cfg.Trial.Phase == record.OpenLoop:
		osb.TargetThroughputParam = campaign.Workload.OSB.TargetThroughputParam
	}
	if from := d.From; from != nil {
		switch {
		case from.Git != nil:
			osb.GitURL, osb.GitRef = from.Git.URL, from.Git.Ref
		case from.Volume != nil:
			osb.Path = record.WorkloadPath + "/" + from.Volume.Path
		default:
			osb.Path = record.WorkloadPath
			osb.Flat = from.ConfigMap != ""
		}
	}
	cfg.OSB = osb
	cfg.ClientCheck = ptr.Deref(campaign.Workload.ClientBoundCheck, false) && firstFinal(cfg.Trial)
}

// firstFinal tells the Finals that a client-bound check is part of: the first repetition at each client count.
func firstFinal(t record.Trial) bool {
	return t.Phase == record.Final && t.Repetition == 1 && t.Placement <= 1
}

// params are the workload's parameters, complete: the topology and the client count win.
func (d osbDriver) params(attempt record.Trial) map[string]string {
	out := texts(d.Params)
	if attempt.Phase == record.Warmup {
		maps.Copy(out, texts(d.WarmupParams))
	}
	maps.Copy(out, map[string]string{
		d.ClientsParam:       strconv.Itoa(int(attempt.Clients)),
		"number_of_shards":   strconv.Itoa(int(d.topology.Primaries)),
		"number_of_replicas": strconv.Itoa(int(d.topology.Replicas)),
		"refresh_interval":   d.topology.RefreshInterval,
	})
	return out
}
