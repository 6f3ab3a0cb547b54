package synthetic_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/agent/trial"
	"github.com/knee-bench/knee/internal/drivers/agentside"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/gates"
	"github.com/knee-bench/knee/test/synthetic/opensearch"
	"github.com/knee-bench/knee/test/synthetic/osb"
)

// misfortune describes the faults of one trial of eight clients, whose load takes about 20 s.
type misfortune struct {
	faults []opensearch.Fault
	after  time.Duration // time from the trial's start to the call of the function then; 0: the call is before the trial
	then   func(*opensearch.Server)
	hangAt int64         // each client of the driver hangs after this many documents
	stop   time.Duration // when the pod is ended, from the trial's start; 0: never
	step   time.Duration // jump of the wall clock, 10 s after the trial's start
}

// TestTrialFaults checks that the record of a trial with a fault has the right error, or holds the true rate of
// the machine.
func TestTrialFaults(t *testing.T) {
	half := func(do func(*opensearch.Server)) []opensearch.Fault {
		return []opensearch.Fault{{At: corpus / 2, Do: do}}
	}
	for name, c := range map[string]struct {
		misfortune
		reason string // expected reason of the error; empty: the measurement must be valid
		words  string
	}{
		"nothing": {misfortune{}, "", ""},
		"a restart during the load": {misfortune{faults: half((*opensearch.Server).Restart)},
			record.ReasonClusterChanged, "OpenSearch node synthetic-0 restarted during the load"},
		"a restart before the load": {misfortune{after: time.Second, then: (*opensearch.Server).Restart},
			record.ReasonClusterChanged, "OpenSearch node synthetic-0 restarted during the wait before the load"},
		"a yellow index": {misfortune{faults: half(func(s *opensearch.Server) { s.Lack("yellow", 1) })},
			record.ReasonClusterChanged, "the health of the index was yellow during the load"},
		"a yellow cluster before the load": {misfortune{after: time.Second, then: func(s *opensearch.Server) { s.Lack("yellow", 1) }},
			record.ReasonClusterNotReady, "not ready before the load: health yellow, 1 nodes (1 required), 0 shards unassigned; the replica of shard i/0 is unassigned: above the low watermark"},
		"a cluster that does not become green": {misfortune{then: func(s *opensearch.Server) { s.Lack("yellow", 1) }},
			record.ReasonClusterNotReady, "not ready after 2m0s: health yellow, 1 nodes (1 required), 0 shards unassigned; the replica of shard i/0 is unassigned: above the low watermark"},
		"a node less": {misfortune{faults: half(func(s *opensearch.Server) { s.Lack("green", 0) })},
			record.ReasonClusterChanged, "the OpenSearch cluster had 0 nodes instead of 1 during the load"},
		"an index that is deleted": {misfortune{faults: half((*opensearch.Server).Forget)},
			record.ReasonClusterChanged, "the index was deleted during the load: "},
		"an OpenSearch that answers nothing": {misfortune{faults: half((*opensearch.Server).Mute)},
			record.ReasonClusterChanged, "Knee could not read the index statistics of OpenSearch for 1"},
		"a driver that hangs": {misfortune{hangAt: 200}, record.ReasonDriverHung, "no activity for 1"},
		"an end from outside": {misfortune{stop: 10 * time.Second}, record.ReasonInterrupted, "ended from outside: it was deleted or evicted, or its node was drained or shut down, while the trial was in this state: load"},
		"a clock set forward": {misfortune{step: 3 * time.Second}, record.ReasonClockJumped, "the clock of the loader's Kubernetes node jumped by +3.00 s"},
		"a clock set back":    {misfortune{step: -time.Hour}, record.ReasonClockJumped, "the clock of the loader's Kubernetes node jumped by -3600.00 s"},
		"a clock corrected":   {misfortune{step: 20 * time.Millisecond}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newWorkshop(t).suffer(t, c.misfortune)
			switch {
			case c.reason == "" && r.Error != nil:
				t.Errorf("%+v", r.Error)
			case c.reason == "":
				if in := r.Ingest; in.DocsPerSecond < 0.99*capacity || in.DocsPerSecond > 1.01*capacity {
					t.Errorf("%.1f docs/s, the machine does %.0f", in.DocsPerSecond, capacity)
				}
			case r.Error == nil || r.Error.Reason != c.reason || !strings.Contains(r.Error.Message, c.words):
				t.Errorf("%+v, want %s with %q", r.Error, c.reason, c.words)
			}
		})
	}
}

// TestTrial_allRequestsRejected_isGated checks a load whose every request is rejected. The record has 0 docs/s and no error,
// and is Gated for any value of maxRejections.
func TestTrial_allRequestsRejected_isGated(t *testing.T) {
	r := newWorkshop(t).suffer(t, misfortune{after: time.Millisecond, then: (*opensearch.Server).RejectAll})
	if r.Error != nil {
		t.Fatalf("%+v", r.Error)
	}
	in := r.Ingest
	if in.DocsPerSecond != 0 || in.Count != 0 || in.TotalIndexed != 0 || in.Corpus != corpus || r.Rejections.WritePool != corpus/bulkSize || in.Seconds <= 0 ||
		!strings.Contains(in.WindowNote, "rejected") {
		t.Errorf("%+v, %+v", in, r.Rejections)
	}
	for _, limit := range []int64{0, 1 << 40} {
		if j := gates.Judge(r, v1alpha1.Gates{MaxRejections: &limit}); j.Verdict != verdict.Gated || !strings.Contains(j.Failures[0].Message, "OpenSearch rejected all requests") {
			t.Errorf("up to %d rejections allowed: %+v", limit, j)
		}
	}
}

// suffer runs one trial with the given faults.
func (w workshop) suffer(t *testing.T, m misfortune) (r record.Record) {
	t.Helper()
	study := study([]int32{8})
	p := plan.Build(study)
	synctest.Test(t, func(t *testing.T) {
		server := opensearch.New(opensearch.Machine{Curve: steep, Seed: 1})
		for _, f := range m.faults {
			server.Befall(f)
		}
		network := opensearch.NewNetwork(server)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		switch {
		case m.then != nil && m.after == 0:
			m.then(server)
		case m.then != nil:
			defer time.AfterFunc(m.after, func() { m.then(server) }).Stop()
		}
		if m.stop > 0 {
			defer time.AfterFunc(m.stop, cancel).Stop()
		}
		started := time.Now()
		wall := func() time.Time {
			if time.Since(started) < 10*time.Second {
				return time.Now()
			}
			return time.Now().Add(m.step)
		}
		cfg := config(p, study, record.Trial{Campaign: "c", Cell: p.Cells[0].Hash, Phase: record.Sweep, Clients: 8, Repetition: 1, Placement: 1})
		cfg.ActivitySeconds, cfg.SettleSeconds = 15, 60
		r = message(t, trial.Run(ctx, trial.Options{Drivers: agentside.Drivers(), Config: cfg, Work: w.work, Program: w.program, Output: io.Discard, Network: network, Wall: wall,
			Programs: osb.Programs{Network: network, Corpus: corpus, HangAt: m.hangAt}}))
		if unknown := server.Unknown(); len(unknown) > 0 {
			t.Errorf("the agent asks what the fake does not know: %q", unknown)
		}
		if err := network.End(); err != nil {
			t.Error(err)
		}
	})
	return r
}
