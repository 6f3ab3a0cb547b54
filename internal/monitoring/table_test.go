package monitoring_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/internal/monitoring"
)

// constants returns the values of the string constants of a file, in the group whose comment begins with a text.
func constants(t *testing.T, path, group string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, decl := range file.Decls {
		consts, ok := decl.(*ast.GenDecl)
		if !ok || !strings.HasPrefix(consts.Doc.Text(), group) {
			continue
		}
		for _, spec := range consts.Specs {
			text, err := strconv.Unquote(spec.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, text)
		}
	}
	if len(out) == 0 {
		t.Fatalf("%s has no constants %q", path, group)
	}
	return out
}

// TestLabels_knowEveryReason checks that no reason of the API or of a record is counted as Other, and that no label is out of date.
func TestLabels_knowEveryReason(t *testing.T) {
	var ofCampaigns []string
	for _, state := range monitoring.CampaignStates() {
		ofCampaigns = append(ofCampaigns, monitoring.CampaignReasons(state)...)
	}
	for name, lists := range map[string][2][]string{
		"campaigns": {constants(t, "../../api/v1alpha1/conditions.go", "Reasons of Ready"), slices.DeleteFunc(ofCampaigns, isOwn)},
		"retries":   {constants(t, "../record/error.go", "Reasons of an Error"), slices.DeleteFunc(monitoring.RetryReasons(), isOwn)},
		"phases":    {constants(t, "../record/trial.go", "The phases"), strings.Split(list(monitoring.Phases()), ", ")},
		"verdicts":  {constants(t, "../verdict/judgement.go", "Values of Verdict"), strings.Split(list(monitoring.Verdicts()), ", ")},
	} {
		want, got := slices.Sorted(slices.Values(lists[0])), slices.Sorted(slices.Values(lists[1]))
		if !slices.Equal(got, want) {
			t.Errorf("%s: labels %v, want %v", name, got, want)
		}
	}
}

// isOwn reports whether a label is a word of the metrics, not of the API or of a record.
func isOwn(label string) bool {
	return label == monitoring.ReasonUnobserved || label == monitoring.ReasonOther
}

func TestStateOf_unknownReason_isOther(t *testing.T) {
	for name, tc := range map[string]struct {
		ready  *metav1.Condition
		state  monitoring.CampaignState
		reason string
	}{
		"no condition":       {nil, monitoring.InProgress, monitoring.ReasonUnobserved},
		"known":              {&metav1.Condition{Status: metav1.ConditionUnknown, Reason: "Suspended"}, monitoring.Suspended, "Suspended"},
		"unknown and True":   {&metav1.Condition{Status: metav1.ConditionTrue, Reason: "New"}, monitoring.Finished, monitoring.ReasonOther},
		"unknown and False":  {&metav1.Condition{Status: metav1.ConditionFalse, Reason: "New"}, monitoring.Stalled, monitoring.ReasonOther},
		"unknown and undone": {&metav1.Condition{Status: metav1.ConditionUnknown, Reason: "New"}, monitoring.InProgress, monitoring.ReasonOther},
	} {
		if state, reason := monitoring.StateOf(tc.ready); state != tc.state || reason != tc.reason {
			t.Errorf("%s: %s, %s, want %s, %s", name, state, reason, tc.state, tc.reason)
		}
	}
	if got := monitoring.RetryReason("text of a pod"); got != monitoring.ReasonOther {
		t.Errorf("a reason that no agent gives is %s", got)
	}
}

// TestExpressions_useDefinedMetrics checks that each metric has a panel, and that alerts and panels use no metric that does not exist.
func TestExpressions_useDefinedMetrics(t *testing.T) {
	var all strings.Builder
	for _, a := range monitoring.Alerts() {
		all.WriteString(a.Expression() + "\n")
	}
	for _, p := range monitoring.NewDashboard().Panels {
		for _, target := range p.Targets {
			all.WriteString(target.Expr + "\n")
		}
	}
	defined := map[string]bool{}
	for _, m := range slices.Concat(monitoring.Observed(), monitoring.Counted()) {
		name := m.Name
		if m.Type == monitoring.Histogram {
			name += "_bucket"
		}
		defined[name] = true
		if !strings.Contains(all.String(), name) {
			t.Errorf("no alert and no panel uses %s", name)
		}
	}
	for _, name := range regexp.MustCompile(`knee_\w+`).FindAllString(all.String(), -1) {
		if !defined[name] {
			t.Errorf("%s is no metric", name)
		}
	}
}
