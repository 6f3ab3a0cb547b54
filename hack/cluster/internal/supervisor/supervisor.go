// Package supervisor runs the cluster as process 1 of its own PID namespace. It prepares the other namespaces, starts
// the daemons and restarts them. When it ends, everything in the namespaces ends with it.
package supervisor

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/knee-bench/knee/hack/cluster/internal/cgroup"
	"github.com/knee-bench/knee/hack/cluster/internal/control"
	"github.com/knee-bench/knee/hack/cluster/internal/state"
)

// DaemonsCgroup is the child of the cluster's cgroup that contains the daemons. The kubelet's cgroup kubepods is next
// to it.
const DaemonsCgroup = "daemons"

// startDeadline is the time limit until the cluster is ready. A start takes seconds on an idle machine and a minute on
// a busy one.
const startDeadline = 3 * time.Minute

// Listeners are opened in the host's network namespace, because the supervisor starts in its own network namespace. The
// supervisor inherits them as files 3 and 4.
type Listeners struct {
	API     net.Listener // on 127.0.0.1 of the host
	Control net.Listener // a unix socket
}

type supervisor struct {
	config state.Config
	began  time.Time
	reaper *reaper

	stopOnce sync.Once
	stop     chan struct{}

	mu      sync.Mutex // protects the fields below
	phase   control.Phase
	daemons map[string]*daemon // set once, by prepare
	events  []control.Event
	more    chan struct{} // closed and replaced at each event
}

// Run runs the cluster of the state directory until it is requested to stop. programs is the folder with two more
// programs: pause, for the image of the pod sandboxes, and a wrapper of runc.
func Run(dir state.Dir, listeners Listeners, programs string) error {
	if os.Getpid() != 1 {
		return errors.New("supervise is started by `knee-cluster up`, in namespaces of its own")
	}
	s := &supervisor{began: time.Now(), stop: make(chan struct{}), more: make(chan struct{}), phase: control.Starting}
	// Serve first, before anything can fail: waiting commands must see the error.
	go func() { log.Printf("control socket: %v", control.Serve(listeners.Control, s)) }()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		s.Stop()
	}()

	pause, err := os.ReadFile(filepath.Join(programs, "pause"))
	if err == nil {
		err = s.prepare(dir, filepath.Join(programs, "runc-open-files"))
	}
	if err == nil {
		go tunnel(listeners.API)
		ctx, cancel := context.WithTimeout(context.Background(), startDeadline)
		go func() {
			defer cancel()
			<-s.stop
		}()
		err = s.start(ctx, pause)
		cancel()
	}
	if err != nil {
		s.event(control.Failed, "%v", err)
	} else {
		s.event(control.Ready, "the cluster is ready")
	}
	<-s.stop
	s.event(control.Stopping, "stopping")
	s.shutdown()
	return nil
}

// prepare prepares the namespaces and the files, and makes the daemons.
func (s *supervisor) prepare(dir state.Dir, runcWrapper string) error {
	wrapper, err := os.ReadFile(runcWrapper) // read before the mounts, which may cover the file
	if err != nil {
		return err
	}
	config, found, err := dir.LoadConfig()
	if err != nil || !found {
		return errors.Join(err, fmt.Errorf("no configuration in %s", dir))
	}
	s.config = config
	if err := cgroup.Enter(filepath.Join(config.CgroupRoot, DaemonsCgroup)); err != nil {
		return err
	}
	if err := enterNamespaces(dir, config.Name); err != nil {
		return err
	}
	in := state.Inside
	// Policies is the outcome file of the last start.
	if err := errors.Join(os.RemoveAll(in.Path("tmp")), os.RemoveAll(in.Policies())); err != nil {
		return err
	}
	for _, sub := range []string{"tmp", "log", "pv", "etc", "volume-plugins"} {
		if err := os.MkdirAll(in.Path(sub), 0o755); err != nil {
			return err
		}
	}
	snapshotter, err := chooseSnapshotter()
	if err != nil {
		return err
	}
	runc, err := s.openFiles(wrapper)
	if err != nil {
		return err
	}
	if err := writeConfigs(config, snapshotter, runc); err != nil {
		return err
	}
	if err := writeKubeconfigs(); err != nil {
		return err
	}
	s.reaper = newReaper()
	daemons, err := newDaemons(config, s.reaper)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.daemons = daemons
	return err
}

// shutdown stops the daemons in groups. The daemons that act on the cluster stop first, so they repair nothing during
// the shutdown. Pods are not stopped: they end with the PID namespace, as in a power failure.
func (s *supervisor) shutdown() {
	for _, group := range [][]string{
		{kubelet, kubeProxy, coredns, provision, networkPolicies, scheduler, controllerManager},
		{containerd, apiserver},
		{etcd},
	} {
		for _, name := range group {
			if d := s.daemons[name]; d != nil && d.cancel != nil {
				d.cancel()
			}
		}
		for _, name := range group {
			if d := s.daemons[name]; d != nil && d.cancel != nil {
				<-d.stopped // closed within the grace period
			}
		}
	}
}

// Stop implements control.Target.
func (s *supervisor) Stop() { s.stopOnce.Do(func() { close(s.stop) }) }

// Status implements control.Target.
func (s *supervisor) Status() control.Status {
	s.mu.Lock()
	status, daemons := control.Status{Phase: s.phase}, s.daemons
	s.mu.Unlock()
	for _, name := range DaemonNames() {
		if d := daemons[name]; d != nil {
			status.Daemons = append(status.Daemons, d.snapshot())
		}
	}
	return status
}

// Events implements control.Target.
func (s *supervisor) Events(i int) ([]control.Event, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events[min(i, len(s.events)):]), s.more
}

// event logs a step and notifies watching commands.
func (s *supervisor) event(phase control.Phase, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	log.Printf("%s: %s", phase, text)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase = phase
	s.events = append(s.events, control.Event{Time: time.Now(), Phase: phase, Text: text})
	close(s.more)
	s.more = make(chan struct{})
}
