package trial

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/cluster"
	"github.com/knee-bench/knee/internal/trial/fleet"
	"github.com/knee-bench/knee/internal/trial/process"
)

// aDriver is the driver of opensearch-benchmark with a shell script as its program, and a cluster that is a fake that
// tells of so many merges.
func aDriver(t *testing.T, script string, merges string) *osbDriver {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"_nodes":{"failed":0},"nodes":{"n":{"name":"a-fake","indices":{"merges":{"current":` + merges + `}}}}}`))
	}))
	t.Cleanup(server.Close)
	client, err := cluster.New(nil, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	if err := process.Adopt(); err != nil {
		t.Fatal(err)
	}
	o := options(t)
	o.Programs, o.Config.Endpoint, o.Config.ActivitySeconds = machine{}, server.URL, 1
	program := filepath.Join(o.Work, "driver")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(o.Work, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	a := &attempt{Options: o, cluster: client}
	return &osbDriver{a: a, program: program}
}

// A driver that hangs is ended long before the trial's deadline; one that waits for merges is not.
func TestADriverThatHangsIsEnded(t *testing.T) {
	for name, c := range map[string]struct {
		script, merges, words string
	}{
		"it sleeps":            {"echo working; exec sleep 60", "0", "no sign of life for 1 s (spec.timeouts.activitySeconds is 1)"},
		"it is stopped":        {"kill -STOP $$; exec sleep 60", "0", "1 of them stopped by a signal"},
		"it repeats itself":    {"while :; do echo 'Running index [ 50% done]'; sleep 0.2; done", "0", "nothing new printed"},
		"it waits for a merge": {"exec sleep 1.5", "1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := aDriver(t, c.script, c.merges)
			began := time.Now()
			_, err := d.call(t.Context(), driver.OSBRun{ID: "x", Home: d.a.Work, Endpoint: d.a.Config.Endpoint, Workload: "w"}, nil)
			var f *failure
			switch {
			case c.words == "" && err != nil:
				t.Error(err)
			case c.words != "" && (!errors.As(err, &f) || f.reason != record.ReasonDriverHung || !strings.Contains(f.message, c.words)):
				t.Errorf("%v, want %s with %q", err, record.ReasonDriverHung, c.words)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// What counts as a sign of life: a new line, CPU time, a document, a merge.
func TestSignsOfLife(t *testing.T) {
	d := aDriver(t, "while :; do :; done", "0")
	a := d.a
	start := time.Now()
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	var output driver.OSBOutput
	w := &watch{}
	l := &life{programs: a.Programs, watch: w, output: &output, usage: process.NewUsage(), since: start, last: start}
	for second, c := range []struct {
		what   string
		happen func()
		alive  bool
	}{
		{"nothing", func() {}, false},
		{"a line", func() { _, _ = output.Write([]byte("a\n")) }, true},
		{"the same line", func() { _, _ = output.Write([]byte("a\n")) }, false},
		{"a document", func() { w.changed = at(3) }, true},
		{"no other", func() {}, false},
		{"a merge", func() { w.merging = at(5) }, true},
	} {
		before := l.last
		c.happen()
		l.look(at(second))
		if alive := l.last.After(before); alive != c.alive {
			t.Errorf("%s: a sign of life: %t", c.what, alive)
		}
	}
	child, err := a.Programs.Start(d.program, nil, nil, a.Work, &output)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_, _ = a.Programs.EndAll(t.Context())
		_, _ = child.End(time.Minute)
	}()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(20 * time.Second)
	l.since, l.last = time.Now(), time.Now()
	for before := l.last; !l.last.After(before); l.look(time.Now()) {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("a program that works shows no sign of life")
		}
	}
}

// Without the limit, nobody looks.
func TestNoActivityLimit(t *testing.T) {
	d := aDriver(t, "exec sleep 1.2", "0")
	d.a.Config.ActivitySeconds = 0
	if _, err := d.call(t.Context(), driver.OSBRun{ID: "x", Home: d.a.Work, Endpoint: d.a.Config.Endpoint, Workload: "w"}, nil); err != nil {
		t.Error(err)
	}
}

// A driver that fails because OpenSearch went away is not to blame.
func TestTheClusterIsToBlame(t *testing.T) {
	var started atomic.Int64
	started.Store(100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		now := "100"
		if started.Load() != 100 {
			now = "200"
		}
		_, _ = w.Write([]byte(`{"nodes":{"n":{"name":"a-fake","build_hash":"x","jvm":{"start_time_in_millis":` + now + `}}}}`))
	}))
	defer server.Close()
	client, err := cluster.New(nil, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	a := &attempt{cluster: client}
	cause := fail(record.ReasonDriverFailed, "connection refused")
	if err := a.blame(t.Context(), "load", cause); !errors.Is(err, cause) {
		t.Errorf("before the counters are read: %v", err)
	}
	if a.before.infos, err = client.NodeInfos(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.blame(t.Context(), "load", cause); !errors.Is(err, cause) {
		t.Errorf("a cluster that is the same: %v", err)
	}
	started.Store(200)
	err = a.blame(t.Context(), "load", cause)
	if reasonOf(err) != record.ReasonClusterChanged || !strings.Contains(err.Error(), "node a-fake restarted during load") || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("a restart: %v", err)
	}
	// Another loader pod's failure ends the context while the cluster is asked.
	ctx, end := context.WithCancelCause(t.Context())
	lost := &fleet.Failure{Reason: record.ReasonDriverHung, Message: "loader pod 2: no sign of life"}
	gone := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		end(lost)
		<-r.Context().Done()
	}))
	defer gone.Close()
	silent, err := cluster.New(nil, gone.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	asking := &attempt{cluster: silent}
	asking.before.infos = a.before.infos
	if e := asking.explain(t.Context(), ctx, asking.blame(ctx, "load", cause)); e.Reason != record.ReasonDriverHung {
		t.Errorf("asked as another pod was lost: %+v", e)
	}
	for reason, want := range map[string]string{
		record.ReasonRequestsFailed: record.ReasonClusterChanged, // another loader pod's requests failed first
		record.ReasonLoaderLost:     record.ReasonLoaderLost,
	} {
		ctx, end := context.WithCancelCause(t.Context())
		end(&fleet.Failure{Reason: reason, Message: "loader pod 2: what it saw"})
		err = a.blame(ctx, "load", ctx.Err())
		if e := a.explain(t.Context(), ctx, err); e.Reason != want || !strings.Contains(e.Message, "loader pod 2: what it saw") {
			t.Errorf("after %s of another pod: %+v", reason, e)
		}
	}
}
