package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/resources"
)

// fault is what may go wrong with one call.
type fault string

const (
	diesBefore    fault = "the manager dies before it"
	diesAfter     fault = "the manager dies after it took effect"
	conflicts     fault = "conflict"
	timesOut      fault = "time-out before it took effect"
	answerLost    fault = "time-out after it took effect"
	stale         fault = "the cache answers as one Reconcile before"
	staler        fault = "the cache answers as three Reconciles before"
	staleAll      fault = "the whole cache is as one Reconcile before"
	podIsGone     fault = "the trial's pod is gone before it was collected"
	reconcileCall       = "Reconcile" // stands for all calls of one Reconcile
)

// call names one request of the reconciler by where in the campaign it is made, so that every run of the same campaign
// gives it the same name: after how many records, in which Reconcile since, and what it asks for. A Reconcile with a fault in
// it is not counted: as a rule the next one does its work.
type call struct {
	records, step int
	what          string
}

func (c call) String() string {
	return fmt.Sprintf("%d records, step %d: %s", c.records, c.step, c.what)
}

// point is one place where one thing goes wrong.
type point struct {
	at   call
	goes fault
}

func (p point) String() string { return p.at.String() + ": " + string(p.goes) }

var (
	errDead    = errors.New("the manager is dead")
	errTimeout = apierrors.NewTimeoutError("injected", 0)
)

// ownWrite is a write that took effect, which the cache will show in time.
type ownWrite struct {
	object  client.Object
	deleted bool
}

// session is the reconciler's client in one run of a campaign: it names every call and lets those fail that the run
// is about. It sees one namespace alone, as a manager does that is told to. It is used by one Reconcile at a time.
type session struct {
	client.Client // nil: a call that is not named here would be one that no run is about, and panics

	namespace string
	cached    client.Client
	direct    client.Client
	faults    map[point]bool

	took    route
	without route // that a run without faults took; nil in that run

	calls    []point        // every call, with each fault that applies to it
	harmless map[point]bool // of these, the ones after which all is as it was before the Reconcile
	reached  map[point]bool // faults that came to pass
	creates  map[string]int // Jobs created, by name
	own      []ownWrite     // not seen in the cache yet
	past     []map[string]answer
	now      map[string]answer // of this Reconcile
	nth      map[string]int
	at       call
	dead     bool // this manager makes no more calls
	astray   bool // since the faults so far the campaign is not back on its route
	faulted  bool // in this Reconcile
	wrote    bool // this Reconcile
	old      bool // this Reconcile sees the cache of before
	behind   bool // this Reconcile saw something of before: the manager is told when the cache has caught up
}

// answer is what a read gave.
type answer struct {
	object any // client.Object or client.ObjectList
	err    error
}

// begin starts a Reconcile, with no memory of those before: only the tests look back.
func (s *session) begin(w world) {
	switch {
	case w.records != s.at.records:
		s.at = call{records: w.records}
	case !s.faulted && s.now != nil:
		s.at.step++
	}
	if s.now != nil && !s.faulted { // a fault is no part of the past that other runs share
		s.past = append(s.past, s.now)
	}
	s.took[s.at] = w.place
	s.astray = len(s.reached) > 0 && !s.joins(w)
	s.now, s.nth, s.dead, s.faulted, s.wrote, s.old, s.behind = map[string]answer{}, map[string]int{}, false, false, false, false, false
	if len(s.past) > 0 {
		at := s.at
		at.what = reconcileCall
		s.old = s.goes(at, staleAll)
	}
}

// goes notes that a fault applies to a call, and says whether it is to come to pass.
func (s *session) goes(at call, f fault) bool {
	p := point{at, f}
	s.calls = append(s.calls, p)
	s.harmless[p] = !s.wrote && (f == diesBefore || f == timesOut)
	if !s.faults[p] || s.reached[p] || s.faulted || s.astray { // a second fault at once might hide what came of the first
		return false
	}
	s.reached[p], s.faulted = true, true
	s.behind = s.behind || f == stale || f == staler || f == staleAll
	return true
}

