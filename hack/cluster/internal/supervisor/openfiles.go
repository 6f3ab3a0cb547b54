package supervisor

import (
	"errors"
	"io/fs"
	"log"
	"net"
	"os"

	"github.com/knee-bench/knee/hack/cluster/internal/control"
	"github.com/knee-bench/knee/hack/cluster/internal/openfiles"
	"github.com/knee-bench/knee/hack/cluster/internal/state"
)

// openFiles raises the limit of open files for all processes of the cluster. If the limit cannot be raised far enough,
// containers get a faked answer (see package openfiles). Then openFiles returns the program that containerd must call
// instead of runc.
func (s *supervisor) openFiles(wrapper []byte) (runc string, err error) {
	limit, err := openfiles.Raise()
	if err != nil || limit >= openfiles.Wanted {
		return "", err
	}
	runc, socket := state.Inside.Path("etc", "runc-open-files"), state.Inside.Path("etc", "open-files.sock")
	if err := state.WriteFile(runc, wrapper, 0o755); err != nil {
		return "", err
	}
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) { // socket of the last start
		return "", err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return "", err
	}
	go func() { log.Printf("open files: %v", openfiles.Serve(listener)) }()
	s.event(control.Starting, "containers with a seccomp profile are told that they may open %d files, so that OpenSearch of several nodes starts; this machine allows %d, and no more can be had",
		openfiles.Wanted, limit)
	return runc, nil
}
