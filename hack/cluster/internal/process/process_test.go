package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	for _, test := range []struct {
		name, line string
		ticks      uint64
		alive      bool
	}{
		{"sleeping", "17 (sh) S 1 17 17 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4711 0 0", 4711, true},
		{"parentheses in the name", "17 (a) R (b) R 1 17 17 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4712 0 0", 4712, true},
		{"zombie", "17 (sh) Z 1 17 17 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4711 0 0", 0, false},
		{"cut off", "17 (sh) S 1 17", 0, false},
		{"empty", "", 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if ticks, alive := parseStat(test.line); ticks != test.ticks || alive != test.alive {
				t.Errorf("got %d, %v; want %d, %v", ticks, alive, test.ticks, test.alive)
			}
		})
	}
}

func TestParseNSpid(t *testing.T) {
	host, inside, ok := parseNSpid("Name:\tetcd\nNSpid:\t4711\t8\nNSpgid:\t1\t1\n")
	if host != 4711 || inside != 8 || !ok {
		t.Errorf("got %d, %d, %v; want 4711, 8, true", host, inside, ok)
	}
	if _, _, ok := parseNSpid("Name:\tetcd\nNSpid:\t4711\n"); ok {
		t.Error("a process of no child namespace was taken for one")
	}
}

func TestStartTime_endedProcess_isNotAlive(t *testing.T) {
	own, alive := StartTime(os.Getpid())
	if !alive || own == 0 {
		t.Errorf("this process: start %d, alive %v", own, alive)
	}
	child := exec.Command("true")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	if _, alive := StartTime(child.Process.Pid); alive {
		t.Error("a process that has ended is alive")
	}
}

func TestWait(t *testing.T) {
	child := exec.Command("cat") // ends when its standard input is closed
	input, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := Wait(short, child.Process.Pid); !errors.Is(err, ErrStillRunning) {
		t.Errorf("at the deadline: %v, want %v", err, ErrStillRunning)
	}
	if err := input.Close(); err != nil {
		t.Fatal(err)
	}
	long, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := Wait(long, child.Process.Pid); err != nil { // a zombie counts as ended
		t.Error(err)
	}
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
	if err := Wait(long, child.Process.Pid); err != nil {
		t.Errorf("a process that is gone: %v", err)
	}
}
