package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plugin/terminal"
)

// conclude sets the condition Conclusive of a finished campaign, and the figures of its ratio of arm to intel unless they are empty.
func conclude(t *testing.T, c client.Client, campaign *v1alpha1.BenchmarkCampaign, conclusive metav1.ConditionStatus, reason string, figures ...string) {
	t.Helper()
	campaign.Status.Conditions = append(campaign.Status.Conditions[:1], metav1.Condition{
		Type: v1alpha1.ConditionConclusive, Status: conclusive, Reason: reason, Message: "the message of " + reason + " | <b>",
		ObservedGeneration: campaign.Generation, LastTransitionTime: metav1.Now(),
	})
	if len(figures) > 0 {
		r := &campaign.Status.Comparisons[0]
		r.Ratio, r.Low, r.High, r.ConfidencePercent = figures[0], figures[1], figures[2], figures[3]
	}
	if err := c.Status().Update(context.Background(), campaign); err != nil {
		t.Fatal(err)
	}
}

// TestAssert_results checks the exit codes and all outputs of each result against files.
func TestAssert_results(t *testing.T) {
	c, flags := cluster(t)
	campaign := installed(t, c, "asserted")
	for _, tc := range []struct {
		name       string
		conclusive metav1.ConditionStatus
		reason     string
		figures    []string
		args       []string
		code       int
		err        string
	}{
		{"passed", metav1.ConditionTrue, v1alpha1.ReasonConclusive, nil, nil, 0, ""},
		{
			"regression", metav1.ConditionFalse, v1alpha1.ReasonClientBound, []string{"0.91", "0.9", "0.92", "97.14"}, []string{"--max-regression", "5"},
			terminal.ExitRegression, "campaign default/asserted: 1 Regression of 1 comparison with a largest allowed regression of 5 %",
		},
		{"inconclusive", metav1.ConditionTrue, v1alpha1.ReasonConclusive, []string{"0.96", "0.94", "0.98", "97.14"}, nil, terminal.ExitInconclusive, "1 Inconclusive of 1 comparison"},
		{"accepted", metav1.ConditionTrue, v1alpha1.ReasonConclusive, []string{"0.96", "0.94", "0.98", "97.14"}, []string{"--allow-inconclusive"}, 0, ""},
		{"not-measured", metav1.ConditionFalse, v1alpha1.ReasonTrialsFailed, []string{"", "", "", ""}, []string{"--allow-inconclusive"}, terminal.ExitNotMeasured, "1 NotMeasured of 1 comparison"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			conclude(t, c, campaign, tc.conclusive, tc.reason, tc.figures...)
			summary := filepath.Join(t.TempDir(), "summary.md")
			t.Setenv("GITHUB_STEP_SUMMARY", summary)
			for _, output := range [][]string{{"--github-step-summary"}, {"-o", "junit"}, {"-o", "json"}} {
				args := append([]string{"assert", "asserted"}, append(output, append(tc.args, flags...)...)...)
				r := knee(t, "", args...)
				if r.code != tc.code || !strings.Contains(r.err, tc.err) || (r.err != "") != (tc.code != 0) {
					t.Errorf("%v: exit code %d, %q; want %d, %q", output, r.code, r.err, tc.code, tc.err)
				}
				golden(t, "assert-"+tc.name+map[string]string{"--github-step-summary": ".txt", "junit": ".xml", "json": ".json"}[output[len(output)-1]], r.out)
			}
			text, err := os.ReadFile(summary)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "assert-"+tc.name+".md", string(text))
		})
	}
}

// TestAssert_notJudged checks the campaigns and command lines for which there is no result.
func TestAssert_notJudged(t *testing.T) {
	c, flags := cluster(t)
	campaign := installed(t, c, "unjudged")
	assert := func(code int, message string, args ...string) {
		t.Helper()
		fails(t, code, message, append(append([]string{"assert"}, args...), flags...)...)
	}
	t.Setenv("GITHUB_STEP_SUMMARY", "")
	assert(exitUsage, "GITHUB_STEP_SUMMARY is not set", "unjudged", "--github-step-summary")
	assert(exitUsage, "--max-regression is in percent", "unjudged", "--max-regression", "NaN")
	assert(exitUsage, "--timeout requires --wait", "unjudged", "--timeout", "1s")
	assert(exitUsage, "--variant arms: the variants of campaign default/unjudged that are compared with the baseline are arm", "unjudged", "--variant", "arms")
	assert(exitUsage, "--output must be one of json, junit", "unjudged", "-o", "xml")
	fails(t, exitUsage, "Did you mean this?\n assert", "gate", "unjudged")
	assert(terminal.ExitNotFound, `"no-such" not found`, "no-such")
	assert(terminal.ExitNotFound, "campaign default/no-such does not exist", "no-such", "--wait")

	ready := &campaign.Status.Conditions[0]
	ready.Status, ready.Reason = metav1.ConditionUnknown, v1alpha1.ReasonProgressing
	if err := c.Status().Update(context.Background(), campaign); err != nil {
		t.Fatal(err)
	}
	assert(terminal.ExitNotFinished, "campaign default/unjudged is not finished: [####################] 22 of 22 trials", "unjudged")
	assert(terminal.ExitNotFinished, "is not finished after 50ms (--timeout)", "unjudged", "--wait", "--timeout", "50ms")
	ready = &campaign.Status.Conditions[0]
	ready.Status, ready.Reason = metav1.ConditionFalse, v1alpha1.ReasonForbidden
	if err := c.Status().Update(context.Background(), campaign); err != nil {
		t.Fatal(err)
	}
	for _, wait := range []string{"--wait", "--wait=false"} {
		assert(terminal.ExitStalled, "docs/troubleshooting.md#forbidden", "unjudged", wait)
	}
}

