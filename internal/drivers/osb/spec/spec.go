// Package spec implements the manager's side of the driver "osb", which uses opensearch-benchmark. The driver needs the files
// of a workload and parameters. One of the parameters sets the client count.
package spec

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers"
	"github.com/knee-bench/knee/internal/drivers/osb/osbconfig"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/workloads"
)

// Parameters of the official workloads for the duration of a load and of its warm-up, in seconds.
const (
	TimeParam       = "time_period"
	WarmupTimeParam = "warmup_time_period"
)

// CallTime is the time that a call with one task needs in addition to its load: preparation, start of the task, and shutdown.
// It was measured with opensearch-benchmark 2.4 on a small machine.
const CallTime = 22 * time.Second

type osb struct{ *v1alpha1.OSB }

// New returns the driver, and whether the campaign sets the field osb.
func New(d v1alpha1.Drivers) (drivers.Spec, bool) { return osb{d.OSB}, d.OSB != nil }

func (o osb) Describe() string {
	return fmt.Sprintf("opensearch-benchmark, workload %s, tasks %s", o.Workload, strings.Join(o.IngestTasks, ", "))
}

func (osb) FillsIndex() bool { return true }

func (osb) Unit() string { return "docs/s" }

// Override applies the variant's params. It also clears targetThroughputParam: only OpenLoop trials use this field, and they
// read it from the campaign.
func (o osb) Override(v v1alpha1.Variant) {
	o.OSB.Params = drivers.Merge(o.OSB.Params, v.Params)
	o.TargetThroughputParam = ""
}

func (o osb) Params() map[string]v1alpha1.ParamValue { return o.OSB.Params }

func (osb) NeedsOpenSearch() bool { return true }

func (o osb) DefaultIndex() string {
	name, _ := workloads.Index(o.Workload)
	return name
}

func (o osb) Files() (*v1alpha1.WorkloadSource, *field.Path) {
	return o.From, drivers.Path("osb", "from")
}

func (o osb) Duration(warmup bool) (time.Duration, bool) {
	param := func(name string) (float64, bool) {
		text, set := o.OSB.Params[name]
		if over, there := o.WarmupParams[name]; warmup && there {
			text, set = over, true
		}
		f, err := strconv.ParseFloat(string(text), 64)
		return f, set && err == nil && f >= 0 && f < 1e7
	}
	period, known := param(TimeParam)
	before, _ := param(WarmupTimeParam) // 0: not set
	return time.Duration((period + before) * float64(time.Second)), known && period > 0
}

func (osb) CallTime() time.Duration { return CallTime }

func (o osb) Documents(warmup bool) (int64, bool) {
	return workloads.Documents(o.Workload, func(name string) (string, bool) {
		if value, set := o.WarmupParams[name]; warmup && set {
			return string(value), true
		}
		value, set := o.OSB.Params[name]
		return string(value), set
	})
}

func (o osb) Image(i drivers.Images) string { return cmp.Or(o.OSB.Image, i.OSB+":"+o.Version) }

func (osb) HasAgent() bool { return false }

func (osb) NodePorts() []int32 { return nil }

func (o osb) Configure(cfg *record.Config, campaign v1alpha1.BenchmarkCampaignSpec) {
	out := osbconfig.Config{
		Workload: o.Workload, TestProcedure: o.TestProcedure,
		Params: o.trialParams(cfg.Attempt.Trial, cfg.Index), ClientsParam: o.ClientsParam, SetupTasks: o.SetupTasks, IngestTasks: o.IngestTasks,
	}
	switch {
	case cfg.Attempt.Phase == record.Final && ptr.Deref(campaign.Final.Search, false):
		out.SearchTasks = o.SearchTasks
	case cfg.Attempt.Phase == record.OpenLoop:
		out.TargetThroughputParam = campaign.Workload.OSB.TargetThroughputParam
	}
	if from := o.From; from != nil {
		switch {
		case from.Git != nil:
			out.GitURL, out.GitRef = from.Git.URL, from.Git.Ref
		case from.Volume != nil:
			out.Path = record.WorkloadPath + "/" + from.Volume.Path
		default:
			out.Path = record.WorkloadPath
			out.Flat = from.ConfigMap != ""
		}
	}
	cfg.Driver = record.NewDriverConfig(osbconfig.Name, out)
	cfg.ClientCheck = ptr.Deref(campaign.Workload.ClientBoundCheck, false) && isFirstFinal(cfg.Attempt.Trial)
}

// isFirstFinal reports whether the trial is the first repetition at its client count in the first placement. Only this trial
// includes a client-bound check.
func isFirstFinal(t record.Trial) bool {
	return t.Phase == record.Final && t.Repetition == 1 && t.Placement == 1
}

// trialParams returns all parameters of the workload. The values of the topology and the client count override the user's
// values.
func (o osb) trialParams(t record.Trial, index record.IndexConfig) map[string]string {
	out := drivers.Texts(o.OSB.Params)
	if t.Phase == record.Warmup {
		maps.Copy(out, drivers.Texts(o.WarmupParams))
	}
	maps.Copy(out, map[string]string{
		o.ClientsParam:       strconv.Itoa(int(t.Clients)),
		"number_of_shards":   strconv.Itoa(int(index.Primaries)),
		"number_of_replicas": strconv.Itoa(int(index.Replicas)),
		"refresh_interval":   index.RefreshInterval,
	})
	return out
}
