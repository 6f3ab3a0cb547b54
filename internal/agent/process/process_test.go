package process

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// role is the environment variable that selects what the test binary does when it runs as a child process.
const role = "KNEE_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		goleak.VerifyTestMain(m)
	case "driver": // starts an actor, prints the actor's PID and ends at SIGINT without ending the actor, as opensearch-benchmark does at SIGTERM
		actor := exec.Command(os.Args[0])
		actor.Env = []string{role + "=actor"}
		actor.Stdout = os.Stdout
		actor.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		interrupted := make(chan os.Signal, 1)
		signal.Notify(interrupted, syscall.SIGINT)
		if err := actor.Start(); err != nil {
			os.Exit(9)
		}
		fmt.Println(actor.Process.Pid)
		<-interrupted
		os.Exit(3)
	case "actor": // ignores signals, uses CPU and never ends
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
		for {
			math.Sqrt(float64(time.Now().UnixNano()))
		}
	}
}

// within waits for a condition for at most a minute.
func within(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-deadline.C:
			t.Fatalf("not within a minute: %s", what)
		case <-tick.C:
		}
	}
}

func startDriver(t *testing.T) (*Child, int) {
	t.Helper()
	if err := Adopt(); err != nil {
		t.Fatal(err)
	}
	told, output := io.Pipe()
	c, err := Start(os.Args[0], nil, []string{role + "=driver"}, t.TempDir(), output)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = told.Close()
		_, _ = EndAll(t.Context())
	})
	lines := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(told).ReadString('\n')
		lines <- line
		_, _ = io.Copy(io.Discard, told)
	}()
	select {
	case line := <-lines:
		actor, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		return c, actor
	case <-time.After(time.Minute):
		t.Fatal("the driver has not told its actor in a minute")
	}
	return nil, 0
}

func TestEndAll_orphanInOtherSession_isEnded(t *testing.T) {
	c, actor := startDriver(t)
	c.Stop(time.Minute)
	// The actor keeps the driver's output open. End must not wait for the actor.
	if code, err := c.End(10 * time.Millisecond); code != 3 || err != nil {
		t.Errorf("the driver ended with %d, %v, not with its own 3 at SIGINT", code, err)
	}
	if !alive(actor) {
		t.Fatal("the actor ended by itself: the test shows nothing")
	}
	n, err := EndAll(t.Context())
	if err != nil || n != 1 {
		t.Errorf("ended %d processes, %v, want 1", n, err)
	}
	if alive(actor) {
		t.Error("the actor still runs")
	}
	for _, p := range Descendants(os.Getpid()) {
		if !p.Zombie {
			t.Errorf("left: %+v", p)
		}
	}
}

// TestReap_awaitedZombie_keepsExitCode checks that the exit code of a driver is kept for the caller of Wait, even if reap
// looks for zombies first.
func TestReap_awaitedZombie_keepsExitCode(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "exit 7")
	if err := awaited.start(cmd); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	within(t, "it is a zombie", func() bool {
		return slices.ContainsFunc(Descendants(os.Getpid()), func(p Info) bool { return p.PID == pid && p.Zombie })
	})
	reap(pid)
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("%v, want exit code 7", err)
	}
	awaited.forget(pid)
	if awaited.has(pid) {
		t.Error("an exit that was taken is still awaited")
	}
}

func TestChildEnd_programRunsOn_givesUp(t *testing.T) {
	c, err := Start("/bin/sleep", []string{"60"}, nil, "", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = EndAll(t.Context()) })
	if code, err := c.End(10 * time.Millisecond); code != -1 || err == nil || !strings.Contains(err.Error(), "sleep") {
		t.Errorf("exit code %d, %v", code, err)
	}
}

func TestChildEnd_longOutput_isReadCompletely(t *testing.T) {
	var out bytes.Buffer
	c, err := Start("/bin/sh", []string{"-c", "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; echo last >&2; exit 4"}, nil, "", &out)
	if err != nil {
		t.Fatal(err)
	}
	code, err := c.End(30 * time.Second)
	if code != 4 || err != nil || strings.Count(out.String(), "\n") != 20001 || !strings.HasSuffix(out.String(), "line 19999\nlast\n") {
		t.Errorf("exit code %d, %v, %d bytes", code, err, out.Len())
	}
}