// unreached are the faults that did not come to pass.
func (s *session) unreached() []point {
	var out []point
	for f := range s.faults {
		if !s.reached[f] {
			out = append(out, f)
		}
	}
	return out
}

// name gives a call of this Reconcile its name: the n-th of its kind.
func (s *session) name(what string) call {
	s.nth[what]++
	at := s.at
	at.what = what
	if n := s.nth[what]; n > 1 {
		at.what = fmt.Sprintf("%s #%d", what, n)
	}
	return at
}

func kindOf(o any) string {
	return strings.TrimSuffix(reflect.TypeOf(o).Elem().Name(), "List")
}

// title names an object by what it is rather than by its name, in which the campaign's UID is.
func title(o client.Object) string {
	l := o.GetLabels()
	parts := []string{kindOf(o), l[resources.LabelVariant], l[resources.LabelComponent]}
	if trial := o.GetAnnotations()[resources.AnnotationTrial]; trial != "" {
		parts = append(parts, attemptTitle(trial))
	}
	return strings.Join(parts, " ")
}

// write makes one call that changes something. touch makes a conflict: something newer is there.
func (s *session) write(verb string, o client.Object, deletes bool, effect func() error) error {
	if s.dead {
		return errDead
	}
	at := s.name(verb + " " + title(o))
	do := func() error {
		err := effect()
		s.wrote = true
		if err == nil {
			s.own = append(s.own, ownWrite{o.DeepCopyObject().(client.Object), deletes})
		}
		return err
	}
	switch {
	case s.goes(at, diesBefore):
		s.dead = true
		return errDead
	case s.goes(at, diesAfter):
		_ = do() // nobody is there to hear of it
		s.dead = true
		return errDead
	case s.goes(at, timesOut):
		return errTimeout
	case s.goes(at, answerLost):
		_ = do()
		return errTimeout
	case verb != "create" && s.goes(at, conflicts):
		return s.conflict(o, deletes, do)
	}
	return do()
}

// conflict changes the object before the call, so that the API server refuses it; a deletion it would not refuse.
func (s *session) conflict(o client.Object, deletes bool, do func() error) error {
	newer := blank(o)
	if err := s.direct.Get(context.Background(), client.ObjectKeyFromObject(o), newer); err != nil {
		return err
	}
	a := newer.GetAnnotations()
	if a == nil {
		a = map[string]string{}
	}
	a["touched-by-the-test"] = strconv.Itoa(len(s.reached)) // another value each time
	newer.SetAnnotations(a)
	if err := s.direct.Update(context.Background(), newer); err != nil {
		return err
	}
	s.own = append(s.own, ownWrite{newer, false})
	if deletes {
		return apierrors.NewConflict(schema.GroupResource{Resource: kindOf(o)}, o.GetName(), errors.New("injected"))
	}
	err := do()
	if !apierrors.IsConflict(err) {
		panic(fmt.Sprintf("%s %s: want a conflict, got %v", kindOf(o), o.GetName(), err))
	}
	return err
}

func blank(o client.Object) client.Object {
	return reflect.New(reflect.TypeOf(o).Elem()).Interface().(client.Object)
}

// read makes one call that changes nothing, from the cache or from the API server.
func (s *session) read(what string, key string, fromCache bool, into any, effect func() error) error {
	if s.dead {
		return errDead
	}
	at := s.name(what)
	switch {
	case s.goes(at, diesBefore): // and after it: it has no effect
		s.dead = true
		return errDead
	case s.goes(at, timesOut):
		return errTimeout
	}
	err := effect()
	if !fromCache {
		return err
	}
	s.now[key] = answer{deepCopy(into), err}
	return s.fromThePast(at, key, into, err)
}

