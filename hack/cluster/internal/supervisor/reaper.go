package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/knee-bench/knee/hack/cluster/internal/state"
)

// A reaper starts processes and collects the exit status of every child of this process. The supervisor is process 1 of
// its PID namespace, so orphans become its children, for example containerd's shims. No other code in the supervisor
// may start or wait for a process.
type reaper struct {
	mu      sync.Mutex
	waiting map[int]chan syscall.WaitStatus
}

func newReaper() *reaper {
	r := &reaper{waiting: map[int]chan syscall.WaitStatus{}}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	go func() {
		for range ended {
			r.collect()
		}
	}()
	return r
}

// start runs a program. The channel receives the program's wait status when it ends.
func (r *reaper) start(path string, argv []string, attr *syscall.ProcAttr) (pid int, ended <-chan syscall.WaitStatus, err error) {
	// The lock keeps collect from handling a process that ends immediately, before it is in waiting.
	r.mu.Lock()
	defer r.mu.Unlock()
	pid, err = syscall.ForkExec(path, argv, attr)
	if err != nil {
		return 0, nil, &os.PathError{Op: "exec", Path: path, Err: err}
	}
	channel := make(chan syscall.WaitStatus, 1)
	r.waiting[pid] = channel
	return pid, channel, nil
}

// collect collects all ended processes. One call may handle several, because signals that arrive together count once.
func (r *reaper) collect() {
	for {
		r.mu.Lock()
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if err == nil && pid > 0 {
			if channel := r.waiting[pid]; channel != nil {
				channel <- status
				delete(r.waiting, pid)
			}
		}
		r.mu.Unlock()
		if pid <= 0 && !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// runOnce runs a program until it ends and returns its output.
func (r *reaper) runOnce(ctx context.Context, path string, argv ...string) (string, error) {
	output, err := os.CreateTemp(state.Inside.Path("tmp"), argv[0]+"-*.log")
	if err != nil {
		return "", err
	}
	defer os.Remove(output.Name())
	defer output.Close()
	pid, ended, err := r.start(path, argv, &syscall.ProcAttr{
		Dir: "/", Env: environment(), Files: []uintptr{0, output.Fd(), output.Fd()},
	})
	if err != nil {
		return "", err
	}
	var status syscall.WaitStatus
	var late error
	select {
	case status = <-ended:
	case <-ctx.Done():
		_ = syscall.Kill(pid, syscall.SIGKILL)
		status, late = <-ended, ctx.Err()
	}
	data, err := os.ReadFile(output.Name())
	if err != nil {
		return "", err
	}
	if status != 0 {
		return "", errors.Join(fmt.Errorf("%s: %s: %s", strings.Join(argv, " "), describe(status), strings.TrimSpace(string(data))), late)
	}
	return string(data), nil
}
