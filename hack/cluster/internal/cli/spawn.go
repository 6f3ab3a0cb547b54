package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/knee-bench/knee/hack/cluster/internal/cgroup"
	"github.com/knee-bench/knee/hack/cluster/internal/host"
	"github.com/knee-bench/knee/hack/cluster/internal/process"
	"github.com/knee-bench/knee/hack/cluster/internal/state"
	"github.com/knee-bench/knee/hack/cluster/internal/supervisor"
)

// listenAPI opens the API server's port on the host. If the port of the last start is still free, listenAPI uses this
// port again, so copies of the kubeconfig stay valid.
func listenAPI(config *state.Config) (*net.TCPListener, error) {
	var listener net.Listener
	var listening net.ListenConfig
	err := errors.New("no port yet")
	if config.APIPort != 0 {
		listener, err = listening.Listen(context.Background(), "tcp", fmt.Sprintf("127.0.0.1:%d", config.APIPort))
	}
	if err != nil {
		if listener, err = listening.Listen(context.Background(), "tcp", "127.0.0.1:0"); err != nil {
			return nil, err
		}
	}
	config.APIPort = listener.Addr().(*net.TCPAddr).Port
	return listener.(*net.TCPListener), nil
}

// prepareHost prepares the host for the supervisor: kernel modules and cgroups. Until the supervisor runs, this process
// is registered as the one that needs these changes.
func (c *cluster) prepareHost(config state.Config) error {
	this := host.ThisHost(alive)
	if err := this.LoadModules(); err != nil {
		return err
	}
	self, err := identify(os.Getpid())
	if err != nil {
		return err
	}
	if err := this.Hold(c.dir, self); err != nil {
		return err
	}
	return cgroup.Create(config.CgroupRoot, supervisor.DaemonsCgroup, this.RememberControllers)
}

// spawn starts the supervisor in its own namespaces, detached from this command, and records its process.
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
	programs := filepath.Join(filepath.Dir(program), "k8s")
	// The supervisor continues after this command, so it gets a context that is never cancelled.
	command := exec.CommandContext(context.Background(), program, "supervise", "--dir", string(c.dir), "--programs", programs)
	command.Dir = "/"
	command.Stdout, command.Stderr = output, output
	command.ExtraFiles = []*os.File{api, requests}
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: supervisor.CloneFlags, Setsid: true}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting the supervisor in namespaces of its own: %w", err)
	}
	if err := c.record(command.Process.Pid); err != nil {
		return nil, errors.Join(err, abandon(command))
	}
	return command, nil
}

// record records the supervisor's identity and sets the node's sysctls.
func (c *cluster) record(pid int) error {
	identity, err := identify(pid)
	if err != nil {
		return err
	}
	if err := c.dir.SaveSupervisor(identity); err != nil {
		return err
	}
	return host.ThisHost(alive).Apply(c.dir, identity)
}

// identify returns the identity of a process. It distinguishes the process from a later one with the same id.
func identify(pid int) (state.Supervisor, error) {
	boot, err := process.BootID()
	started, _ := process.StartTime(pid)
	return state.Supervisor{PID: pid, StartTime: started, BootID: boot}, err
}

// abandon kills a supervisor that could not be recorded, because no later command would find it. The supervisor is
// process 1 of its PID namespace, so all its processes end with it.
func abandon(command *exec.Cmd) error {
	if err := command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	// command.Wait has no deadline, so wait with process.Wait first.
	killing, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := process.Wait(killing, command.Process.Pid); err != nil {
		return fmt.Errorf("the supervisor (process %d) is %w after SIGKILL", command.Process.Pid, err)
	}
	_ = command.Wait() // the error only reports that it was killed
	return nil
}
