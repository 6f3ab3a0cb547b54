// Package loaders coordinates the loader pods of one trial so that they make one load together. The pod with index 0 is the
// coordinator. The other pods join it, report that they are ready, and begin when it sends them the start message. After the
// load, they send their share of the figures.
//
// Each member has one connection to the coordinator: an HTTP request that is upgraded to messages in both directions. Both
// sides send beats at intervals to show that they are alive. A side that is silent for too long, or whose connection breaks,
// is lost. If a member is lost before its share arrives, the load fails. The coordinator reports the failure to every member.
// So no pod continues to load a cluster that is no longer measured.
//
// There is no authentication. The coordinator compares the trial's identity. This keeps out pods of other attempts, but no
// attacker. The NetworkPolicy must allow only the pods of the same cell to reach the coordinator's port.
package loaders

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// Options holds the settings of the coordinator and of the members. A duration of 0 means the default.
type Options struct {
	Attempt record.Attempt // the same for all members
	Loaders int            // number of members, including the coordinator
	Host    string         // the host of this member
	Say     func(format string, args ...any)

	Beat    time.Duration // interval between two signs of life
	Silence time.Duration // longest time without a sign of life from the other side
	Ready   time.Duration // how long the coordinator waits for all members to join, and then for all to be ready; also how long a member tries to reach the coordinator
	Lag     time.Duration // a member may always end later than the median member by this time; endBound may allow more
}

// Defaults of Options. A load that uses all cores and the whole network of a machine may delay a beat by seconds.
const (
	defaultBeat    = 2 * time.Second
	defaultSilence = 30 * time.Second
	defaultLag     = 10 * time.Second
	lagShare       = 10 // in a timed load, a member may also end later by one tenth of the time that the median member took

	DefaultReady = 15 * time.Minute
)

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		set      *time.Duration
		standard time.Duration
	}{{&o.Beat, defaultBeat}, {&o.Silence, defaultSilence}, {&o.Ready, DefaultReady}, {&o.Lag, defaultLag}} {
		if *d.set <= 0 {
			*d.set = d.standard
		}
	}
	if o.Say == nil {
		o.Say = func(string, ...any) {}
	}
	return o
}

func lostError(format string, args ...any) *record.Error {
	return &record.Error{Reason: record.ReasonLoaderLost, Message: fmt.Sprintf(format, args...)}
}

// maxNamed is the maximum number of members that a message names.
const maxNamed = 8

// listNames formats the indices of members for a message.
func listNames(indices []int) string {
	slices.Sort(indices)
	var words []string
	for _, n := range indices[:min(len(indices), maxNamed)] {
		words = append(words, strconv.Itoa(n))
	}
	if more := len(indices) - maxNamed; more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	if len(words) == 1 {
		return "loader pod " + words[0]
	}
	return "loader pods " + strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// memberName formats the index and the host of one member for a message.
func memberName(index int, host string) string {
	if host == "" {
		return listNames([]int{index})
	}
	return listNames([]int{index}) + " on " + host
}

// endWithEither returns a context that ends when the context a ends. It also ends when the context b ends, if the function
// matters then returns true. Its cause is the cause of the context that made it end.
func endWithEither(a, b context.Context, matters func() bool) (context.Context, context.CancelFunc) {
	both, cancel := context.WithCancelCause(a)
	stop := context.AfterFunc(b, func() {
		if matters() {
			cancel(context.Cause(b))
		}
	})
	return both, func() {
		stop()
		cancel(nil)
	}
}
