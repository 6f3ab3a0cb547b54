package simulatedfaults

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/simulated"
)

// manager is the reconciler's client in one Reconcile. It numbers the calls and injects the fault of the run. Methods that it
// does not implement panic: no fault would cover them.
type manager struct {
	client.Client
	r *run
}

// uncached is the client that reads without the cache.
type uncached struct{ manager }

func (m manager) api() simulated.Client { return simulated.Client{Cluster: m.r.cluster} }

// fail counts a call and returns its error if one of the faults that need no effect of the call happens.
func (m manager) fail(what string, isDecided bool) error {
	r := m.r
	if r.isDead {
		return errDead
	}
	r.at.nth++
	r.at.what = what
	for _, f := range []fault{diesBefore, timesOut, tooMany, broken} {
		if r.inject(f) {
			r.isDead = f == diesBefore
			return f.errorOf()
		}
	}
	if isDecided && r.inject(rival) {
		r.reconcileOther(r.ctx)
	}
	return nil
}

// view returns the cluster as the cache shows it for a read, possibly with a fault. version returns a text that changes with the
// result of the read.
func (m manager) view(kind string, version func(*simulated.Cluster) string) *simulated.Cluster {
	r := m.r
	if r.lag != nil {
		return r.lag
	}
	if r.expired == kind {
		return r.expiredView
	}
	known := version(r.cluster)
	for _, l := range lags {
		old := r.before(l.reconciles)
		if old == nil || version(old) == known {
			continue
		}
		known = version(old)
		if l.fault == stale && !r.read[kind] && r.inject(watchExpires) {
			r.expired, r.expiredView, r.relistAt = kind, old, r.at.reconcile+relistAfter
			return old
		}
		if r.inject(l.fault) {
			r.isBehind = true
			return old
		}
	}
	r.read[kind] = true
	return r.cluster
}

func (m manager) Get(ctx context.Context, name client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	if err := m.fail("get "+kubernetes.KindOf(o), false); err != nil {
		return err
	}
	from := m.view(kubernetes.KindOf(o), func(c *simulated.Cluster) string { return c.Version(o, name) })
	return simulated.Client{Cluster: from}.Get(ctx, name, o)
}

func (m manager) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := m.fail("list "+kubernetes.KindOf(list), false); err != nil {
		return err
	}
	from := m.view(kubernetes.KindOf(list), func(c *simulated.Cluster) string { return c.Versions(list, options...) })
	return simulated.Client{Cluster: from}.List(ctx, list, options...)
}

func (u uncached) Get(ctx context.Context, name client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	if err := u.fail("get uncached "+kubernetes.KindOf(o), true); err != nil {
		return err
	}
	return u.api().Get(ctx, name, o)
}

func (u uncached) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := u.fail("list uncached "+kubernetes.KindOf(list), true); err != nil {
		return err
	}
	return u.api().List(ctx, list, options...)
}

// write makes one call that changes an object, possibly with a fault.
func (m manager) write(verb string, o client.Object, effect func(api simulated.Client) error) error {
	what := fmt.Sprintf("%s %s %s", verb, kubernetes.KindOf(o), o.GetName())
	if err := m.fail(what, true); err != nil {
		return err
	}
	r := m.r
	for _, f := range []fault{diesAfter, answerLost} {
		if r.inject(f) {
			_ = effect(m.api()) // the answer is lost
			r.isDead = f == diesAfter
			return f.errorOf()
		}
	}
	if !strings.HasPrefix(verb, "create") && r.inject(conflicts) {
		r.cluster.Touch(o)
		if verb == "delete" { // the API server checks only the UID
			return apierrors.NewConflict(schema.GroupResource{Resource: kubernetes.KindOf(o)}, o.GetName(), fmt.Errorf("injected"))
		}
		err := effect(m.api())
		if !apierrors.IsConflict(err) {
			r.violate("%s: want a conflict, got %v", what, err)
		}
		return err
	}
	return effect(m.api())
}

func (m manager) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	verb := "create"
	if len((&client.CreateOptions{}).ApplyOptions(options).DryRun) > 0 {
		verb = "create (dry run)"
	}
	return m.write(verb, o, func(api simulated.Client) error { return api.Create(ctx, o, options...) })
}

func (m manager) Update(ctx context.Context, o client.Object, _ ...client.UpdateOption) error {
	return m.write("update", o, func(api simulated.Client) error { return api.Update(ctx, o) })
}

func (m manager) Patch(ctx context.Context, o client.Object, patch client.Patch, _ ...client.PatchOption) error {
	return m.write("patch", o, func(api simulated.Client) error { return api.Patch(ctx, o, patch) })
}

func (m manager) Delete(ctx context.Context, o client.Object, options ...client.DeleteOption) error {
	return m.write("delete", o, func(api simulated.Client) error { return api.Delete(ctx, o, options...) })
}

func (m manager) Status() client.SubResourceWriter { return statusWriter{m: m} }

// statusWriter writes the status. Methods that it does not implement panic.
type statusWriter struct {
	client.SubResourceWriter
	m manager
}

func (w statusWriter) Update(ctx context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
	return w.m.write("update status of", o, func(api simulated.Client) error { return api.Status().Update(ctx, o) })
}

// isWatched reports whether a change of an object causes a Reconcile of its campaign; see CampaignReconciler.SetupWithManager.
func isWatched(before, after client.Object) bool {
	o := after
	if o == nil {
		o = before
	}
	switch kubernetes.KindOf(o) {
	case "BenchmarkCampaign", "StatefulSet", "Job", "ConfigMap", "Pod", "PersistentVolumeClaim", resources.OpenSearchClusterKind:
		return o.GetAnnotations()[resources.AnnotationCampaignName] != "" || kubernetes.KindOf(o) == "BenchmarkCampaign" || kubernetes.KindOf(o) == resources.OpenSearchClusterKind
	case "PodDisruptionBudget":
		return after == nil
	case "NetworkPolicy":
		return before == nil
	}
	return false
}
