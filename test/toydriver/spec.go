package toydriver

import (
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers"
	"github.com/knee-bench/knee/internal/record"
)

// Image is the image of spec.workload.command that selects the toy. The API has no field for a test driver.
const Image = "example.com/toy:1"

// callsParam is the parameter that sets the calls of one client.
const callsParam = "CALLS"

// toy is the manager's side of the driver.
type toy struct{ *v1alpha1.Command }

// NewSpec returns the driver if the campaign uses the toy. It is the toy's entry in the manager's registry.
func NewSpec(d v1alpha1.Drivers) (drivers.Spec, bool) {
	return toy{d.Command}, d.Command != nil && d.Command.Image == Image
}

func (t toy) calls() (int64, error) {
	return strconv.ParseInt(string(t.Command.Params[callsParam]), 10, 64)
}

func (toy) Describe() string { return "a toy" }

func (toy) FillsIndex() bool { return false }

func (toy) Unit() string { return Unit }

func (t toy) Override(v v1alpha1.Variant) {
	t.Command.Params = drivers.Merge(t.Command.Params, v.Params)
}

func (t toy) Params() map[string]v1alpha1.ParamValue { return t.Command.Params }

func (toy) NeedsOpenSearch() bool { return false }

func (toy) DefaultIndex() string { return "" }

func (toy) Files() (*v1alpha1.WorkloadSource, *field.Path) { return nil, nil }

func (toy) Duration(bool) (time.Duration, bool) { return 0, false }

func (toy) CallTime() time.Duration { return 0 }

func (toy) Documents(bool) (int64, bool) { return 0, false }

func (toy) Image(i drivers.Images) string { return i.Agent }

func (toy) HasAgent() bool { return true }

func (toy) NodePorts() []int32 { return nil }

func (t toy) Configure(cfg *record.Config, _ v1alpha1.BenchmarkCampaignSpec) {
	calls, _ := t.calls() // 0 if the parameter is invalid; the agent refuses 0
	cfg.Driver = record.NewDriverConfig(Name, Config{CallsPerClient: calls})
}

func (t toy) Validate(drivers.Campaign) field.ErrorList {
	if _, err := t.calls(); err != nil {
		path := drivers.Path("command", "params").Key(callsParam)
		return field.ErrorList{field.Invalid(path, t.Command.Params[callsParam], fmt.Sprintf("the toy needs a number of calls: %v", err))}
	}
	return nil
}
