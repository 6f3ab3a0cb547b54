// Package process runs the programs of a driver and measures the CPU time of all their processes. It ends programs that hang,
// and leaves no process running.
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

// Adopt makes this process the parent of all orphans below it. So the agent still finds and ends processes that started their
// own session and lost their parent.
func Adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot make the agent the parent of orphaned processes (PR_SET_CHILD_SUBREAPER): %w", err)
	}
	return nil
}

// Child is a running program.
type Child struct {
	cmd    *exec.Cmd
	output *os.File      // reading end of the pipe for the output of the program and of its children
	done   chan struct{} // closed when the program has ended
	read   chan struct{} // closed when the output of the program was read to its end
	err    error
}

// pipeSize is how many bytes a program can print before it must wait until its output is read. This is the maximum for an
// unprivileged process; see pipe(7).
const pipeSize = 1 << 20

// Start runs a program in its own process group. It copies the program's output to a writer while the program runs. The
// caller must not read from the writer before End has returned.
func Start(name string, args, env []string, dir string, output io.Writer) (*Child, error) {
	reading, writing, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	_, _ = unix.FcntlInt(writing.Fd(), unix.F_SETPIPE_SZ, pipeSize) // if this fails, the default size is sufficient
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

// waits holds the IDs of the children for which a goroutine waits. No other code may collect the exit status of these
// children.
type waits struct {
	mu   sync.Mutex
	pids map[int]bool
}

var awaited = waits{pids: map[int]bool{}}

// start starts a program. It holds the lock until the ID of the program is registered.
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

// Done returns a channel that is closed when the program itself has ended. Children of the program may still run.
func (c *Child) Done() <-chan struct{} { return c.done }

// End waits until the program has ended. Then it waits until the output has ended, which requires that all children close it.
// The time within limits both waits together. End returns the exit code. If a signal ended the program, the code is 128 plus
// the number of the signal. If the program still runs, the code is -1 and there is an error. After End, nothing is written to
// the output.
func (c *Child) End(within time.Duration) (int, error) {
	timer := time.NewTimer(within)
	defer timer.Stop()
	var err error
	select {
	case <-c.done:
	case <-timer.C:
		err = fmt.Errorf("the program %s (process ID %d) did not end within %s", c.cmd.Path, c.cmd.Process.Pid, within)
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

// Stop sends SIGINT to the program and waits until the program has ended or the time grace has passed. It kills nothing; see
// EndAll. It uses SIGINT, because opensearch-benchmark passes SIGINT to its actors, but not SIGTERM.
func (c *Child) Stop(grace time.Duration) {
	_ = c.cmd.Process.Signal(syscall.SIGINT)
	_ = c.cmd.Process.Signal(syscall.SIGCONT) // a stopped process handles SIGINT only after it continues
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-c.done:
	case <-timer.C:
	}
}

// endWait is how long EndAll waits until killed processes have disappeared.
const endWait = 5 * time.Second

// EndAll kills all descendants of this process and waits until none of them runs. It returns how many processes it killed. It
// also kills programs of Start that are still running.
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
			return len(killed), fmt.Errorf("%d processes of the driver still exist %s after they were killed", alive, endWait)
		case <-tick.C:
		}
	}
}

// reap collects the exit status of an adopted orphan. It ignores a child of Start, because another goroutine collects the
// exit status of that child.
func reap(pid int) {
	if awaited.has(pid) {
		return
	}
	var status unix.WaitStatus
	_, _ = unix.Wait4(pid, &status, unix.WNOHANG, nil)
}

// Info describes a process as in /proc.
type Info struct {
	PID     int
	Parent  int
	Name    string
	Zombie  bool
	Stopped bool   // stopped by a signal, see signal(7)
	Ticks   uint64 // user and system CPU time, in clock ticks
	Pages   uint64 // resident memory, in pages
}

// Descendants returns all descendants of a process, including zombies, ordered by process ID.
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

// list reads all processes of the PID namespace. It omits processes that end during the call.
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

// parseStat parses the needed fields of /proc/PID/stat; see proc(5). The process name is in parentheses and may contain any
// character.
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
