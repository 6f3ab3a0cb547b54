// Package cli is the command line of knee-cluster. It runs on the host.
package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/knee-bench/knee/hack/cluster/internal/components"
	"github.com/knee-bench/knee/hack/cluster/internal/netpol"
	"github.com/knee-bench/knee/hack/cluster/internal/process"
	"github.com/knee-bench/knee/hack/cluster/internal/provisioner"
	"github.com/knee-bench/knee/hack/cluster/internal/state"
)

// ErrDown is returned by commands that need a running cluster.
var ErrDown = errors.New("the cluster is down; `make cluster-up` starts it")

// Run runs the command line and returns the exit status.
func Run(args []string) int {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	root := rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, ErrDown):
		fmt.Fprintln(os.Stderr, "knee-cluster:", err)
		return 3 // as for a service that is not running (LSB)
	}
	fmt.Fprintln(os.Stderr, "knee-cluster:", err)
	return 1
}

// cluster is a cluster, named by its state directory.
type cluster struct{ dir state.Dir }

func rootCommand() *cobra.Command {
	c := &cluster{}
	var dir string
	root := &cobra.Command{
		Use:           "knee-cluster",
		Short:         "A single-node Kubernetes in namespaces of its own",
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if dir == "" {
				dir = defaultDir()
			}
			absolute, err := filepath.Abs(dir)
			c.dir = state.Dir(absolute)
			return err
		},
	}
	root.PersistentFlags().StringVar(&dir, "dir", "", "state directory (default .cluster beside the bin folder that this program is in)")
	root.AddCommand(upCommand(c), downCommand(c), statusCommand(c), importCommand(c), execCommand(c), packCommand(), superviseCommand(c), provisionerCommand(), networkPoliciesCommand())
	root.AddCommand(componentCommands()...)
	return root
}

// defaultDir returns .cluster in the root of the working copy. The program is in the folder bin of the working copy.
func defaultDir() string {
	program, err := os.Executable()
	if err != nil {
		return ".cluster"
	}
	return filepath.Join(filepath.Dir(filepath.Dir(program)), ".cluster")
}

// alive reports whether the supervisor's process still runs.
func alive(supervisor state.Supervisor) bool {
	boot, err := process.BootID()
	if err != nil || boot != supervisor.BootID {
		return false
	}
	started, running := process.StartTime(supervisor.PID)
	return running && started == supervisor.StartTime
}

// running returns the supervisor's process, or ErrDown.
func (c *cluster) running() (state.Supervisor, error) {
	supervisor, found, err := c.dir.LoadSupervisor()
	if err != nil {
		return supervisor, err
	}
	if !found || !alive(supervisor) {
		return supervisor, ErrDown
	}
	return supervisor, nil
}

func needRoot(what string) error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("%s needs root: it makes namespaces and mounts; run it with sudo", what)
	}
	return nil
}

// componentCommands returns commands to call a component as `knee-cluster COMPONENT ...`, without its symlink.
func componentCommands() []*cobra.Command {
	var commands []*cobra.Command
	for _, name := range components.Names() {
		commands = append(commands, &cobra.Command{
			Use: name, Short: "Run " + name + " itself", DisableFlagParsing: true, Hidden: true,
			Run: func(_ *cobra.Command, args []string) {
				os.Args = append([]string{name}, args...)
				components.Lookup(name)()
			},
		})
	}
	return commands
}

func networkPoliciesCommand() *cobra.Command {
	var kubeconfig, nodeIP, outcome string
	command := &cobra.Command{
		Use: "network-policies", Short: "Enforce NetworkPolicies (started by the supervisor)", Hidden: true, Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return netpol.Run(command.Context(), kubeconfig, nodeIP, outcome)
		},
	}
	command.Flags().StringVar(&kubeconfig, "kubeconfig", "", "how to reach the API server")
	command.Flags().StringVar(&nodeIP, "node-ip", "", "the node's address, which reaches every pod")
	command.Flags().StringVar(&outcome, "outcome", "", "file that tells whether policies are enforced")
	return command
}

func provisionerCommand() *cobra.Command {
	var kubeconfig, root string
	command := &cobra.Command{
		Use: "provisioner", Short: "Provide the default StorageClass (started by the supervisor)", Hidden: true, Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			ctx := klog.NewContext(command.Context(), klog.Background())
			return provisioner.Run(ctx, kubeconfig, root)
		},
	}
	command.Flags().StringVar(&kubeconfig, "kubeconfig", "", "how to reach the API server")
	command.Flags().StringVar(&root, "root", "", "directory in which volumes are made")
	return command
}
