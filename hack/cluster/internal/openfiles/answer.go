package openfiles

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"net"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// notification is the struct seccomp_notif of the kernel.
type notification struct {
	id         uint64
	pid, flags uint32
	call       int32
	arch       uint32
	at         uint64
	args       [6]uint64
}

// reply is the struct seccomp_notif_resp of the kernel.
type reply struct {
	id      uint64
	value   int64
	failure int32 // negative errno; 0: success
	flags   uint32
}

const goOn = 1 // SECCOMP_USER_NOTIF_FLAG_CONTINUE: the kernel executes the call itself

// Serve receives a file descriptor for each container from runc, over a socket. The kernel reports the container's
// system calls on this file. Serve answers these calls as long as the container lives. It returns when the socket is
// closed.
func Serve(socket *net.UnixListener) error {
	for {
		conn, err := socket.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return err
		}
		if err != nil { // for example too many open files, which may pass
			log.Printf("open files: %v", err)
			time.Sleep(100 * time.Millisecond)
			continue
		}
		go func() {
			defer func() { _ = conn.Close() }()
			fds, err := receive(conn)
			if err != nil {
				log.Printf("open files: runc's message: %v", err)
			}
			for _, fd := range fds {
				go func() {
					defer func() { _ = unix.Close(fd) }()
					if err := answer(fd); err != nil {
						log.Printf("open files: %v", err)
					}
				}()
			}
		}()
	}
}

// receive returns the file descriptors of one message. It ignores which container they belong to.
func receive(conn *net.UnixConn) ([]int, error) {
	state, rights := make([]byte, 1<<16), make([]byte, unix.CmsgSpace(4*8))
	_, n, flags, _, err := conn.ReadMsgUnix(state, rights)
	if err != nil {
		return nil, err
	}
	if flags&unix.MSG_CTRUNC != 0 {
		return nil, errors.New("the container's file was lost: are too many files open?")
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil {
		return nil, err
	}
	var fds []int
	for i := range messages {
		more, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return fds, err
		}
		fds = append(fds, more...)
	}
	return fds, nil
}

// answer answers every system call that the kernel reports on the file. It returns when no process is left that could
// make one.
func answer(fd int) error {
	for {
		// Poll first: the receiving ioctl would wait forever if no process is left.
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		switch _, err := unix.Poll(ready, -1); {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return fmt.Errorf("poll: %w", err)
		case ready[0].Revents&unix.POLLIN != 0:
		case ready[0].Revents&(unix.POLLHUP|unix.POLLNVAL) != 0:
			return nil
		default: // no event; for example, a signal interrupted the kernel
			continue
		}
		var asked notification
		switch err := control(fd, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&asked)); {
		case errors.Is(err, unix.ENOENT): // the calling process was killed
			continue
		case err != nil:
			return fmt.Errorf("taking a notification: %w", err)
		}
		told := tell(fd, asked)
		if err := control(fd, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&told)); err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("answering a notification: %w", err)
		}
	}
}

// tell writes the limit into the memory of the calling process. If this fails, the kernel executes the call itself. The
// kernel also executes the calls of 32-bit processes, because their calls have other numbers and their limits are
// smaller.
func tell(fd int, asked notification) reply {
	if asked.call != unix.SYS_PRLIMIT64 && asked.call != unix.SYS_GETRLIMIT {
		return reply{id: asked.id, flags: goOn}
	}
	limit := make([]byte, 0, 16) // struct rlimit64
	limit = binary.NativeEndian.AppendUint64(limit, Wanted)
	limit = binary.NativeEndian.AppendUint64(limit, Wanted)
	address := asked.args[3] // fourth argument of prlimit64
	if asked.call == unix.SYS_GETRLIMIT {
		address = asked.args[1]
	}
	to := []unix.RemoteIovec{{Base: uintptr(address), Len: len(limit)}}
	from := []unix.Iovec{{Base: &limit[0]}}
	from[0].SetLen(len(limit))
	// Check the notification again: the process id may belong to another process now.
	if err := control(fd, unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&asked.id)); err != nil {
		return reply{id: asked.id, flags: goOn}
	}
	if _, err := unix.ProcessVMWritev(int(asked.pid), from, to, 0); err != nil {
		return reply{id: asked.id, flags: goOn}
	}
	return reply{id: asked.id}
}

// control makes an ioctl call, again if a signal interrupted it.
func control(fd int, request uint, argument unsafe.Pointer) error {
	for {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(argument))
		switch errno {
		case unix.EINTR:
		case 0:
			return nil
		default:
			return errno
		}
	}
}
