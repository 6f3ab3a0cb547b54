// Package invariants checks rules that every status and every Event of a campaign obeys.
package invariants

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/resources"
)

// maxStatus is the largest size of a status, in bytes of JSON.
const maxStatus = 32 << 10

// Statuses checks every status of every campaign in a cache.
type Statuses struct {
	mu       sync.Mutex
	progress map[types.UID]progress
	seen     int
	broken   []violation
}

// violation is a broken rule.
type violation struct {
	namespace, text string
}

// progress is the last known progress of a campaign, and the generation of its spec.
type progress struct {
	generation int64
	done       int
}

// New returns a Statuses that has seen no status.
func New() *Statuses { return &Statuses{progress: map[types.UID]progress{}} }

// Watch starts to check the statuses in a cache.
func Watch(ctx context.Context, c cache.Cache) (*Statuses, error) {
	v := New()
	campaigns, err := c.GetInformer(ctx, &v1alpha1.BenchmarkCampaign{})
	if err != nil {
		return nil, err
	}
	if _, err := campaigns.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { v.Check(o.(*v1alpha1.BenchmarkCampaign), o.(*v1alpha1.BenchmarkCampaign)) },
		UpdateFunc: func(before, o any) {
			v.Check(before.(*v1alpha1.BenchmarkCampaign), o.(*v1alpha1.BenchmarkCampaign))
		},
	}); err != nil {
		return nil, err
	}
	maps, err := c.GetInformer(ctx, &corev1.ConfigMap{})
	if err != nil {
		return nil, err
	}
	_, err = maps.AddEventHandler(toolscache.ResourceEventHandlerFuncs{DeleteFunc: func(o any) {
		if cm, ok := o.(*corev1.ConfigMap); ok && cm.Labels[resources.LabelComponent] == resources.ComponentRecord {
			v.forget(types.UID(cm.Labels[resources.LabelCampaign]))
		}
	}})
	return v, err
}

// forget allows progress to go back, after a record was deleted.
func (v *Statuses) forget(uid types.UID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.progress, uid)
}

// Check checks the status of a campaign after a change.
func (v *Statuses) Check(before, after *v1alpha1.BenchmarkCampaign) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen++
	wrong := statusViolations(before.Status, after)
	if done, ok := doneTrials(after.Status.Progress); ok {
		last := v.progress[after.UID]
		if last.generation == after.Status.ObservedGeneration && done < last.done {
			wrong = append(wrong, fmt.Sprintf("progress went from %d back to %d", last.done, done))
		}
		v.progress[after.UID] = progress{after.Status.ObservedGeneration, done}
	}
	if len(wrong) > 0 {
		v.broken = append(v.broken, violation{after.Namespace, fmt.Sprintf("%s/%s: %s\nbefore: %s\nafter:  %s", after.Namespace, after.Name,
			strings.Join(wrong, "; "), statusJSON(before.Status), statusJSON(after.Status))})
	}
}

// Violations returns the rules that statuses of a namespace broke so far. An empty namespace selects all namespaces.
func (v *Statuses) Violations(namespace string) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []string
	for _, b := range v.broken {
		if namespace == "" || namespace == b.namespace {
			out = append(out, b.text)
		}
	}
	return out
}

// Seen returns the number of statuses that were checked.
func (v *Statuses) Seen() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.seen
}

func statusJSON(s v1alpha1.BenchmarkCampaignStatus) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// doneTrials returns the number of done trials from a progress text such as "3/12". The second result is false if the
// text does not have this form.
func doneTrials(progress string) (int, bool) {
	var done, all int
	n, err := fmt.Sscanf(progress, "%d/%d", &done, &all)
	return done, n == 2 && err == nil
}

// statusViolations returns how a status breaks the rules of kstatus or of Knee.
func statusViolations(before v1alpha1.BenchmarkCampaignStatus, c *v1alpha1.BenchmarkCampaign) (wrong []string) {
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	now := c.Status
	if n := len(statusJSON(now)); n > maxStatus {
		bad("the status takes %d bytes", n)
	}
	var done, all int
	if _, err := fmt.Sscanf(now.Progress, "%d/%d", &done, &all); now.Progress != "" && (err != nil || done > all) {
		bad("progress %q", now.Progress)
	}
	if now.ObservedGeneration > c.Generation || now.ObservedGeneration < before.ObservedGeneration {
		bad("observedGeneration %d after %d of generation %d", now.ObservedGeneration, before.ObservedGeneration, c.Generation)
	}
	count := map[string]int{}
	for _, cond := range now.Conditions {
		count[cond.Type]++
		was := meta.FindStatusCondition(before.Conditions, cond.Type)
		if cond.ObservedGeneration > c.Generation || was != nil && cond.ObservedGeneration < was.ObservedGeneration {
			bad("%s: observedGeneration %d of generation %d", cond.Type, cond.ObservedGeneration, c.Generation)
		}
		if was != nil && was.Status == cond.Status && !was.LastTransitionTime.Equal(&cond.LastTransitionTime) {
			bad("%s: lastTransitionTime moved, its status did not", cond.Type)
		}
	}
	ready := meta.FindStatusCondition(now.Conditions, v1alpha1.ConditionReady)
	reconciling := meta.FindStatusCondition(now.Conditions, v1alpha1.ConditionReconciling)
	stalled := meta.FindStatusCondition(now.Conditions, v1alpha1.ConditionStalled)
	switch {
	case len(now.Conditions) == 0: // not reconciled yet
		return wrong
	case count[v1alpha1.ConditionReady] != 1:
		bad("%d conditions Ready", count[v1alpha1.ConditionReady])
		return wrong
	case reconciling != nil && stalled != nil:
		bad("Reconciling and Stalled")
	case ready.Status == metav1.ConditionTrue && (reconciling != nil || stalled != nil):
		bad("Ready, and Reconciling or Stalled")
	case stalled != nil && ready.Status != metav1.ConditionFalse:
		bad("Stalled, and Ready is %s", ready.Status)
	case stalled == nil && ready.Status == metav1.ConditionFalse:
		bad("Ready is False, and no condition says that the user has to act")
	}
	for _, companion := range []*metav1.Condition{reconciling, stalled} {
		if companion != nil && companion.Status != metav1.ConditionTrue {
			bad("%s is there and %s", companion.Type, companion.Status)
		}
	}
	return wrong
}
