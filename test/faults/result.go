package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/wrappers"
)

// result holds the outcome of a run. It must not depend on the faults of the run.
type result struct {
	Records map[string]string // by attempt: the measured figure, or the reason of the error
	Verdict string
	Jobs    []string // attempts that were run
	Status  string   // the whole status as JSON, without what excepted matches
	Reports []string // names and files of the ConfigMaps of the report
}

// excepted matches what may differ between the statuses of two runs: times. UIDs and the names that contain them are replaced by fixed
// names; see withoutNames. test/simulatedfaults also compares the files of the reports.
var excepted = regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// withoutNames replaces the names in a text that differ between two runs of a campaign: those that contain its UID or namespace.
func withoutNames(text string, c *v1alpha1.BenchmarkCampaign) string {
	names := []string{c.Namespace, "NAMESPACE", string(c.UID), "UID"}
	for _, cell := range plan.Build(c).Cells {
		names = append(names, cell.Name, "CELL-"+cell.Variant(), cell.Hash, "HASH-"+cell.Variant())
	}
	return excepted.ReplaceAllString(strings.NewReplacer(names...).Replace(text), "TIME")
}

// result reads the result of a run.
func (e *environment) result(ctx context.Context, s *session, c *v1alpha1.BenchmarkCampaign) (result, error) {
	out := result{Records: map[string]string{}}
	var now v1alpha1.BenchmarkCampaign
	if err := e.direct.Get(ctx, client.ObjectKeyFromObject(c), &now); err != nil {
		return out, err
	}
	out.Verdict = fmt.Sprint(now.Status.Progress, "; ", now.Status.Knees, "; ", now.Status.SharedClients, "; ", now.Status.Result)
	status, err := json.MarshalIndent(now.Status, "", " ")
	if err != nil {
		return out, err
	}
	out.Status = withoutNames(string(status), &now)
	var records, reports corev1.ConfigMapList
	if err := e.direct.List(ctx, &reports, client.InNamespace(s.namespace), client.MatchingLabels{resources.LabelComponent: resources.ComponentReport}); err != nil {
		return out, err
	}
	for _, cm := range reports.Items {
		out.Reports = append(out.Reports, fmt.Sprint(cm.Name, slices.Sorted(maps.Keys(cm.Data))))
	}
	slices.Sort(out.Reports)
	if err := e.direct.List(ctx, &records, client.InNamespace(s.namespace), client.MatchingLabels{resources.LabelComponent: resources.ComponentRecord}); err != nil {
		return out, err
	}
	byJob := map[string]string{}
	for _, cm := range records.Items {
		rec, err := record.Decode([]byte(cm.Data[resources.RecordKey]))
		if err != nil {
			return out, fmt.Errorf("record %s: %w", cm.Name, err)
		}
		what := "no figure"
		switch {
		case rec.Error != nil:
			what = rec.Error.Reason
		default:
			if rate, unit := rec.Rate(); unit != "" {
				what = fmt.Sprint(rate)
			}
		}
		out.Records[wrappers.AttemptTitle(rec.Attempt)] = what
		byJob[cm.Name] = wrappers.AttemptTitle(rec.Attempt)
	}
	e.watcher.mu.Lock()
	defer e.watcher.mu.Unlock()
	for name, uids := range e.watcher.jobs[s.namespace] {
		if len(uids) != 1 || s.creates[name] != 1 {
			return out, fmt.Errorf("job %s was created %d times (%d by the client's count), want once", name, len(uids), s.creates[name])
		}
		out.Jobs = append(out.Jobs, byJob[resources.RecordName(name)])
	}
	slices.Sort(out.Jobs)
	if lost := e.watcher.lost[s.namespace]; len(lost) > 0 {
		return out, fmt.Errorf("records %v were deleted", lost)
	}
	return out, nil
}

// check checks the rules that hold after every run: no object is left, every status followed the rules, and Events report only transitions.
func (e *environment) check(ctx context.Context, s *session, events *recorder) error {
	if broken := e.rules.Violations(s.namespace); len(broken) > 0 {
		return errors.New(strings.Join(broken, "\n"))
	}
	for _, list := range []client.ObjectList{
		&appsv1.StatefulSetList{}, &batchv1.JobList{}, &corev1.PodList{}, &corev1.PersistentVolumeClaimList{},
		&corev1.ServiceList{}, &networkingv1.NetworkPolicyList{}, &policyv1.PodDisruptionBudgetList{},
	} {
		if err := e.direct.List(ctx, list, client.InNamespace(s.namespace)); err != nil {
			return err
		}
		if n := meta.LenList(list); n > 0 {
			return fmt.Errorf("%d objects of kind %s are left", n, kubernetes.KindOf(list))
		}
	}
	var settings corev1.ConfigMapList
	if err := e.direct.List(ctx, &settings, client.InNamespace(s.namespace), client.MatchingLabels{resources.LabelComponent: resources.ComponentOpenSearch}); err != nil {
		return err
	}
	if n := len(settings.Items); n > 0 {
		return fmt.Errorf("%d ConfigMaps of OpenSearch are left", n)
	}
	return events.check()
}

// recorder records the Events of one campaign.
type recorder struct {
	mu      sync.Mutex
	reasons []string
}

// Eventf implements events.EventRecorder.
func (r *recorder) Eventf(_, _ runtime.Object, _, reason, _, _ string, _ ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reasons = append(r.reasons, reason)
}

// check returns an error if two Events in a row have the same reason.
func (r *recorder) check() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := 1; i < len(r.reasons); i++ {
		if r.reasons[i] == r.reasons[i-1] {
			return fmt.Errorf("events %s: the same twice in a row", strings.Join(r.reasons, ", "))
		}
	}
	return nil
}

// diff returns the difference between the result of a run and that of the run without faults. If the record of a trial
// was lost, the trial must be measured again.
func (r result) diff(got result, faults []point) string {
	if len(faults) == 1 && faults[0].fault == podIsGone {
		attempt := lostAttempt(faults[0])
		if got.Records[attempt] != record.ReasonRecordLost || len(got.Records) != len(r.Records)+1 {
			return fmt.Sprintf("want %s RecordLost and measured again; records %v", attempt, got.Records)
		}
		r, got = r.withLost(attempt), got.withLost(attempt)
	}
	return cmp.Diff(r, got)
}

// withLost returns the result without the differences that a lost record of an attempt may cause. It leaves out the
// Warmups. It puts the next attempt of the same trial in the place of the lost attempt.
func (r result) withLost(attempt string) result {
	out := result{Records: map[string]string{}, Verdict: r.Verdict}
	second := strings.TrimSuffix(attempt, "attempt 1") + "attempt 2"
	for a, figure := range r.Records {
		switch {
		case strings.Contains(a, "/"+string(record.Warmup)+"/"):
		case a == second, a == attempt && figure != record.ReasonRecordLost:
			out.Records[attempt] = figure
		case a != attempt:
			out.Records[a] = figure
		}
	}
	return out
}

// lostAttempt returns the attempt whose pod the fault deletes.
func lostAttempt(p point) string {
	_, attempt, _ := strings.Cut(p.at.what, resources.ComponentLoader+" ")
	return attempt
}
