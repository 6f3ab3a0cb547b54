// Package process starts the driver, measures the CPU time of all that it starts, and leaves none of it behind.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sort"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Adopt makes this process the parent of every orphan below it, so that a driver's processes that moved to a
// session of their own and lost their parent can still be found and ended.
func Adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the reaper of orphans: %w", err)
	}
	return nil
}

// Child is a program that runs.
type Child struct {
	cmd    *exec.Cmd
	output *os.File      // reading end of what it and all that it starts print
	done   chan struct{} // closed when the program has ended
	read   chan struct{} // closed when its output is read
	err    error
}

// pipeSize is how much a program may print, in bytes, before it has to wait for its output to be read: what an
// unprivileged process may ask for, see pipe(7).
const pipeSize = 1 << 20

// Start runs a program in its own process group. Its output is written as it comes; what the writer took in may be
// looked at after End.
func Start(name string, args, env []string, dir string, output io.Writer) (*Child, error) {
	reading, writing, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	_, _ = unix.FcntlInt(writing.Fd(), unix.F_SETPIPE_SZ, pipeSize) // a smaller one will do
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = env, dir, writing, writing
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = awaited.start(cmd)
	_ = writing.Close()
	if err != nil {
		_ = reading.Close()
		return nil, err
	}
	c := &Child{cmd: cmd, output: reading, done: make(chan struct{}), read: make(chan struct{})}
	go func() {
		defer close(c.read)
		_, _ = io.Copy(output, reading)
		_ = reading.Close()
	}()
	go func() {
		defer close(c.done)
		c.err = cmd.Wait()
		awaited.forget(cmd.Process.Pid)
	}()
	return c, nil
}

// waits are the children that a goroutine waits for. Nobody else may take their exit.
type waits struct {
	mu   sync.Mutex
	pids map[int]bool
}

var awaited = waits{pids: map[int]bool{}}

// start starts a program; until its id is known nobody looks.
func (w *waits) start(cmd *exec.Cmd) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	w.pids[cmd.Process.Pid] = true
	return nil
}

func (w *waits) forget(pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.pids, pid)
}

func (w *waits) has(pid int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pids[pid]
}

// Done is closed when the program itself has ended; what it started may still run.
func (c *Child) Done() <-chan struct{} { return c.done }

// End waits, so long at most, for the program's end and then for the end of its output, which all that it started
// has to close. It gives the exit code: 128 and the signal's number when a signal ended it, -1 with an error when it
// still runs. The output is written to no more.
func (c *Child) End(within time.Duration) (int, error) {
	timer := time.NewTimer(within)
	defer timer.Stop()
	var err error
	select {
	case <-c.done:
	case <-timer.C:
		err = fmt.Errorf("%s (process %d) has not ended within %s", c.cmd.Path, c.cmd.Process.Pid, within)
	}
	if err == nil {
		select {
		case <-c.read:
		case <-timer.C:
		}
	}
	_ = c.output.SetReadDeadline(time.Now())
	<-c.read
	if err != nil {
		return -1, err
	}
	return c.exitCode(), nil
}

func (c *Child) exitCode() int {
	if c.err == nil {
		return 0
	}
	var exit *exec.ExitError
	if errors.As(c.err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return 128 + int(status.Signal())
		}
		return exit.ExitCode()
	}
	return -1
}

// Stop asks the program to end by SIGINT, which opensearch-benchmark hands on to its actors (SIGTERM leaves them
// running), and after grace ends all that is left.
func (c *Child) Stop(grace time.Duration) {
	_ = c.cmd.Process.Signal(syscall.SIGINT)
	_ = c.cmd.Process.Signal(syscall.SIGCONT) // one that is stopped takes no other signal
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-c.done:
	case <-timer.C:
	}
}

// endWait bounds how long killed processes may take to vanish.
const endWait = 5 * time.Second

// EndAll kills every descendant of this process and waits until none runs. It says how many it had to kill.
// No program that Start began may be wanted any more.
func EndAll(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWait)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	killed := map[int]bool{}
	for {
		alive := 0
		for _, p := range Descendants(os.Getpid()) {
			if p.Zombie {
				reap(p.PID)
				continue
			}
			alive++
			killed[p.PID] = true
			_ = unix.Kill(p.PID, unix.SIGKILL)
		}
		if alive == 0 {
			return len(killed), nil
		}
		select {
		case <-ctx.Done():
			return len(killed), fmt.Errorf("%d processes of the driver are still there %s after they were killed", alive, endWait)
		case <-tick.C:
		}
	}
}

// reap takes the exit of an adopted orphan, and leaves that of a child of Start to the one who waits for it.
func reap(pid int) {
	if awaited.has(pid) {
		return
	}
	var status unix.WaitStatus
	_, _ = unix.Wait4(pid, &status, unix.WNOHANG, nil)
}

// Info is one process as /proc tells it.
type Info struct {
	PID     int
	Parent  int
	Name    string
	Zombie  bool
	Stopped bool   // by a signal, see signal(7)
	Ticks   uint64 // user and system CPU time, in clock ticks
	Pages   uint64 // resident memory, in pages
}

// Descendants are all processes below one, ordered by id, zombies included.
func Descendants(root int) []Info {
	all := list()
	children := map[int][]int{}
	for pid, p := range all {
		children[p.Parent] = append(children[p.Parent], pid)
	}
	var out []Info
	for queue := children[root]; len(queue) > 0; queue = queue[1:] {
		out = append(out, all[queue[0]])
		queue = append(queue, children[queue[0]]...)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].PID < out[j].PID })
	return out
}

// list reads every process of the PID namespace; one that ends meanwhile is left out.
func list() map[int]Info {
	out := map[int]Info{}
	dir, err := os.Open("/proc")
	if err != nil {
		return out
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if name[0] < '1' || name[0] > '9' {
			continue
		}
		if data, err := os.ReadFile("/proc/" + name + "/stat"); err == nil {
			if p, ok := parseStat(data); ok {
				out[p.PID] = p
			}
		}
	}
	return out
}

// parseStat reads what is needed of /proc/PID/stat, see proc(5). The name, in parentheses, may hold anything.
func parseStat(data []byte) (Info, bool) {
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 0 || end < open {
		return Info{}, false
	}
	fields := bytes.Fields(data[end+1:])
	if len(fields) < 22 {
		return Info{}, false
	}
	number := func(b []byte) (n uint64) {
		for _, c := range b {
			if c < '0' || c > '9' {
				return n
			}
			n = n*10 + uint64(c-'0')
		}
		return n
	}
	return Info{
		PID:     int(number(bytes.TrimSpace(data[:open]))),
		Name:    string(data[open+1 : end]),
		Zombie:  fields[0][0] == 'Z' || fields[0][0] == 'X',
		Stopped: fields[0][0] == 'T',
		Parent:  int(number(fields[1])),
		Ticks:   number(fields[11]) + number(fields[12]),
		Pages:   number(fields[21]),
	}, true
}
