package supervisor

import (
	"context"
	"fmt"
	"log"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/knee-bench/knee/hack/cluster/internal/control"
	"github.com/knee-bench/knee/hack/cluster/internal/state"
)

const (
	// A daemon that ended is started again after a pause which doubles from the
	// first to the last of these, and begins anew once the daemon has stayed up.
	firstPause = 200 * time.Millisecond
	lastPause  = 10 * time.Second
	stayedUp   = 30 * time.Second
	// A daemon that ended this often before it was first ready will not be.
	hopeless = 5
)

// A daemon is one of the cluster's processes, kept running.
type daemon struct {
	name string
	path string
	argv []string
	log  string // file that its output is added to

	reaper *reaper
	// cancel ends the keeping; stopped is closed when the process has ended, too.
	cancel  context.CancelFunc
	stopped chan struct{}
	grace   time.Duration // between SIGTERM and SIGKILL

	mu     sync.Mutex
	status control.Daemon
}

// keep starts the daemon, and starts it again whenever it ends.
func (d *daemon) keep(ctx context.Context) {
	ctx, d.cancel = context.WithCancel(ctx)
	d.stopped = make(chan struct{})
	go func() {
		defer close(d.stopped)
		pause := firstPause
		for {
			began := time.Now()
			reason := d.run(ctx)
			if ctx.Err() != nil {
				return
			}
			if time.Since(began) > stayedUp {
				pause = firstPause
			}
			log.Printf("%s ended (%s) after %s; it starts again in %s", d.name, reason, time.Since(began).Round(time.Millisecond), pause)
			d.update(func(s *control.Daemon) { s.PID, s.LastExit, s.Restarts = 0, reason, s.Restarts+1 })
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
			pause = min(2*pause, lastPause)
		}
	}()
}

// run runs the program once and says how it ended.
func (d *daemon) run(ctx context.Context) string {
	pid, ended, err := d.start()
	if err != nil {
		return err.Error()
	}
	d.update(func(s *control.Daemon) { s.PID, s.Started = pid, time.Now() })
	select {
	case status := <-ended:
		return describe(status)
	case <-ctx.Done():
	}
	_ = syscall.Kill(pid, syscall.SIGTERM) // fails only when it has just ended
	select {
	case status := <-ended:
		return describe(status)
	case <-time.After(d.grace):
		log.Printf("%s did not stop within %s and is killed", d.name, d.grace)
		_ = syscall.Kill(pid, syscall.SIGKILL)
		return describe(<-ended)
	}
}

func (d *daemon) start() (int, <-chan syscall.WaitStatus, error) {
	output, err := openLog(d.log)
	if err != nil {
		return 0, nil, err
	}
	defer output.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, nil, err
	}
	defer null.Close()
	return d.reaper.start(d.path, d.argv, &syscall.ProcAttr{
		Dir:   "/",
		Env:   environment(),
		Files: []uintptr{null.Fd(), output.Fd(), output.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
}

// environment is the daemons': nothing of the caller's, whose proxy settings,
// say, would lead out of the namespace.
func environment() []string {
	return []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=/root",
		"TMPDIR=" + state.Inside.Path("tmp"),
	}
}

func (d *daemon) update(change func(*control.Daemon)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.status)
}

func (d *daemon) snapshot() control.Daemon {
	d.mu.Lock()
	defer d.mu.Unlock()
	status := d.status
	status.Name = d.name
	return status
}

// waitReady polls a check until it succeeds. Its error says why it did not, with
// the end of the daemon's log.
func (d *daemon) waitReady(ctx context.Context, check func(context.Context) error) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		// One attempt may hang without using up the whole deadline.
		attempt, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := check(attempt)
		cancel()
		if err == nil {
			d.update(func(s *control.Daemon) { s.Waiting = "" })
			return nil
		}
		d.update(func(s *control.Daemon) { s.Waiting = err.Error() })
		if status := d.snapshot(); status.Restarts >= hopeless {
			return fmt.Errorf("%s ended %d times (%s)%s", d.name, status.Restarts, status.LastExit, d.logTail())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w%s", d.name, err, d.logTail())
		case <-ticker.C:
		}
	}
}

func (d *daemon) logTail() string {
	return Tail(d.log, 15)
}

// describe says in words how a process ended.
func describe(status syscall.WaitStatus) string {
	switch {
	case status.Signaled():
		return "killed by signal: " + status.Signal().String()
	case status.Exited():
		return fmt.Sprintf("exit status %d", status.ExitStatus())
	}
	return fmt.Sprintf("wait status %#x", uint32(status))
}
