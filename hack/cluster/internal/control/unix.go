package control

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// The address of a unix socket holds at most 107 bytes. The path of a socket in a working copy may be longer. The
// functions in this file open the directory and use a short path through it.

// DialUnix connects to a unix socket whose path may have any length.
func DialUnix(ctx context.Context, socket string) (net.Conn, error) {
	dir, short, err := shorten(socket)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return (&net.Dialer{}).DialContext(ctx, "unix", short)
}

// ListenUnix makes a unix socket whose path may have any length. The socket's file is not removed when the listener is
// closed.
func ListenUnix(socket string) (*net.UnixListener, error) {
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	dir, short, err := shorten(socket)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false)
	return listener, nil
}

func shorten(socket string) (*os.File, string, error) {
	dir, err := os.Open(filepath.Dir(socket))
	if err != nil {
		return nil, "", err
	}
	return dir, fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(socket)), nil
}
