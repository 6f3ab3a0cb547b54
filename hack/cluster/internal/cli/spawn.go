package cli

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/knee-bench/knee/hack/cluster/internal/process"
	"github.com/knee-bench/knee/hack/cluster/internal/state"
	"github.com/knee-bench/knee/hack/cluster/internal/supervisor"
	"github.com/knee-bench/knee/hack/cluster/internal/sysctl"
)

// listenAPI opens the API server's port on the host: the one of the last time if
// it is still free, so that copies of the kubeconfig stay good.
func listenAPI(config *state.Config) (*net.TCPListener, error) {
	var listener net.Listener
	err := errors.New("no port yet")
	if config.APIPort != 0 {
		listener, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", config.APIPort))
	}
	if err != nil {
		if listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return nil, err
		}
	}
	config.APIPort = listener.Addr().(*net.TCPAddr).Port
	return listener.(*net.TCPListener), nil
}

// loadModules loads what a stock Debian has as modules; where they are built in
// there is nothing to load. What is really missing is noticed by who needs it.
func loadModules() {
	if program, err := exec.LookPath("modprobe"); err == nil {
		_ = exec.Command(program, "-q", "-a", "overlay", "br_netfilter", "nf_conntrack").Run()
	}
}

// spawn starts the supervisor in namespaces of its own, detached from this
// command, and writes down which process it is.
func (c *cluster) spawn(listener *net.TCPListener, socket *net.UnixListener) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	api, err := listener.File()
	if err != nil {
		return nil, err
	}
	defer api.Close()
	requests, err := socket.File()
	if err != nil {
		return nil, err
	}
	defer requests.Close()
	if err := os.MkdirAll(c.dir.Path("log"), 0o755); err != nil {
		return nil, err
	}
	output, err := os.OpenFile(c.dir.Log("supervisor"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer output.Close()
	command := exec.Command(program, "supervise", "--dir", string(c.dir), "--pause", filepath.Join(filepath.Dir(program), "k8s", "pause"))
	command.Dir = "/"
	command.Stdout, command.Stderr = output, output
	command.ExtraFiles = []*os.File{api, requests}
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: supervisor.CloneFlags, Setsid: true}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting the supervisor in namespaces of its own: %w", err)
	}
	return command, c.record(command.Process.Pid)
}

// record writes down the supervisor's identity and sets the node's sysctls.
func (c *cluster) record(pid int) error {
	boot, err := process.BootID()
	if err != nil {
		return err
	}
	started, _ := process.StartTime(pid)
	identity := state.Supervisor{PID: pid, StartTime: started, BootID: boot}
	if err := c.dir.SaveSupervisor(identity); err != nil {
		return err
	}
	return sysctl.ThisHost(alive).Apply(c.dir, identity)
}