// fromThePast gives an answer of before in place of the fresh one, where it differs and the run is about it.
func (s *session) fromThePast(at call, key string, into any, err error) error {
	fresh := s.now[key]
	before, known := s.answer(key, 1)
	if !known {
		return err
	}
	if s.old {
		return before.give(into)
	}
	if before.shape() != fresh.shape() && s.goes(at, stale) {
		return before.give(into)
	}
	if earlier, _ := s.answer(key, 3); earlier.shape() != before.shape() && earlier.shape() != fresh.shape() && s.goes(at, staler) {
		return earlier.give(into)
	}
	return err
}

// answer is what the same read gave n Reconciles ago, or the first time.
func (s *session) answer(key string, n int) (answer, bool) {
	var (
		out   answer
		known bool
	)
	for i := len(s.past) - 1; i >= 0; i-- {
		if a, made := s.past[i][key]; made {
			out, known = a, true
			if i <= len(s.past)-n {
				break
			}
		}
	}
	return out, known
}

func deepCopy(o any) any {
	switch o := o.(type) {
	case client.ObjectList:
		return o.DeepCopyObject()
	case client.Object:
		return o.DeepCopyObject()
	}
	panic(fmt.Sprintf("%T", o))
}

func (a answer) give(into any) error {
	if a.err != nil {
		return a.err
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(deepCopy(a.object)).Elem())
	return nil
}

// shape is what of an answer the reconciler could tell from another.
func (a answer) shape() string {
	if a.err != nil {
		return a.err.Error()
	}
	switch o := a.object.(type) {
	case client.ObjectList:
		return listShape(o, shapeOf)
	case client.Object:
		return shapeOf(o)
	}
	return ""
}

// Reader is the reconciler's way around the cache.
func (s *session) reader() client.Reader { return uncached{s} }

type uncached struct{ s *session }

func (u uncached) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return u.s.read("get uncached "+kindOf(o), "", false, o, func() error { return u.s.direct.Get(ctx, key, o, opts...) })
}

func (u uncached) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return u.s.read("list uncached "+kindOf(list), "", false, list, func() error {
		return u.s.direct.List(ctx, list, append(opts, client.InNamespace(u.s.namespace))...)
	})
}

func (s *session) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	what := "get " + kindOf(o)
	return s.read(what, what+key.String(), true, o, func() error { return s.cached.Get(ctx, key, o, opts...) })
}

func (s *session) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var options client.ListOptions
	options.ApplyOptions(opts)
	what := "list " + kindOf(list)
	return s.read(what, fmt.Sprint(what, options.LabelSelector, options.FieldSelector), true, list, func() error {
		return s.cached.List(ctx, list, append(opts, client.InNamespace(s.namespace))...)
	})
}

func (s *session) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	var options client.CreateOptions
	options.ApplyOptions(opts)
	if len(options.DryRun) > 0 {
		return s.read("create in a dry run "+kindOf(o), "", false, o, func() error { return s.direct.Create(ctx, o, opts...) })
	}
	return s.write("create", o, false, func() error {
		err := s.cached.Create(ctx, o, opts...)
		if _, job := o.(*batchv1.Job); job && err == nil {
			s.creates[o.GetName()]++
		}
		return err
	})
}

func (s *session) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	return s.write("update", o, false, func() error { return s.cached.Update(ctx, o, opts...) })
}

func (s *session) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	return s.write("patch", o, false, func() error { return s.cached.Patch(ctx, o, p, opts...) })
}

func (s *session) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	return s.write("delete", o, true, func() error { return s.cached.Delete(ctx, o, opts...) })
}

func (s *session) Status() client.SubResourceWriter { return statusWriter{s: s} }

// statusWriter writes the status; what it does not name is nil, and panics.
type statusWriter struct {
	client.SubResourceWriter
	s *session
}

func (w statusWriter) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	return w.s.write("update status of", o, false, func() error { return w.s.cached.Status().Update(ctx, o, opts...) })
}
