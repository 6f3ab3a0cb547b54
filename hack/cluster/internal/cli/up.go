package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/knee-bench/knee/hack/cluster/internal/control"
	"github.com/knee-bench/knee/hack/cluster/internal/pki"
	"github.com/knee-bench/knee/hack/cluster/internal/state"
	"github.com/knee-bench/knee/hack/cluster/internal/supervisor"
)

type upOptions struct {
	name     string
	port     int
	args     []string
	deadline time.Duration
}

func upCommand(c *cluster) *cobra.Command {
	var o upOptions
	command := &cobra.Command{
		Use: "up", Short: "Start the cluster, with the state that it had", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(command.Context(), o.deadline)
			defer cancel()
			return c.up(ctx, o)
		},
	}
	command.Flags().StringVar(&o.name, "name", "knee", "name of the node (of a new cluster)")
	command.Flags().IntVar(&o.port, "port", 0, "port of the API server on 127.0.0.1 (default: a free one, kept)")
	command.Flags().StringArrayVar(&o.args, "arg", nil, "DAEMON:FLAG to add to a daemon's flags, repeated; replaces those of an earlier up")
	command.Flags().DurationVar(&o.deadline, "deadline", 5*time.Minute, "give up after this time")
	return command
}

// progress prints lines with the time since the command began.
type progress time.Time

func (p progress) say(format string, args ...any) {
	fmt.Printf("%6.1fs  %s\n", time.Since(time.Time(p)).Seconds(), fmt.Sprintf(format, args...))
}

func (c *cluster) up(ctx context.Context, o upOptions) error {
	p := progress(time.Now())
	release, err := lock(ctx, c.dir, 4*time.Minute)
	if err != nil {
		return err
	}
	defer release()
	_, err = c.running()
	switch {
	case err == nil:
		if err := c.watch(ctx, p, true); err != nil {
			return fmt.Errorf("%w; `knee-cluster down` ends it", err)
		}
	case errors.Is(err, ErrDown):
		if err := needRoot("knee-cluster up"); err != nil {
			return err
		}
		if err := c.startSupervisor(ctx, p, o); err != nil {
			return err
		}
	default:
		return err
	}
	if err := c.writeKubeconfig(); err != nil {
		return err
	}
	if err := c.checkAPI(ctx); err != nil {
		return err
	}
	p.say("up: export KUBECONFIG=%s", c.dir.Kubeconfig())
	return nil
}

// startSupervisor starts the cluster. If the start fails, no process is left.
func (c *cluster) startSupervisor(ctx context.Context, p progress, o upOptions) (err error) {
	// Remove the leftovers of a cluster that crashed.
	if err := c.cleanUp(ctx); err != nil {
		return fmt.Errorf("cleaning up after a cluster that did not stop by itself: %w", err)
	}
	config, err := c.configure(o)
	if err != nil {
		return err
	}
	listener, err := listenAPI(&config)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()
	if err := c.dir.SaveConfig(config); err != nil {
		return err
	}
	socket, err := control.ListenUnix(c.dir.Control())
	if err != nil {
		return err
	}
	defer func() { _ = socket.Close() }()
	if err := pki.Ensure(c.dir.PKI(), pki.Identities(config.Name, supervisor.NodeIP, supervisor.ServiceIP)); err != nil {
		return err
	}
	if err := c.prepareHost(config); err != nil {
		return errors.Join(err, c.cleanUp(ctx))
	}
	command, err := c.spawn(listener, socket)
	if err != nil {
		return errors.Join(err, c.cleanUp(ctx))
	}
	p.say("supervisor runs as process %d", command.Process.Pid)
	defer func() {
		if err != nil {
			// ctx may have ended; that may even be the reason for the failure. So stop needs its own context.
			stopping, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			err = errors.Join(err, c.stop(stopping))
		}
	}()
	// If the supervisor ends before the cluster is ready, stop watching for its events.
	watching, cancel := context.WithCancelCause(ctx)
	go func() {
		ended := fmt.Sprint(command.Wait()) // not %w: the error is nil if the exit status is 0
		cancel(fmt.Errorf("the supervisor ended: %s%s", ended, supervisor.Tail(c.dir.Log("supervisor"), 15)))
	}()
	err = c.watch(watching, p, false)
	if ctx.Err() == nil && watching.Err() != nil {
		return context.Cause(watching)
	}
	return err
}

