// Package fleet lets the loader pods of one trial make one load. The pod of index 0 coordinates: the others join it, tell
// when they are ready, begin when it releases them all, and send it their share of the figures.
//
// Each member holds one connection to the coordinator, an HTTP request that is upgraded to messages in both directions.
// The connection is the member's sign of life, and the coordinator's: both sides send a beat every so often, and who is
// silent for too long, or whose connection breaks, is lost. A member that is lost before its share has come fails the
// load, and the coordinator's failure reaches every member: nobody goes on loading a cluster that is no longer measured.
//
// Nobody is authenticated. What a member says is held against the trial's identity, which keeps a pod of another attempt
// out but no enemy: the coordinator's port must be reachable from the pods of its own cell only, as the NetworkPolicy
// around them has it.
package fleet

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// Options are what both sides need to know. Unset durations are the defaults.
type Options struct {
	Trial   record.Trial // all members have the same
	Loaders int          // members, the coordinator included
	Host    string       // that this one runs on
	Say     func(format string, args ...any)

	Beat    time.Duration // from one sign of life to the next
	Silence time.Duration // how long no sign may come from the other side
	Ready   time.Duration // how long the coordinator waits for the last member to join, and to get ready, and a member for the coordinator
	Lag     time.Duration // how much later than the median a load may end, when the share of the load that it may is less
}

// Defaults. A machine whose cores and network a load takes up may delay a beat by seconds.
const (
	defaultBeat    = 2 * time.Second
	defaultSilence = 30 * time.Second
	defaultLag     = 10 * time.Second
	lagShare       = 10 // a tenth of the load

	DefaultReady = 15 * time.Minute
)

func (o Options) defaults() Options {
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

// Failure is why a load of several pods cannot go on, with one of the record's reasons.
type Failure struct {
	Reason  string
	Message string
}

func (f *Failure) Error() string { return f.Reason + ": " + f.Message }

func lost(format string, args ...any) *Failure {
	return &Failure{record.ReasonLoaderLost, fmt.Sprintf(format, args...)}
}

// maxNamed is how many members a message names.
const maxNamed = 8

// names is how a person reads which members are meant.
func names(indices []int) string {
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

// name is one member and where it runs.
func name(index int, host string) string {
	if host == "" {
		return names([]int{index})
	}
	return names([]int{index}) + " on " + host
}

// either gives a context that ends with a, and with b where its end matters, and has the cause of that.
func either(a, b context.Context, matters func() bool) (context.Context, context.CancelFunc) {
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
