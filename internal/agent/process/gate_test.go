package process

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/drivers/output"
	"github.com/knee-bench/knee/internal/record"
)

// heard is an output that a test can read while the program prints.
type heard struct {
	mu sync.Mutex
	output.Output
}

func (h *heard) Write(text []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.Output.Write(text)
}

func (h *heard) Text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.Output.Text()
}

// TestRunGated_holdsProgramBack checks that a program may prepare its load at once, but sends the load only after the
// function start has returned. If start returns an error, the program is ended.
func TestRunGated_holdsProgramBack(t *testing.T) {
	refused := errors.New("a loader pod did not come")
	for name, c := range map[string]struct {
		script string // $1 is the path of the gate
		start  func(ctx context.Context) error
		exit   int
		err    error
		says   string
		calls  int
	}{
		"it is released":            {`echo ready; read -r line <"$1"; echo "$line"`, func(context.Context) error { return nil }, 0, nil, "ready\ngo\n", 1},
		"it ends before":            {`echo no documents; exit 3`, func(context.Context) error { return nil }, 3, nil, "no documents\n", 0},
		"it must not begin":         {`read -r line <"$1"; echo "$line"`, func(context.Context) error { return refused }, 130, refused, "", 1},
		"it ends while others wait": {`exec 3<"$1"; echo gone; exit 4`, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, 4, nil, "gone\n", 1},
		"it ends as it is released": {`exec 3<"$1"; echo gone; exit 4`, func(ctx context.Context) error { <-ctx.Done(); return nil }, 4, nil, "gone\n", 1},
		"it waits for long": {`read -r line <"$1"; echo "$line"`, func(ctx context.Context) error {
			timer := time.NewTimer(1500 * time.Millisecond) // longer than the limit for signs of life
			defer timer.Stop()
			select {
			case <-timer.C:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}, 0, nil, "go\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			r, path := newScript(t, c.script, false)
			if name != "it waits for long" {
				r.Limit = time.Minute // a busy machine may start the program late
			}
			g, err := NewGate(filepath.Join(r.Dir, "gate"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = g.Close() }()
			var output heard
			calls := 0
			exit, err := RunGated(t.Context(), r.Run, Program{Name: "the program", Path: path, Args: []string{g.Path()}, Output: &output}, g,
				func(ctx context.Context) error {
					calls++
					if strings.Contains(output.Text(), "go\n") {
						t.Error("it was released before start returned")
					}
					return c.start(ctx)
				})
			if !errors.Is(err, c.err) || exit != c.exit || output.Text() != c.says || calls != c.calls {
				t.Errorf("exit %d, %v, said %q, start was called %d times; want exit %d, %v, %q, %d", exit, err, output.Text(), calls, c.exit, c.err, c.says, c.calls)
			}
		})
	}
}

// TestRunGated_programThatDoesNotGetReady checks that a program that does not get ready counts as hanging.
func TestRunGated_programThatDoesNotGetReady(t *testing.T) {
	r, path := newScript(t, "exec sleep 60", false)
	g, err := NewGate(filepath.Join(r.Dir, "gate"))
	if err != nil {
		t.Fatal(err)
	}
	var output output.Output
	_, err = RunGated(t.Context(), r.Run, Program{Name: "the program", Path: path, Output: &output}, g,
		func(context.Context) error { t.Error("start was called"); return nil })
	if record.ReasonOf(err) != record.ReasonDriverHung || !strings.Contains(err.Error(), "the program showed no activity") {
		t.Errorf("%v", err)
	}
}
