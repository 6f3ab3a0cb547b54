package control

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// target is a fake of the supervisor. A test sets its events.
type target struct {
	mu      sync.Mutex
	events  []Event
	more    chan struct{}
	stopped chan struct{}
}

func (s *target) Status() Status {
	return Status{Phase: Ready, Daemons: []Daemon{{Name: "etcd", PID: 7, Restarts: 2}}}
}
func (s *target) Stop() { close(s.stopped) }
func (s *target) Events(i int) ([]Event, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events[i:], s.more
}
func (s *target) add(phase Phase, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, Event{Phase: phase, Text: text})
	close(s.more)
	s.more = make(chan struct{})
}

// serve starts a server on a socket whose path is too long for a socket address.
func serve(t *testing.T) (*target, *Client, context.Context) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "control.sock")
	listener, err := ListenUnix(socket)
	if err != nil {
		t.Fatal(err)
	}
	s := &target{more: make(chan struct{}), stopped: make(chan struct{})}
	ended := make(chan error, 1)
	go func() { ended <- Serve(listener, s) }()
	t.Cleanup(func() {
		_ = listener.Close()
		if err := <-ended; err == nil || errors.Is(err, http.ErrServerClosed) {
			t.Errorf("the server ended with %v while it was not closed", err)
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return s, NewClient(socket), ctx
}

func TestClient_statusAndStop(t *testing.T) {
	s, client, ctx := serve(t)
	status, err := client.Status(ctx)
	if err != nil || status.Phase != Ready || len(status.Daemons) != 1 || status.Daemons[0].Restarts != 2 {
		t.Errorf("status %+v, error %v", status, err)
	}
	if err := client.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.stopped:
	case <-ctx.Done():
		t.Error("the target was not stopped")
	}
}

func TestWatch_pastAndNewEvents_areReported(t *testing.T) {
	s, client, ctx := serve(t)
	s.add(Starting, "before")
	var seen []string
	err := client.Watch(ctx, func(event Event) {
		seen = append(seen, event.Text)
		switch event.Text {
		case "before":
			s.add(Starting, "after")
		case "after":
			s.add(Ready, "ready")
		}
	})
	if err != nil || strings.Join(seen, " ") != "before after ready" {
		t.Errorf("saw %v, error %v", seen, err)
	}
}

func TestWatch_failedPhase_returnsReason(t *testing.T) {
	s, client, ctx := serve(t)
	s.add(Failed, "etcd ended 5 times")
	err := client.Watch(ctx, func(Event) {})
	if !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), "etcd ended 5 times") {
		t.Errorf("error %v", err)
	}
}

func TestWatch_deadlinePasses_fails(t *testing.T) {
	_, client, _ := serve(t)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := client.Watch(ctx, func(Event) {}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want %v", err, context.DeadlineExceeded)
	}
}
