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

// openFiles raises the limit of open files for all that the cluster runs. Where it cannot be raised far enough, the
// containers are told that it was; then what containerd is to call in runc's place is returned.
func (s *supervisor) openFiles(wrapper []byte) (runc string, err error) {
	limit, err := openfiles.Raise()
	if err != nil || limit >= openfiles.Wanted {
		return "", err
	}
	runc, socket := state.Inside.Path("etc", "runc-open-files"), state.Inside.Path("etc", "open-files.sock")
	if err := state.WriteFile(runc, wrapper, 0o755); err != nil {
		return "", err
	}
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) { // of the last time
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
