// Package process finds, identifies and waits for processes of this host.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// BootID returns an id that changes with each boot of the machine.
func BootID() (string, error) {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(data)), err
}

// StartTime returns when a living process was started, in clock ticks since boot. A zombie is not alive.
func StartTime(pid int) (ticks uint64, alive bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	return parseStat(string(data))
}

// parseStat reads the state (field 3) and the start time (field 22) of a /proc/PID/stat line, see proc(5). The command
// (field 2) may contain spaces and parentheses, so the fields are counted from its last parenthesis.
func parseStat(line string) (ticks uint64, alive bool) {
	end := strings.LastIndexByte(line, ')')
	if end < 0 {
		return 0, false
	}
	fields := strings.Fields(line[end+1:])
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return 0, false
	}
	ticks, err := strconv.ParseUint(fields[19], 10, 64)
	return ticks, err == nil
}

// ErrStillRunning is returned by Wait at its deadline.
var ErrStillRunning = errors.New("still running")

// Wait waits until the process has ended. The process need not be a child.
func Wait(ctx context.Context, pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("pidfd_open of process %d: %w", pid, err)
	}
	defer func() { _ = unix.Close(fd) }()
	for {
		timeout := 10 * time.Second
		if deadline, ok := ctx.Deadline(); ok {
			timeout = min(timeout, time.Until(deadline))
		}
		if ctx.Err() != nil || timeout <= 0 {
			return ErrStillRunning
		}
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, int(timeout.Milliseconds())+1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		if n > 0 {
			return nil
		}
	}
}

// HostPIDs maps the process ids in a child PID namespace to the ids in this namespace. init is the id of the child
// namespace's process 1 in this namespace.
func HostPIDs(init int) (map[int]int, error) {
	// This link identifies the namespace of process 1.
	namespace, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", init))
	if err != nil {
		return nil, err
	}
	links, err := filepath.Glob("/proc/[0-9]*/ns/pid")
	if err != nil {
		return nil, err
	}
	pids := map[int]int{}
	for _, link := range links {
		// A process that ends during the loop is left out.
		if target, err := os.Readlink(link); err != nil || target != namespace {
			continue
		}
		status := filepath.Join(filepath.Dir(filepath.Dir(link)), "status")
		data, err := os.ReadFile(status)
		if err != nil {
			continue
		}
		if host, inside, ok := parseNSpid(string(data)); ok {
			pids[inside] = host
		}
	}
	return pids, nil
}

// parseNSpid reads the NSpid line of /proc/PID/status. The first id is that in the reader's PID namespace, the last is
// that in the process's own namespace.
func parseNSpid(status string) (host, inside int, ok bool) {
	for line := range strings.Lines(status) {
		list, found := strings.CutPrefix(line, "NSpid:")
		if !found {
			continue
		}
		fields := strings.Fields(list)
		if len(fields) < 2 {
			return 0, 0, false
		}
		host, err1 := strconv.Atoi(fields[0])
		inside, err2 := strconv.Atoi(fields[len(fields)-1])
		return host, inside, err1 == nil && err2 == nil
	}
	return 0, 0, false
}
