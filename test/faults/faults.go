// Package faults runs a campaign once and names all calls of the reconciler. Then it injects each possible fault of
// each call into further runs of the campaign, and checks that the records and the verdict stay the same. The API
// server and the controllers of StatefulSets, Jobs and garbage collection are those of Kubernetes; the node is a fake.
package faults

import (
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fault is a kind of failure of one call.
type fault string

const (
	diesBefore fault = "the manager dies before it"
	diesAfter  fault = "the manager dies after it took effect"
	conflicts  fault = "conflict"
	timesOut   fault = "time-out before it took effect"
	answerLost fault = "time-out after it took effect"
	tooMany    fault = "429 Too Many Requests"
	broken     fault = "500 Internal Server Error"
	stale      fault = "the cache answers as one Reconcile before"
	staler     fault = "the cache answers as three Reconciles before"
	staleAll   fault = "the whole cache is as one Reconcile before"
	podIsGone  fault = "the trial's pod is gone before it was collected"
)

// reconcileCall is the name of a fault point that concerns a whole Reconcile, not one call.
const reconcileCall = "Reconcile"

// call names one request of the reconciler by its place in the campaign: the number of records, the number of
// Reconciles since the last record, and the request. So every run of a campaign gives the same request the same name. A
// Reconcile with a fault is not counted, because usually the next Reconcile does the same work.
type call struct {
	records, step int
	what          string
}

func (c call) String() string {
	return fmt.Sprintf("%d records, step %d: %s", c.records, c.step, c.what)
}

// point is one call and one fault of this call.
type point struct {
	at    call
	fault fault
}

func (p point) String() string { return p.at.String() + ": " + string(p.fault) }

var (
	errDead    = errors.New("the manager is dead")
	errTimeout = apierrors.NewTimeoutError("injected", 0)
)

// refusal is a fault by which a call fails without an effect, and its error.
type refusal struct {
	fault fault
	err   error
}

// refusals lists these faults.
var refusals = []refusal{
	{diesBefore, errDead}, {timesOut, errTimeout}, {tooMany, apierrors.NewTooManyRequests("injected", 1)},
	{broken, apierrors.NewInternalError(errors.New("injected"))},
}

// refuse returns the error of a call that fails without an effect, or nil.
func (s *session) refuse(at call) error {
	for _, r := range refusals {
		if s.inject(at, r.fault) {
			s.isDead = r.fault == diesBefore
			return r.err
		}
	}
	return nil
}

// ownWrite is a write that took effect but may not be in the cache yet.
type ownWrite struct {
	object    client.Object
	isDeleted bool
}

// session is the reconciler's client in one run of a campaign. It names every call and injects the faults of the run.
// It reads only one namespace, like a manager with --namespace. Only one Reconcile uses it at a time.
type session struct {
	client.Client // nil, so a method that session does not implement panics: no fault would cover this method

	namespace string
	cached    client.Client
	direct    client.Client
	faults    map[point]bool

	taken     route
	reference route // places in the run without faults; nil in that run

	calls    []point        // every call, with each fault that applies to it
	harmless map[point]bool // true: after the fault, all objects are as they were before the Reconcile
	reached  map[point]bool // faults that happened
	creates  map[string]int // number of creations of each Job, by name
	own      []ownWrite     // writes that the cache does not show yet
	past     []map[string]answer

	// Fields of the current Reconcile:
	now      map[string]answer
	nth      map[string]int // number of calls with each name
	at       call
	isDead   bool // the manager died and makes no more calls
	isAstray bool // since the last fault, the campaign has not returned to the reference route
	hasFault bool
	hasWrite bool
	isOld    bool // every read returns what it returned one Reconcile before
	isBehind bool // a read returned an old answer: the manager is notified when the cache has caught up
}

// begin starts a Reconcile. The reconciler remembers nothing from earlier Reconciles.
func (s *session) begin(w world) {
	switch {
	case w.records != s.at.records:
		s.at = call{records: w.records}
	case !s.hasFault && s.now != nil:
		s.at.step++
	}
	if s.now != nil && !s.hasFault { // answers of a Reconcile with a fault would differ from those of other runs
		s.past = append(s.past, s.now)
	}
	s.taken[s.at] = w.place
	s.isAstray = len(s.reached) > 0 && !s.findOnRoute(w)
	s.now, s.nth = map[string]answer{}, map[string]int{}
	s.isDead, s.hasFault, s.hasWrite, s.isOld, s.isBehind = false, false, false, false, false
	if len(s.past) > 0 {
		at := s.at
		at.what = reconcileCall
		s.isOld = s.inject(at, staleAll)
	}
}

// inject records that a fault can happen at a call, and reports whether the fault happens now.
func (s *session) inject(at call, f fault) bool {
	p := point{at, f}
	s.calls = append(s.calls, p)
	s.harmless[p] = !s.hasWrite && slices.ContainsFunc(refusals, func(r refusal) bool { return r.fault == f })
	if !s.faults[p] || s.reached[p] || s.hasFault || s.isAstray { // one fault at a time: a second one could hide the effect of the first
		return false
	}
	s.reached[p], s.hasFault = true, true
	s.isBehind = s.isBehind || f == stale || f == staler || f == staleAll
	return true
}

// unreached returns the faults that did not happen.
func (s *session) unreached() []point {
	var out []point
	for f := range s.faults {
		if !s.reached[f] {
			out = append(out, f)
		}
	}
	return out
}

// name names a call of this Reconcile. If a call with the same text was made before, the name gets a number.
func (s *session) name(what string) call {
	s.nth[what]++
	at := s.at
	at.what = what
	if n := s.nth[what]; n > 1 {
		at.what = fmt.Sprintf("%s #%d", what, n)
	}
	return at
}
