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
	// A daemon that ended is restarted after a pause. The pause doubles from firstPause to lastPause. It is firstPause
	// again after the daemon ran for longer than stayedUp.
	firstPause = 200 * time.Millisecond
	lastPause  = 10 * time.Second
	stayedUp   = 30 * time.Second
	// If a daemon ends this often before it is ready for the first time, the start of the cluster fails.
	hopeless = 5
)

// A daemon is one of the cluster's processes. The supervisor restarts it when it ends.
type daemon struct {
	name string
	path string
	argv []string
	log  string // file to which the output is appended

	reaper *reaper
	// cancel stops the daemon and its restarts. After that, stopped is closed when the process has ended.
	cancel  context.CancelFunc
	stopped chan struct{}
	grace   time.Duration // between SIGTERM and SIGKILL

	mu     sync.Mutex
	status control.Daemon
}

// keep starts the daemon and restarts it whenever it ends.
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

// run runs the program once and returns how it ended.
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
	_ = syscall.Kill(pid, syscall.SIGTERM) // fails only if the process has just ended
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

// environment returns the environment of the daemons. It contains nothing of the caller's environment: for example,
// proxy settings would point to addresses outside of the namespace.
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

// waitReady repeats a check until it succeeds. If the check does not succeed in time, the error contains the reason and
// the end of the daemon's log.
func (d *daemon) waitReady(ctx context.Context, check func(context.Context) error) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		// Limit each attempt, so one that hangs does not use up the whole time.
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

// describe returns a text that describes how a process ended.
func describe(status syscall.WaitStatus) string {
	switch {
	case status.Signaled():
		return "killed by signal: " + status.Signal().String()
	case status.Exited():
		return fmt.Sprintf("exit status %d", status.ExitStatus())
	}
	return fmt.Sprintf("wait status %#x", uint32(status))
}
