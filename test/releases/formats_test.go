// Package releases checks that this version of Knee reads what earlier releases wrote, and continues campaigns that an earlier
// release started.
package releases_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/bundle"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// files returns the files of all releases that match a pattern.
func files(t *testing.T, pattern string) []string {
	t.Helper()
	out, err := filepath.Glob(filepath.Join("testdata", "*", pattern))
	if err != nil || len(out) == 0 {
		t.Fatalf("no %s in testdata: %v", pattern, err)
	}
	return out
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// lost returns the paths of the values of a JSON value that another lacks or has with another value.
func lost(want, got any, path string) []string {
	var out []string
	switch w := want.(type) {
	case map[string]any:
		g, _ := got.(map[string]any)
		for name, value := range w {
			out = append(out, lost(value, g[name], path+"."+name)...)
		}
	case []any:
		g, _ := got.([]any)
		for i, value := range w {
			var element any
			if i < len(g) {
				element = g[i]
			}
			out = append(out, lost(value, element, fmt.Sprintf("%s[%d]", path, i))...)
		}
	default:
		if got != want {
			out = append(out, fmt.Sprintf("%s: %v instead of %v", path, got, want))
		}
	}
	return out
}

// restored lists the steps of Encode that Decode may reverse.
var restored = []record.Drop{"tasks.latency=service", "node.environment=first"}

// TestRecords_earlierRelease_loseNothing decodes the records of earlier releases and compares every field with the literal JSON.
func TestRecords_earlierRelease_loseNothing(t *testing.T) {
	for _, path := range files(t, "records/*.json") {
		t.Run(path, func(t *testing.T) {
			literal := read(t, path)
			r, err := record.Decode(literal)
			if err != nil {
				t.Fatal(err)
			}
			again, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			var want, got map[string]any
			if err := json.Unmarshal(literal, &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(again, &got); err != nil {
				t.Fatal(err)
			}
			for _, fields := range []map[string]any{want, got} {
				if dropped, ok := fields["dropped"].([]any); ok {
					fields["dropped"] = slices.DeleteFunc(dropped, func(step any) bool { return slices.Contains(restored, record.Drop(step.(string))) })
				}
			}
			if differences := lost(want, got, ""); len(differences) > 0 {
				t.Errorf("fields were lost or changed:\n%s", strings.Join(differences, "\n"))
			}
		})
	}
}

// TestRecords_earlierRelease_measuredFigures checks that the figures have the same meaning.
func TestRecords_earlierRelease_measuredFigures(t *testing.T) {
	for name, want := range map[string]struct {
		phase record.Phase
		rate  float64
		unit  string
		err   string
		nodes int
		start int64
	}{
		"osb":     {record.Final, 227.938, "docs/s", "", 1, 946685390817},
		"bulk":    {record.Final, 19997, "docs/s", "", 1, 1795405675996},
		"command": {record.Sweep, 19565.8, "calls/s", "", 0, 1795405658035},
		"stream":  {record.Sweep, 111019, "rows/s", "", 2, 1795405640003},
		"errored": {record.Sweep, 0, "", record.ReasonDriverHung, 0, 946684800000},
	} {
		r, err := record.Decode(read(t, "testdata/ae56b0a/records/"+name+".json"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		rate, unit := r.Rate()
		reason := ""
		if r.Error != nil {
			reason = r.Error.Reason
		}
		if r.Attempt.Phase != want.phase || r.Attempt.N != 1 || r.Attempt.Placement != 1 || rate != want.rate || unit != want.unit || reason != want.err ||
			len(r.Nodes) != want.nodes || r.StartTime() != want.start {
			t.Errorf("%s: %+v, %v %s, error %q, %d nodes, start %d; want %+v", name, r.Attempt, rate, unit, reason, len(r.Nodes), r.StartTime(), want)
		}
	}
}

// TestBundle_earlierRelease_fitsPlan reads the bundle of an earlier release, and checks that all its records belong to the trials
// that this version plans: no cell has another identity, and no Job another name.
func TestBundle_earlierRelease_fitsPlan(t *testing.T) {
	for _, path := range files(t, "bundle.tar.gz") {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		b, err := bundle.Read(file)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		records, err := b.Decoded()
		if err != nil || len(records) != 25 || len(b.Report) != 7 {
			t.Fatalf("%s: %d records, %d files of the report, %v; want 25 and 7", path, len(records), len(b.Report), err)
		}
		cells := map[string]plan.Cell{}
		for _, cell := range plan.Build(b.Campaign).Cells {
			cells[cell.Hash] = cell
		}
		for _, r := range records {
			cell, planned := cells[r.Attempt.Cell]
			if name := cell.AttemptName(r.Attempt) + "-record"; !planned || b.Records[name] == nil || r.Attempt.Campaign != string(b.Campaign.UID) {
				t.Errorf("%s: the record of %+v has the name %s now, and its cell is planned: %t", path, r.Attempt, name, planned)
			}
		}
	}
}

// TestCampaign_earlierRelease_isReadable decodes the campaigns of an earlier release as the manager does after an upgrade. A status
// that cannot be decoded would stop the manager's cache for all campaigns. Fields of the status may get other names. Conditions,
// observedGeneration and times must stay, because decisions and users depend on them.
func TestCampaign_earlierRelease_isReadable(t *testing.T) {
	for name, want := range map[string]struct{ ready, reconciling, conclusive, reason string }{
		"running":  {"Unknown", "True", "False", "NotFinished"},
		"finished": {"True", "", "False", "OrderConfounded"},
	} {
		var c v1alpha1.BenchmarkCampaign
		if err := json.Unmarshal(read(t, "testdata/ae56b0a/campaign-"+name+".json"), &c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		is := func(kind string) (status, reason string) {
			condition := meta.FindStatusCondition(c.Status.Conditions, kind)
			if condition == nil {
				return "", ""
			}
			if condition.ObservedGeneration != 1 || condition.LastTransitionTime.IsZero() || condition.Message == "" {
				t.Errorf("%s: condition %+v", name, condition)
			}
			return string(condition.Status), condition.Reason
		}
		ready, _ := is(v1alpha1.ConditionReady)
		reconciling, _ := is(v1alpha1.ConditionReconciling)
		conclusive, reason := is(v1alpha1.ConditionConclusive)
		if ready != want.ready || reconciling != want.reconciling || conclusive != want.conclusive || reason != want.reason {
			t.Errorf("%s: Ready %s, Reconciling %s, Conclusive %s (%s), want %+v", name, ready, reconciling, conclusive, reason, want)
		}
		s := c.Status
		if s.ObservedGeneration != 1 || s.StartedAt == nil || !s.StartedAt.Time.Equal(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) || (s.CompletedAt != nil) != (name == "finished") || len(s.Cells) != 2 {
			t.Errorf("%s: observedGeneration %d, startedAt %v, completedAt %v, %d cells", name, s.ObservedGeneration, s.StartedAt, s.CompletedAt, len(s.Cells))
		}
		if len(plan.Build(&c).Cells) != 2 {
			t.Errorf("%s: the plan has other cells", name)
		}
	}
}