func TestChildStop_interruptIgnored_isKilled(t *testing.T) {
	if err := Adopt(); err != nil {
		t.Fatal(err)
	}
	c, err := Start(os.Args[0], nil, []string{role + "=actor"}, "", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	within(t, "the child is deaf", func() bool { return ignoresInterrupt(c.cmd.Process.Pid) })
	c.Stop(20 * time.Millisecond)
	if _, err := EndAll(t.Context()); err != nil {
		t.Error(err)
	}
	if code, err := c.End(10 * time.Second); code != 128+9 || err != nil {
		t.Errorf("exit code %d, %v, want 137", code, err)
	}
}

func TestStart_missingProgramOrFolder_fails(t *testing.T) {
	if _, err := Start("/nowhere/program", nil, nil, "", io.Discard); err == nil {
		t.Error("a program that is not there was started")
	}
	if _, err := Start(os.Args[0], nil, nil, "/nowhere", io.Discard); err == nil {
		t.Error("a folder that is not there was taken")
	}
}

func TestUsage_busyProcess_isFirst(t *testing.T) {
	_, actor := startDriver(t)
	u := NewUsage()
	u.Sample()
	from := time.Now()
	within(t, "the actor uses CPU time", func() bool {
		u.Sample()
		s := u.series[actor]
		return s != nil && len(s.points) > 1 && s.points[len(s.points)-1].ticks > s.points[0].ticks+5
	})
	busiest := u.Between(from, time.Now())
	if len(busiest) < 2 || !strings.HasSuffix(busiest[0].Name, fmt.Sprintf("/%d", actor)) || busiest[0].Percent <= 0 || busiest[0].Percent > 400 {
		t.Errorf("%+v, want the actor %d first", busiest, actor)
	}
}

func TestUsageBetween(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	u := NewUsage()
	for s := 0; s <= 100; s++ {
		u.add(Info{PID: 7, Name: "worker", Ticks: uint64(100 * max(0, min(s, 60)-20))}, at(s)) // one core from 20 s to 60 s
		u.add(Info{PID: 8, Name: "coordinator", Ticks: uint64(10 * s)}, at(s))
		u.add(Info{PID: 9, Name: "idle"}, at(s))
		u.add(Info{PID: 10, Name: "gone", Zombie: true, Ticks: 5000}, at(s))
	}
	for _, c := range []struct {
		from, to int
		worker   float64
	}{{20, 60, 100}, {0, 40, 50}, {30, 35, 100}, {60, 100, 0}, {10, 90, 50}} {
		got := map[string]float64{}
		for _, p := range u.Between(at(c.from), at(c.to)) {
			got[p.Name] = p.Percent
		}
		if math.Abs(got["worker/7"]-c.worker) > 1e-9 || math.Abs(got["coordinator/8"]-10) > 1e-9 || got["idle/9"] != 0 || len(got) != 3 {
			t.Errorf("%d to %d s: %v, want worker %v", c.from, c.to, got, c.worker)
		}
	}
	if first := u.Between(at(20), at(60))[0].Name; first != "worker/7" {
		t.Errorf("%s is first", first)
	}
	if points := len(u.series[9].points); points > 2 {
		t.Errorf("an idle process takes %d points", points)
	}
	if got := u.Between(at(5), at(5)); got != nil {
		t.Errorf("an empty window gives %v", got)
	}
}

func TestParseStat(t *testing.T) {
	line := "4711 (a) (b c) S 42 4711 4711 0 -1 4194560 1 2 3 4 150 50 7 8 20 0 1 0 100 200 300"
	if p, ok := parseStat([]byte(line)); !ok || p != (Info{PID: 4711, Parent: 42, Name: "a) (b c", Ticks: 200, Pages: 300}) {
		t.Errorf("%+v, %t", p, ok)
	}
	if p, ok := parseStat([]byte(strings.Replace(line, " S ", " Z ", 1))); !ok || !p.Zombie {
		t.Errorf("%+v, %t", p, ok)
	}
	for _, bad := range []string{"", "1 (x", "1 (x) S 1"} {
		if p, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q gives %+v", bad, p)
		}
	}
}

// alive reports whether a process runs. A zombie does not run.
func alive(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	p, ok := parseStat(data)
	return ok && !p.Zombie
}

// ignoresInterrupt reports whether a process ignores SIGINT, the second bit of the mask SigIgn of proc(5).
func ignoresInterrupt(pid int) bool {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(data), "SigIgn:")
	mask, err := strconv.ParseUint(strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0]), 16, 64)
	return err == nil && mask&2 != 0
}
