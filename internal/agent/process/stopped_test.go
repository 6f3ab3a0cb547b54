package process

import (
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestChildStop_suspendedProgram_receivesInterrupt checks a driver that is stopped by SIGSTOP and so does not receive other signals. Usage shows
// that it is stopped, and Stop continues it, so that it receives SIGINT.
func TestChildStop_suspendedProgram_receivesInterrupt(t *testing.T) {
	c, err := Start("/bin/sleep", []string{"60"}, nil, "", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = EndAll(t.Context()) })
	if err := c.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	u := NewUsage()
	within(t, "it is stopped", func() bool {
		u.Sample()
		return strings.Contains(u.State(), ", 1 of them stopped")
	})
	c.Stop(10 * time.Second)
	if code, err := c.End(10 * time.Second); code != 128+2 || err != nil {
		t.Errorf("exit code %d, %v, want 130: SIGINT reached it", code, err)
	}
}

func TestUsageTotal(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	u := NewUsage()
	if got := u.Total(); got != 0 {
		t.Errorf("nothing used %s", got)
	}
	for s := range 10 {
		at := start.Add(time.Duration(s) * time.Second)
		u.add(Info{PID: 7, Ticks: uint64(1000 + 50*s)}, at)
		u.add(Info{PID: 9, Ticks: 70}, at)
		if s < 4 { // later the process has ended
			u.add(Info{PID: 8, Ticks: uint64(10 * s)}, at)
		}
	}
	if got := u.Total(); got != 4800*time.Millisecond {
		t.Errorf("%s, want 4.8s: 450 ticks and 30", got)
	}
}

func TestParseStat_stoppedProcess(t *testing.T) {
	if p, ok := parseStat([]byte("4711 (a) T 42 4711 4711 0 -1 4194560 1 2 3 4 150 50 7 8 20 0 1 0 100 200 300")); !ok || !p.Stopped {
		t.Errorf("%+v, %t", p, ok)
	}
	for _, p := range Descendants(os.Getpid()) {
		if p.Stopped {
			t.Errorf("left: %+v", p)
		}
	}
}
