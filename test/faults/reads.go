package faults

import (
	"fmt"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/test/kubernetes"
)

// answer is the result of a read.
type answer struct {
	object any // client.Object or client.ObjectList
	err    error
}

// read makes one call that changes nothing, possibly with a fault. It reads from the cache or from the API server.
func (s *session) read(what string, key string, fromCache bool, into any, effect func() error) error {
	if s.isDead {
		return errDead
	}
	at := s.name(what)
	if err := s.refuse(at); err != nil { // a read has no effect, so the faults after the effect would be the same
		return err
	}
	err := effect()
	if !fromCache {
		return err
	}
	s.now[key] = answer{deepCopy(into), err}
	return s.replaceByPast(at, key, into, err)
}

// replaceByPast replaces a fresh answer by an earlier one if the two differ and the run injects this fault.
func (s *session) replaceByPast(at call, key string, into any, err error) error {
	fresh := s.now[key]
	before, known := s.pastAnswer(key, 1)
	if !known {
		return err
	}
	if s.isOld {
		return before.copyTo(into)
	}
	if before.shape() != fresh.shape() && s.inject(at, stale) {
		return before.copyTo(into)
	}
	if earlier, _ := s.pastAnswer(key, 3); earlier.shape() != before.shape() && earlier.shape() != fresh.shape() && s.inject(at, staler) {
		return earlier.copyTo(into)
	}
	return err
}

// pastAnswer returns the answer to the same read n Reconciles ago, or the nearest older answer. If no answer is that
// old, it returns the oldest answer. It returns false if there is no earlier answer.
func (s *session) pastAnswer(key string, n int) (answer, bool) {
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

func (a answer) copyTo(into any) error {
	if a.err != nil {
		return a.err
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(deepCopy(a.object)).Elem())
	return nil
}

// shape returns a text of all parts of an answer that matter to the reconciler.
func (a answer) shape() string {
	if a.err != nil {
		return a.err.Error()
	}
	switch o := a.object.(type) {
	case client.ObjectList:
		return kubernetes.ListShape(o, kubernetes.Shape)
	case client.Object:
		return kubernetes.Shape(o)
	}
	return ""
}
