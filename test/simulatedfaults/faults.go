// Package simulatedfaults runs campaigns in a simulated cluster and names all calls of the reconciler. Then it injects each
// possible fault of each call into a copy of the run at this call, and checks that the end is the same. Nothing in a simulated
// cluster happens by itself, so the reconciler can be interrupted in every state between two changes of any controller.
package simulatedfaults

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// fault is a kind of failure of one call.
type fault string

const (
	diesBefore   fault = "the manager dies before it"
	diesAfter    fault = "the manager dies after it took effect"
	conflicts    fault = "conflict"
	timesOut     fault = "time-out before it took effect"
	answerLost   fault = "time-out after it took effect"
	tooMany      fault = "429 Too Many Requests"
	broken       fault = "500 Internal Server Error"
	stale        fault = "the cache answers as one Reconcile before"
	staler       fault = "the cache answers as three Reconciles before"
	stalest      fault = "the cache answers as ten Reconciles before"
	watchExpires fault = "the watch of this kind expires, and the cache shows no change until it has listed the objects again"
	rival        fault = "another manager reconciles before it"
	podIsGone    fault = "a trial's pod is gone before its record was collected"
)

// allFaults lists all kinds.
var allFaults = []fault{
	diesBefore, diesAfter, conflicts, timesOut, answerLost, tooMany, broken, stale, staler, stalest, watchExpires, rival, podIsGone,
}

// lags lists how many Reconciles a stale answer is old.
var lags = []struct {
	fault      fault
	reconciles int
}{{stale, 1}, {staler, 3}, {stalest, 10}}

// relistAfter is the number of Reconciles without the changes of a kind whose watch expired.
const relistAfter = 4

// call names one request of the reconciler in the run without faults.
type call struct {
	reconcile, nth int // the number of the Reconcile, and of the request in this Reconcile
	what           string
}

func (c call) String() string {
	return fmt.Sprintf("Reconcile %d, call %d: %s", c.reconcile, c.nth, c.what)
}

// point is one call and one fault of this call.
type point struct {
	at    call
	fault fault
}

func (p point) String() string { return p.at.String() + ": " + string(p.fault) }

var errDead = errors.New("the manager is dead")

// errorOf returns the error that a call with the fault returns. It is errDead for all faults but those of the API server.
func (f fault) errorOf() error {
	switch f {
	case timesOut, answerLost:
		return apierrors.NewTimeoutError("injected", 0)
	case tooMany:
		return apierrors.NewTooManyRequests("injected", 1)
	case broken:
		return apierrors.NewInternalError(errors.New("injected"))
	}
	return errDead
}
