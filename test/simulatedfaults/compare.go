package simulatedfaults

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/simulated"
)

// excepted matches what may differ between two runs with the same end: times, and the digest of a report's inputs, which include the
// resourceVersions of all records.
var excepted = regexp.MustCompile(`20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?Z?|\b1[0-9]{12}\b|"` + regexp.QuoteMeta(resources.AnnotationMadeOf) + `":"[0-9a-f]+`)

// try repeats the rest of this run, which has no fault, with a fault. It returns how the end differs. It stops as soon as all
// objects are as they were before some later Reconcile of this run: from there on, both runs are the same.
func (r *run) try(ctx context.Context, p point) string {
	got := r.fork(p)
	next := p.at.reconcile
	isBack := false
	err := got.drive(ctx, func() bool {
		if !got.hit || got.expired != "" {
			return false
		}
		for i := next; i < len(r.past) && !isBack; i++ {
			isBack = r.past[i].HasSameObjects(got.cluster) && r.past[i].Now().Equal(got.cluster.Now())
		}
		return isBack
	})
	wrong := got.violations(err)
	if !got.hit {
		wrong = append(wrong, "the fault did not happen")
	}
	if !isBack {
		wrong = append(wrong, r.differences(got, p)...)
	}
	return strings.TrimSpace(strings.Join(wrong, "\n"))
}

// differences returns how the end of another run, which had a fault, differs from the end of this run.
func (r *run) differences(got *run, p point) []string {
	out := got.leftovers()
	switch {
	case p.fault == podIsGone,
		p.fault == stalest && p.at.what == "get BenchmarkCampaign" && r.scenario.user != nil: // the manager may start one more trial before it sees an edit
		return append(out, cmp.Diff(verdict(r.cluster), verdict(got.cluster)))
	case p.fault == stalest && p.at.what == "list Pod": // very old pods may look like used JVMs, and so cost a restart and a Warmup
		out = append(out, cmp.Diff(verdict(r.cluster), verdict(got.cluster)))
		if want, is := records(r.cluster), records(got.cluster); is < want {
			out = append(out, fmt.Sprintf("%d records, want at least %d", is, want))
		}
		return out
	}
	return append(out, cmp.Diff(ending(r.cluster), ending(got.cluster)))
}

// leftovers returns the objects that no campaign may have at its end. Secrets of the opensearch-k8s-operator and Leases stay.
func (r *run) leftovers() []string {
	var out []string
	for name := range r.cluster.Text() {
		kind, object, _ := strings.Cut(name, " ")
		isKept := slices.Contains([]string{"BenchmarkCampaign", "Secret", "Lease"}, kind) || slices.Contains(r.scenario.claims, object) ||
			kind == "ConfigMap" && (strings.HasSuffix(object, "-record") || strings.HasSuffix(object, "-report"))
		if !isKept || r.scenario.deletes {
			out = append(out, name+" is left")
		}
	}
	slices.Sort(out)
	return out
}

// violations returns the rules that a run broke.
func (r *run) violations(err error) []string {
	out := slices.Concat(r.violated, r.statuses.Violations(""))
	if err != nil {
		out = append(out, err.Error())
	}
	return out
}

// calls returns the number of calls of the run without faults.
func (r *run) calls() int {
	calls := map[call]bool{}
	for _, p := range r.points {
		if p.at.nth > 0 {
			calls[p.at] = true
		}
	}
	return len(calls)
}

// ending returns all objects at the end of a run, without times and resourceVersions. It leaves out Leases, which are locks and no
// result. It leaves out records of cells that are no longer planned: an edit may come just before or just after the end of a trial.
func ending(c *simulated.Cluster) map[string]string {
	planned := map[string]bool{}
	for _, campaign := range simulated.All[*v1alpha1.BenchmarkCampaign](c) {
		for _, cell := range plan.Build(campaign).Cells {
			planned[cell.Hash] = true
		}
	}
	out := map[string]string{}
	for name, text := range c.Text() {
		if !strings.HasPrefix(name, "Lease ") {
			out[name] = excepted.ReplaceAllString(text, "EXCEPTED")
		}
	}
	for _, cm := range simulated.All[*corev1.ConfigMap](c) {
		isRecord := cm.Labels[resources.LabelComponent] == resources.ComponentRecord
		if isRecord && !planned[cm.Labels[resources.LabelCell]] {
			delete(out, "ConfigMap "+cm.Name)
		}
	}
	return out
}

// records returns the number of records.
func records(c *simulated.Cluster) int {
	n := 0
	for _, cm := range simulated.All[*corev1.ConfigMap](c) {
		if cm.Labels[resources.LabelComponent] == resources.ComponentRecord {
			n++
		}
	}
	return n
}

// verdict returns what must not depend on a lost record.
func verdict(c *simulated.Cluster) string {
	out := ""
	for _, campaign := range simulated.All[*v1alpha1.BenchmarkCampaign](c) {
		s := campaign.Status
		out += fmt.Sprintln(s.Progress, s.Knees, s.SharedClients, s.Result)
	}
	return out
}
