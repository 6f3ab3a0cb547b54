package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/drivers/output"
	"github.com/knee-bench/knee/internal/record"
)

// newScript returns a Runner with a limit of 1 s, and the path of a shell script as its program. If merges is set,
// the cluster reports that it merges.
func newScript(t *testing.T, script string, merges bool) (r Runner, program string) {
	t.Helper()
	if err := Adopt(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program = filepath.Join(dir, "driver")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r = Runner{Programs: OwnMachine(), Dir: dir, Limit: time.Second, IsMerging: func(context.Context) bool { return merges }, Say: func(string, ...any) {}}
	return r, program
}

// TestRun_programThatHangs_isEnded checks that a program that hangs is ended long before the trial's deadline. A
// program that waits for merges is not ended.
func TestRun_programThatHangs_isEnded(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		merges bool
		words  string
	}{
		"it sleeps":            {"echo working; exec sleep 600", false, "(spec.timeouts.activitySeconds is 1): no document accepted"},
		"it is stopped":        {"kill -STOP $$; exec sleep 600", false, "1 of them stopped by a signal"},
		"it repeats itself":    {"while :; do echo 'Running index [ 50% done]'; sleep 0.2; done", false, "nothing new printed"},
		"it waits for a merge": {"exec sleep 1.5", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, program := newScript(t, c.script, c.merges)
			began := time.Now()
			_, err := r.Run(t.Context(), Program{Name: "the program", Path: program, Output: &output.Output{}})
			var f *record.Error
			switch {
			case c.words == "" && err != nil:
				t.Error(err)
			case c.words != "" && (!errors.As(err, &f) || f.Reason != record.ReasonDriverHung || !strings.Contains(f.Message, c.words)):
				t.Errorf("%v, want %s with %q", err, record.ReasonDriverHung, c.words)
			}
			if took := time.Since(began); took > 5*time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// fakeActivity is a fake of the activity of a load.
type fakeActivity struct{ progress time.Time }

func (a *fakeActivity) LastProgress() time.Time { return a.progress }
func (a *fakeActivity) Silence() time.Duration  { return 0 }

func TestSignsOfLife_look(t *testing.T) {
	r, program := newScript(t, "while :; do :; done", false)
	start := time.Now()
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	var output output.Output
	activity := &fakeActivity{}
	l := &signsOfLife{programs: r.Programs, program: Program{Activity: activity, Output: &output}, usage: NewUsage(), looked: start, last: start}
	for second, c := range []struct {
		what   string
		happen func()
		alive  bool
	}{
		{"nothing", func() {}, false},
		{"a line", func() { _, _ = output.Write([]byte("a\n")) }, true},
		{"the same line", func() { _, _ = output.Write([]byte("a\n")) }, false},
		{"progress in the cluster", func() { activity.progress = at(3) }, true},
		{"no other", func() {}, false},
	} {
		before := l.last
		c.happen()
		l.look(at(second))
		if alive := l.last.After(before); alive != c.alive {
			t.Errorf("%s: a sign of life: %t", c.what, alive)
		}
	}
	child, err := r.Programs.Start(program, nil, nil, r.Dir, &output)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_, _ = r.Programs.EndAll(t.Context())
		_, _ = child.End(time.Minute)
	}()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	l.looked, l.last = time.Now(), time.Now()
	for before := l.last; !l.last.After(before); l.look(time.Now()) {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("a program that works shows no sign of life")
		}
	}
}

func TestRun_withoutLimit_isNotEnded(t *testing.T) {
	r, program := newScript(t, "exec sleep 1.2", false)
	r.Limit = 0
	if _, err := r.Run(t.Context(), Program{Name: "the program", Path: program, Output: &output.Output{}}); err != nil {
		t.Error(err)
	}
}

func TestDescribeExit(t *testing.T) {
	for exit, want := range map[int]string{64: "ended with exit code 64", 137: "memory limit", 143: "was ended by signal 15"} {
		if got := DescribeExit(exit); !strings.Contains(got, want) {
			t.Errorf("%d: %s", exit, got)
		}
	}
}
