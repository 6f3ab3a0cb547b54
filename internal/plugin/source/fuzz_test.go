package source

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	manager "github.com/knee-bench/knee/internal/validation"
)

// changes are merge patches for the spec of a sample, so that the seeds reach the fields that no sample sets.
var changes = []string{
	`{}`,
	`{"variants":[{"name":"a","endpoint":{"url":"https://h:0"}}],"baseline":null,"comparisons":null}`,
	`{"variants":[{"name":"a","endpoint":{"url":"https://H.example","sigV4":{"region":"x","credentialsSecret":"../x"}}},{"name":"b"}],"baseline":"b"}`,
	`{"sweep":{"clients":null,"range":{"min":1,"max":64,"step":1}},"rerun":"x"}`,
	`{"sweep":{"strategy":"Adaptive"},"final":{"repetitions":2,"maxRepetitions":9,"placements":3}}`,
	`{"opensearch":{"settings":{"a.b":"c"},"javaOptions":["-Xmn1g"],"diskLimits":{"iops":1}},"topologies":[{"name":"t","nodes":3,"zones":3}]}`,
	`{"loader":{"placement":"Any","resources":{"cpu":"0","memory":"1"},"cache":{"size":"1Ti"}}}`,
	`{"workload":{"waitSeconds":86400,"warmupTrials":0,"clientsPerPod":1}}`,
	`{"gates":{"expressions":[{"name":"x","expression":"1 / 0 > 1"}],"notEvaluable":"Report"}}`,
	`{"workload":{"osb":null,"index":null,"measure":null,"command":{"image":"a","command":["a"],"endpoint":"$(x)","text":{"throughput":{"pattern":"((","unit":"x"}}}}}`,
	`{"matrix":{"exclude":[{"variant":"a"}]},"topologies":[{"name":"t"},{"name":"u"}]}`,
	`{"activeDeadlineSeconds":1,"timeouts":{"trialSeconds":1,"provisioningSeconds":1},"historyLimit":0}`,
}

// FuzzAdmit changes the spec of samples with JSON merge patches. A spec that the schema and its rules admit makes no check panic. A
// spec that all checks accept has cells and clients, and Knee can build the objects of its trials.
func FuzzAdmit(f *testing.F) {
	files, err := filepath.Glob("../../../config/samples/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	var samples []map[string]any
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		object, err := decode(text)
		if err != nil {
			continue // a file with several documents
		}
		if u := (unstructured.Unstructured{Object: object}); u.GroupVersionKind() == kind {
			samples = append(samples, object)
		}
	}
	if len(samples) < 6 {
		f.Fatalf("%d samples", len(samples))
	}
	a, err := newAdmission()
	if err != nil {
		f.Fatal(err)
	}
	for sample := range samples {
		for _, change := range changes {
			f.Add(uint8(sample), []byte(change))
		}
	}
	f.Fuzz(func(t *testing.T, sample uint8, change []byte) {
		var patch map[string]any
		if utiljson.Unmarshal(change, &patch) != nil {
			return
		}
		object := (&unstructured.Unstructured{Object: samples[int(sample)%len(samples)]}).DeepCopy()
		spec, _ := object.Object["spec"].(map[string]any)
		object.Object["spec"] = merge(spec, patch)
		c, err := a.admit(t.Context(), object)
		if err != nil {
			return
		}
		c.Namespace, c.UID = "default", "00000000-0000-0000-0000-000000000001"
		options := resources.Options{AllowSysctlInit: true}
		if manager.Campaign(c, options) == nil {
			checkPlan(t, c, options)
		}
	})
}

// merge applies a JSON merge patch (RFC 7396).
func merge(to, patch map[string]any) map[string]any {
	if to == nil {
		to = map[string]any{}
	}
	for name, value := range patch {
		switch value := value.(type) {
		case nil:
			delete(to, name)
		case map[string]any:
			old, _ := to[name].(map[string]any)
			to[name] = merge(old, value)
		default:
			to[name] = value
		}
	}
	return to
}

// checkPlan checks that a campaign that all checks accept can be planned, and that the objects of its first trials can be built.
func checkPlan(t *testing.T, c *v1alpha1.BenchmarkCampaign, o resources.Options) {
	p := plan.Build(c)
	if len(p.Cells) == 0 || len(p.Groups) == 0 || p.TrialTimeout <= 0 {
		t.Fatalf("%d cells in %d groups, trial timeout %s", len(p.Cells), len(p.Groups), p.TrialTimeout)
	}
	for _, cell := range p.Cells {
		clients := int32(1)
		if len(p.Clients) > 0 {
			clients = p.Clients[0]
		}
		attempt := record.Attempt{Trial: record.Trial{Campaign: c.Name, Cell: cell.Hash, Variant: cell.Variant(), Topology: cell.Topology(), Phase: record.Final,
			Clients: clients, Repetition: 1, Placement: 1}, N: 1}
		job, err := resources.Job(c, p, cell, attempt, resources.Running{}, o)
		if err != nil {
			t.Fatalf("%s has no Job: %v", cell.Name, err)
		}
		if _, err := json.Marshal(job); err != nil {
			t.Fatal(err)
		}
		if cell.Provisioned() && !cell.Operated() {
			if set := resources.StatefulSet(c, cell, resources.Placement{}, o, p.ProvisioningTimeout, time.Time{}); set == nil {
				t.Fatalf("%s has no StatefulSet", cell.Name)
			}
		}
	}
}
