package faults

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/kubernetes"
)

// title returns a readable name of an object, made from its kind and labels. The object's own name contains the
// campaign's UID, which differs in each run.
func title(o client.Object) string {
	l := o.GetLabels()
	parts := []string{kubernetes.KindOf(o), l[resources.LabelVariant], l[resources.LabelComponent]}
	if trial := o.GetAnnotations()[resources.AnnotationTrial]; trial != "" {
		parts = append(parts, attemptTitle(trial))
	}
	return strings.Join(parts, " ")
}

// write makes one call that changes an object, possibly with a fault.
func (s *session) write(verb string, o client.Object, isDeletion bool, effect func() error) error {
	if s.isDead {
		return errDead
	}
	at := s.name(verb + " " + title(o))
	do := func() error {
		err := effect()
		s.hasWrite = true
		if err == nil {
			s.own = append(s.own, ownWrite{o.DeepCopyObject().(client.Object), isDeletion})
		}
		return err
	}
	if err := s.refuse(at); err != nil {
		return err
	}
	switch {
	case s.inject(at, diesAfter):
		_ = do() // the manager dies before it gets the answer
		s.isDead = true
		return errDead
	case s.inject(at, answerLost):
		_ = do()
		return errTimeout
	case !strings.HasPrefix(verb, "create") && s.inject(at, conflicts):
		return s.conflict(o, isDeletion, do)
	}
	return do()
}

// conflict updates the object before the call, so that the API server refuses the call with a conflict. The API server
// does not refuse deletions for this reason. So if the call is a deletion, the function returns the conflict error
// without making the call.
func (s *session) conflict(o client.Object, isDeletion bool, do func() error) error {
	newer := blank(o)
	if err := s.direct.Get(context.Background(), client.ObjectKeyFromObject(o), newer); err != nil {
		return err
	}
	a := newer.GetAnnotations()
	if a == nil {
		a = map[string]string{}
	}
	a["touched-by-the-test"] = strconv.Itoa(len(s.reached)) // the value differs in each conflict
	newer.SetAnnotations(a)
	if err := s.direct.Update(context.Background(), newer); err != nil {
		return err
	}
	s.own = append(s.own, ownWrite{newer, false})
	if isDeletion {
		return apierrors.NewConflict(schema.GroupResource{Resource: kubernetes.KindOf(o)}, o.GetName(), errors.New("injected"))
	}
	err := do()
	if !apierrors.IsConflict(err) {
		panic(fmt.Sprintf("%s %s: want a conflict, got %v", kubernetes.KindOf(o), o.GetName(), err))
	}
	return err
}

func blank(o client.Object) client.Object {
	return reflect.New(reflect.TypeOf(o).Elem()).Interface().(client.Object)
}

// reader returns the client that the reconciler uses to read without the cache.
func (s *session) reader() client.Reader { return uncached{s} }

type uncached struct{ s *session }

func (u uncached) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return u.s.read("get uncached "+kubernetes.KindOf(o), "", false, o, func() error { return u.s.direct.Get(ctx, key, o, opts...) })
}

func (u uncached) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return u.s.read("list uncached "+kubernetes.KindOf(list), "", false, list, func() error {
		return u.s.direct.List(ctx, list, append(opts, client.InNamespace(u.s.namespace))...)
	})
}

func (s *session) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	what := "get " + kubernetes.KindOf(o)
	return s.read(what, what+key.String(), true, o, func() error { return s.cached.Get(ctx, key, o, opts...) })
}

func (s *session) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var options client.ListOptions
	options.ApplyOptions(opts)
	what := "list " + kubernetes.KindOf(list)
	return s.read(what, fmt.Sprint(what, options.LabelSelector, options.FieldSelector), true, list, func() error {
		if err := s.cached.List(ctx, list, append(opts, client.InNamespace(s.namespace))...); err != nil {
			return err
		}
		return sortByName(list)
	})
}

// sortByName sorts a list of a cache, whose order is random, so that every run makes the same calls.
func sortByName(list client.ObjectList) error {
	items, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	slices.SortFunc(items, func(a, b runtime.Object) int {
		return strings.Compare(a.(client.Object).GetName(), b.(client.Object).GetName())
	})
	return meta.SetList(list, items)
}

func (s *session) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	verb := "create"
	if len((&client.CreateOptions{}).ApplyOptions(opts).DryRun) > 0 {
		verb = "create (dry run)"
	}
	return s.write(verb, o, false, func() error {
		err := s.cached.Create(ctx, o, opts...)
		if _, isJob := o.(*batchv1.Job); isJob && verb == "create" && err == nil {
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

// statusWriter writes the status. Methods that it does not implement panic.
type statusWriter struct {
	client.SubResourceWriter
	s *session
}

func (w statusWriter) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	return w.s.write("update status of", o, false, func() error { return w.s.cached.Status().Update(ctx, o, opts...) })
}
