package trial

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/record"
)

// heard is an output that is looked at while the program prints.
type heard struct {
	mu sync.Mutex
	driver.Output
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

// A program that gets ready first sends when it is let go, not before, and is not left behind when it must not.
func TestAGateHoldsAProgramBack(t *testing.T) {
	refused := errors.New("a loader pod did not come")
	for name, c := range map[string]struct {
		script string // $1 is the gate
		start  func(ctx context.Context) error
		exit   int
		err    error
		says   string
		calls  int
	}{
		"it is let go":              {`echo ready; read -r line <"$1"; echo "$line"`, func(context.Context) error { return nil }, 0, nil, "ready\ngo\n", 1},
		"it ends before":            {`echo no documents; exit 3`, func(context.Context) error { return nil }, 3, nil, "no documents\n", 0},
		"it must not begin":         {`read -r line <"$1"; echo "$line"`, func(context.Context) error { return refused }, 130, refused, "", 1},
		"it ends while others wait": {`exec 3<"$1"; echo gone; exit 4`, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, 4, nil, "gone\n", 1},
		"it ends as it is let go":   {`exec 3<"$1"; echo gone; exit 4`, func(ctx context.Context) error { <-ctx.Done(); return nil }, 4, nil, "gone\n", 1},
		"it waits for long": {`read -r line <"$1"; echo "$line"`, func(ctx context.Context) error {
			timer := time.NewTimer(1500 * time.Millisecond) // longer than a program may show no sign of life
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
			a := aDriver(t, c.script, "0").a
			g, err := newGate(filepath.Join(a.Work, "gate"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = g.close() }()
			var output heard
			calls := 0
			exit, err := a.runGated(t.Context(), program{name: "the program", path: filepath.Join(a.Work, "driver"), args: []string{g.path}, output: &output}, g,
				func(ctx context.Context) error {
					calls++
					if strings.Contains(output.Text(), "go\n") {
						t.Error("it was let go before start returned")
					}
					return c.start(ctx)
				})
			if !errors.Is(err, c.err) || exit != c.exit || output.Text() != c.says || calls != c.calls {
				t.Errorf("exit %d, %v, said %q, start was called %d times; want exit %d, %v, %q, %d", exit, err, output.Text(), calls, c.exit, c.err, c.says, c.calls)
			}
		})
	}
}

// What does not get ready is a program that hangs.
func TestAProgramThatDoesNotGetReady(t *testing.T) {
	a := aDriver(t, "exec sleep 60", "0").a
	g, err := newGate(filepath.Join(a.Work, "gate"))
	if err != nil {
		t.Fatal(err)
	}
	var output driver.Output
	_, err = a.runGated(t.Context(), program{name: "the program", path: filepath.Join(a.Work, "driver"), output: &output}, g,
		func(context.Context) error { t.Error("start was called"); return nil })
	if reasonOf(err) != record.ReasonDriverHung || !strings.Contains(err.Error(), "the program showed no sign of life") {
		t.Errorf("%v", err)
	}
}