// TestWait_pipelineRole checks wait and assert with the rights that docs/pipelines.md gives a pipeline: a campaign finishes while wait
// waits for it, is judged, and is deleted while the next wait waits.
func TestWait_pipelineRole(t *testing.T) {
	c, _ := cluster(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	flags := pipelineUser(t, c)
	campaign := installed(t, c, "awaited")
	campaign.Labels = map[string]string{"pipeline": "candidate"}
	status := campaign.Status.DeepCopy()
	if err := c.Update(ctx, campaign); err != nil {
		t.Fatal(err)
	}
	campaign.Status = *status
	progress := func(ready metav1.ConditionStatus, reason string, done int) {
		t.Helper()
		campaign.Status.Conditions[0].Status, campaign.Status.Conditions[0].Reason = ready, reason
		campaign.Status.TrialCounts = v1alpha1.NewTrialCounts(22, done, 0)
		if err := c.Status().Update(ctx, campaign); err != nil {
			t.Fatal(err)
		}
	}
	// follow starts a command, waits until it prints a line that contains want, changes the campaign, and returns the exit code.
	follow := func(want string, change func(), args ...string) (code int, out string) {
		t.Helper()
		printed, result := &lines{seen: make(chan string, 100)}, make(chan int, 1)
		var text bytes.Buffer
		go func() {
			result <- run(ctx, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &text, ErrOut: printed}, append(args, flags...))
		}()
		for {
			select {
			case line := <-printed.seen:
				if strings.Contains(line, want) {
					change()
				}
			case code := <-result:
				return code, text.String()
			}
		}
	}
	progress(metav1.ConditionUnknown, v1alpha1.ReasonProgressing, 21)
	code, out := follow("awaited  [###################.] 21 of 22 trials", func() { progress(metav1.ConditionTrue, v1alpha1.ReasonFinished, 22) }, "wait", "-l", "pipeline=candidate")
	if code != 0 || out != "campaign default/awaited is finished: done\n" {
		t.Errorf("exit code %d, %q", code, out)
	}
	conclude(t, c, campaign, metav1.ConditionTrue, v1alpha1.ReasonConclusive)
	if out := ok(t, append([]string{"assert", "awaited", "--wait"}, flags...)...); !strings.Contains(out, "Passed") {
		t.Errorf("%s", out)
	}
	progress(metav1.ConditionUnknown, v1alpha1.ReasonProgressing, 3)
	code, _ = follow("3 of 22 trials", func() {
		if err := c.Delete(ctx, campaign); err != nil {
			t.Error(err)
		}
	}, "wait", "awaited")
	if code != terminal.ExitNotFound {
		t.Errorf("exit code %d after the campaign was deleted", code)
	}
	fails(t, terminal.ExitNotFound, "has no campaign with the labels pipeline=candidate", append([]string{"wait", "-l", "pipeline=candidate"}, flags...)...)
	fails(t, exitUsage, "give either names of campaigns or a selector", append([]string{"wait"}, flags...)...)
	fails(t, exitUsage, "--selector", append([]string{"wait", "-l", "a=b=c"}, flags...)...)
}

// pipelineUser creates a user with the Role of docs/pipelines.md, and returns the flags with which the plugin connects as this user.
func pipelineUser(t *testing.T, c client.Client) []string {
	t.Helper()
	e, err := apiServer()
	if err != nil {
		t.Fatal(err)
	}
	var role *rbacv1.Role
	for _, block := range codeBlocks(t, "yaml") {
		if strings.Contains(block, "\nkind: Role\n") {
			role = &rbacv1.Role{}
			if err := yaml.UnmarshalStrict([]byte(block), role); err != nil {
				t.Fatal(err)
			}
		}
	}
	if role == nil {
		t.Fatal("docs/pipelines.md has no Role")
	}
	role.Namespace = "default"
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "pipeline", Namespace: "default"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "pipeline"}},
	}
	for _, o := range []client.Object{role, binding} {
		if err := c.Create(context.Background(), o); err != nil {
			t.Fatal(err)
		}
	}
	user, err := e.AddUser(envtest.User{Name: "pipeline"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	config, err := user.KubeConfig()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"--kubeconfig", write(t, "kubeconfig", string(config)), "--namespace", "default"}
}
