package invariants

import (
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
)

// Events is an EventRecorder that passes all Events to another EventRecorder. It notes each Event that is equal to the
// previous Event of the same object.
type Events struct {
	events.EventRecorder
	mu     sync.Mutex
	last   map[types.UID]string
	broken []string
}

// Eventf implements events.EventRecorder.
func (t *Events) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	t.mu.Lock()
	if t.last == nil {
		t.last = map[types.UID]string{}
	}
	o := regarding.(metav1.Object)
	what := reason + ": " + fmt.Sprintf(note, args...)
	if t.last[o.GetUID()] == what {
		t.broken = append(t.broken, fmt.Sprintf("%s/%s: twice in a row: %s", o.GetNamespace(), o.GetName(), what))
	}
	t.last[o.GetUID()] = what
	t.mu.Unlock()
	t.EventRecorder.Eventf(regarding, related, kind, reason, action, note, args...)
}

// Violations returns the Events so far that repeated the previous Event of the same object.
func (t *Events) Violations() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.broken
}
