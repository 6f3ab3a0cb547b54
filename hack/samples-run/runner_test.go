package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/samplesrun"
)

// readIn returns a client. The first read of a campaign returns the condition Ready as Unknown. Later reads return the
// given condition Ready.
func readIn(ready metav1.Condition) client.Client {
	looks := 0
	return fake.NewClientBuilder().WithScheme(scheme.New()).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			err := c.Get(ctx, key, object, options...)
			campaign, ok := object.(*v1alpha1.BenchmarkCampaign)
			if !ok || err != nil {
				return err
			}
			looks++
			if looks == 1 {
				campaign.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionUnknown, Reason: "Progressing", Message: "1 of 2 trials"}}
				return nil
			}
			campaign.Status.Conditions = []metav1.Condition{ready, {Type: v1alpha1.ConditionConclusive, Status: metav1.ConditionFalse, Reason: "TooFewRepetitions"}}
			return nil
		},
	}).Build()
}

func sample(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	objects, err := samplesrun.Build("../..", "minimal")
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func TestRun_finished(t *testing.T) {
	var out strings.Builder
	r := runner{Client: readIn(metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: "Finished", Message: "all done"}), out: &out, pause: time.Millisecond}
	for range 2 { // the second run replaces the first
		verdicts, err := r.run(t.Context(), "minimal", sample(t))
		if err != nil {
			t.Fatal(err)
		}
		printVerdicts(&out, verdicts)
		for _, object := range sample(t) { // the fake client does not delete the objects in a deleted namespace
			if err := r.Delete(t.Context(), object); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, want := range []string{"minimal  Progressing: 1 of 2 trials", "minimal  Finished: all done", "False/TooFewRepetitions"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in:\n%s", want, out.String())
		}
	}
	if err := r.remove(t.Context(), "minimal"); err != nil {
		t.Error(err)
	}
}

func TestRun_needsUser(t *testing.T) {
	r := runner{Client: readIn(metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: "Stalled", Message: "spec.opensearch: no such image"}),
		out: &strings.Builder{}, pause: time.Millisecond}
	_, err := r.run(t.Context(), "minimal", sample(t))
	if err == nil || !strings.Contains(err.Error(), "campaign minimal: Stalled: spec.opensearch: no such image") {
		t.Error(err)
	}
}

func TestRun_deadline(t *testing.T) {
	late := errors.New("not finished within 0s")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, late)
	defer cancel()
	r := runner{Client: readIn(metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionUnknown, Reason: "Progressing", Message: "1 of 2 trials"}),
		out: &strings.Builder{}, pause: time.Millisecond}
	_, err := r.run(ctx, "minimal", sample(t))
	if !errors.Is(err, late) || !strings.Contains(err.Error(), "Ready: Progressing: 1 of 2 trials") {
		t.Error(err)
	}
}

func TestSampleSelection(t *testing.T) {
	if names, err := chosen("../..", "demo,minimal"); err != nil || len(names) != 2 {
		t.Errorf("%v, %v", names, err)
	}
	if names, err := chosen("../..", ""); err != nil || len(names) < 2 {
		t.Errorf("all samples: %v, %v", names, err)
	}
	if _, err := chosen("../..", "none"); err == nil || !strings.Contains(err.Error(), `unknown sample "none"`) {
		t.Error(err)
	}
}
