package openfiles

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// heldUp installs a seccomp filter that reports every prlimit64 and getrlimit of this thread. The profile of a
// container reports only some of these calls.
func heldUp() (fd int, err error) {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_PRLIMIT64, Jt: 1},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_GETRLIMIT, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	const setModeFilter = 1
	n, _, errno := unix.Syscall(unix.SYS_SECCOMP, setModeFilter, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

func TestServe_limitQuery_returnsWantedLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- Serve(listener) }()

	// A filter stays on its thread. The goroutine never unlocks the thread, so the thread ends with the goroutine.
	type outcome struct {
		limits [2]unix.Rlimit
		err    error
	}
	done := make(chan outcome, 1)
	send := make(chan int, 1)
	sent := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		fd, err := heldUp()
		if err != nil {
			done <- outcome{err: os.NewSyscallError("seccomp", err)}
			return
		}
		send <- fd
		if err := <-sent; err != nil {
			done <- outcome{err: err}
			return
		}
		var got outcome
		got.err = errors.Join(unix.Prlimit(0, unix.RLIMIT_NOFILE, nil, &got.limits[0]), unix.Getrlimit(unix.RLIMIT_NOFILE, &got.limits[1]))
		done <- got
	}()
	deadline := time.After(time.Minute)
	for {
		select {
		case fd := <-send: // runc also closes its own copy after it has sent the file
			sent <- hand(path, fd)
			if err := unix.Close(fd); err != nil {
				t.Error(err)
			}
		case got := <-done:
			if got.err != nil {
				t.Fatal(got.err)
			}
			for _, limit := range got.limits {
				if limit != (unix.Rlimit{Cur: Wanted, Max: Wanted}) {
					t.Errorf("the container is told %+v", got.limits)
				}
			}
			if err := listener.Close(); err != nil {
				t.Error(err)
			}
			if err := <-served; !errors.Is(err, net.ErrClosed) {
				t.Errorf("Serve returned %v, want %v", err, net.ErrClosed)
			}
			return
		case <-deadline:
			t.Fatal("no answer within a minute")
		}
	}
}

func hand(path string, fd int) error {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_, _, err = conn.WriteMsgUnix([]byte("{}"), unix.UnixRights(fd), nil)
	return err
}
