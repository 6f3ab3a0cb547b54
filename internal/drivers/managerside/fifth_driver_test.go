package managerside_test

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/agent/trial"
	"github.com/knee-bench/knee/internal/drivers/agentside"
	"github.com/knee-bench/knee/internal/drivers/managerside"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/gates"
	"github.com/knee-bench/knee/test/toydriver"
	"github.com/knee-bench/knee/test/wrappers"
)

// toyCampaign returns a campaign of two variants. Each client makes 10 calls in the first variant and 20 calls in the
// second.
func toyCampaign() *v1alpha1.BenchmarkCampaign {
	w := wrappers.MakeCampaign("x").Namespace("n").UID("uid-1").Variant("ten").Variant("twenty").Clients(4).Command(toydriver.Image, "toy")
	w.Spec.Workload.Command.Params = map[string]v1alpha1.ParamValue{"CALLS": "10"}
	w.Spec.Variants[1].Params = map[string]v1alpha1.ParamValue{"CALLS": "20"}
	return w.Obj()
}

// TestFifthDriver_runsATrial checks that a new driver needs only one folder, here test/toydriver, and one line in
// each registry. The toy driver reads an existing API field, because a test cannot add a field. From the plan to the
// judgement of the record, no other package knows this driver.
func TestFifthDriver_runsATrial(t *testing.T) {
	managerside.Register(t, toydriver.NewSpec)
	agentDrivers := append(agentside.Drivers(), toydriver.Factory)
	c := toyCampaign()
	p := plan.Build(c)
	if errs := plan.Validate(c); len(errs) > 0 || len(p.Cells) != 2 || p.Cells[0].Hash == p.Cells[1].Hash {
		t.Fatalf("%d cells, %v", len(p.Cells), errs)
	}
	for i, calls := range []int64{40, 80} {
		attempt := record.Attempt{Trial: record.Trial{Campaign: "uid-1", Cell: p.Cells[i].Hash, Variant: p.Cells[i].Variant(), Phase: record.Final, Clients: 4, Repetition: 1, Placement: 1}, N: 1}
		job, err := resources.Job(c, p, p.Cells[i], attempt, resources.Running{}, resources.Options{AgentImage: "knee:1"})
		if err != nil {
			t.Fatal(err)
		}
		container := job.Spec.Template.Spec.Containers[0]
		if container.Image != "knee:1" || len(job.Spec.Template.Spec.InitContainers) != 0 {
			t.Errorf("image %s, %d init containers", container.Image, len(job.Spec.Template.Spec.InitContainers))
		}
		r := trial.Run(t.Context(), trial.Options{Config: configOf(t, container), Drivers: agentDrivers, Work: t.TempDir(), Output: t.Output()})
		if r.Error != nil || r.Load == nil || r.Load.Operations != calls || r.Load.Rate <= 0 || r.Load.Unit != toydriver.Unit || r.Driver.Name != toydriver.Name {
			t.Fatalf("%+v, %+v", r, r.Error)
		}
		data, err := record.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if r, err = record.Decode(data); err != nil {
			t.Fatal(err)
		}
		if j := gates.JudgeFor(c.Spec, r); j.Verdict != verdict.Measured {
			t.Errorf("%+v", j)
		}
	}
}

func TestFifthDriver_refusesWrongParams(t *testing.T) {
	managerside.Register(t, toydriver.NewSpec)
	c := toyCampaign()
	c.Spec.Workload.Command.Params = map[string]v1alpha1.ParamValue{"CALLS": "many"}
	errs := plan.Validate(c)
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "spec.workload.command.params[CALLS]") {
		t.Errorf("%v", errs)
	}
}

// TestFifthDriver_unknownToTheAgent checks an agent that does not have the driver, because its version differs from
// the manager's. Its error lists the drivers that it has.
func TestFifthDriver_unknownToTheAgent(t *testing.T) {
	config := record.Config{Driver: record.NewDriverConfig(toydriver.Name, toydriver.Config{CallsPerClient: 1}), DeadlineSeconds: 60}
	r := trial.Run(t.Context(), trial.Options{Config: config, Drivers: agentside.Drivers(), Work: t.TempDir(), Output: t.Output()})
	if r.Error == nil || r.Error.Reason != record.ReasonAgentFailed || !strings.Contains(r.Error.Message, `the driver "toy", but this agent has only the drivers osb, bulk, stream, command`) {
		t.Errorf("%+v", r.Error)
	}
}

// configOf returns the agent's configuration from the environment of a container.
func configOf(t *testing.T, c corev1.Container) record.Config {
	t.Helper()
	for _, e := range c.Env {
		if e.Name != record.ConfigEnv {
			continue
		}
		var out record.Config
		if err := json.Unmarshal([]byte(e.Value), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	t.Fatalf("the container has no %s", record.ConfigEnv)
	return record.Config{}
}