var nodeName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?$`)

// configure loads the configuration of the last start and applies the flags of the command line.
func (c *cluster) configure(o upOptions) (state.Config, error) {
	config, found, err := c.dir.LoadConfig()
	if err != nil {
		return config, err
	}
	if !found {
		if !nodeName.MatchString(o.name) {
			return config, fmt.Errorf("--name %q is not a node name of at most 32 lower-case letters, digits and dashes", o.name)
		}
		config.Name = o.name
	}
	// Compute the cgroup at each start: the directory may have been moved.
	config.CgroupRoot = state.CgroupRoot(config.Name, c.dir)
	if o.port != 0 {
		config.APIPort = o.port
	}
	config.ExtraArgs, err = parseArgs(o.args)
	return config, err
}

// parseArgs reads DAEMON:FLAG pairs.
func parseArgs(args []string) (map[string][]string, error) {
	known := map[string]bool{}
	for _, name := range supervisor.DaemonNames() {
		known[name] = true
	}
	parsed := map[string][]string{}
	for _, arg := range args {
		daemon, flag, ok := strings.Cut(arg, ":")
		if !ok || !known[daemon] || flag == "" {
			return nil, fmt.Errorf("--arg %q is not DAEMON:FLAG with one of the daemons %s", arg, strings.Join(supervisor.DaemonNames(), ", "))
		}
		parsed[daemon] = append(parsed[daemon], flag)
	}
	return parsed, nil
}

// watch prints the supervisor's steps until the cluster is ready. If the deadline passes, its error names the daemons
// that are not ready.
func (c *cluster) watch(ctx context.Context, p progress, quiet bool) error {
	client := control.NewClient(c.dir.Control())
	err := client.Watch(ctx, func(event control.Event) {
		if !quiet {
			p.say("%s", event.Text)
		}
	})
	if err == nil || ctx.Err() == nil {
		return err
	}
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	status, statusErr := client.Status(asking)
	if statusErr != nil {
		return err
	}
	for _, d := range status.Daemons {
		if d.Waiting != "" {
			err = fmt.Errorf("%w; waiting for %s: %s%s", err, d.Name, d.Waiting, supervisor.Tail(c.dir.Log(d.Name), 15))
		}
	}
	return err
}

// writeKubeconfig writes the administrator's kubeconfig. The owner of the file is the owner of the folder that contains
// the state directory, usually the working copy.
func (c *cluster) writeKubeconfig() error {
	config, found, err := c.dir.LoadConfig()
	if err != nil || !found {
		return errors.Join(err, ErrDown)
	}
	data, err := pki.Kubeconfig(c.dir.PKI(), "admin", config.Name, fmt.Sprintf("https://127.0.0.1:%d", config.APIPort))
	if err != nil {
		return err
	}
	if err := state.WriteFile(c.dir.Kubeconfig(), data, 0o600); err != nil {
		return err
	}
	info, err := os.Stat(filepath.Dir(string(c.dir)))
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t)
	return os.Chown(c.dir.Kubeconfig(), int(owner.Uid), int(owner.Gid))
}

// checkAPI sends a request to the API server over the host's port.
func (c *cluster) checkAPI(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", c.dir.Kubeconfig())
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := client.Discovery().RESTClient().Get().AbsPath("/readyz").MaxRetries(10).Do(ctx).Error(); err != nil {
		return fmt.Errorf("the API server does not answer at %s: %w%s", config.Host, err, supervisor.Tail(c.dir.Log("kube-apiserver"), 10))
	}
	return nil
}
