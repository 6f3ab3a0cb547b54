package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/knee-bench/knee/hack/cluster/internal/control"
	"github.com/knee-bench/knee/hack/cluster/internal/process"
)

// status is what `knee-cluster status -o json` prints.
type status struct {
	control.Status
	Node       string `json:"node"`
	Supervisor int    `json:"supervisorPID"`
	Kubeconfig string `json:"kubeconfig"`
	CgroupRoot string `json:"cgroupRoot"`
}

func statusCommand(c *cluster) *cobra.Command {
	var output string
	command := &cobra.Command{
		Use: "status", Short: "Show the cluster's daemons; exit status 0 ready, 1 not ready, 3 down", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(command.Context(), 10*time.Second)
			defer cancel()
			s, err := c.status(ctx)
			if err != nil {
				return err
			}
			if output == "json" {
				encoder := json.NewEncoder(os.Stdout)
				encoder.SetIndent("", "  ")
				err = encoder.Encode(s)
			} else {
				err = s.print()
			}
			if err == nil && s.Phase != control.Ready {
				err = fmt.Errorf("the cluster is not ready: %s", s.Phase)
			}
			return err
		},
	}
	command.Flags().StringVarP(&output, "output", "o", "", "json")
	return command
}

func (c *cluster) status(ctx context.Context) (s status, err error) {
	supervisor, err := c.running()
	if err != nil {
		return s, err
	}
	config, _, err := c.dir.LoadConfig()
	if err != nil {
		return s, err
	}
	s = status{Node: config.Name, Supervisor: supervisor.PID, Kubeconfig: c.dir.Kubeconfig(), CgroupRoot: config.CgroupRoot}
	if s.Status, err = control.NewClient(c.dir.Control()).Status(ctx); err != nil {
		return s, err
	}
	pids, err := process.HostPIDs(supervisor.PID)
	if err != nil {
		return s, err
	}
	for i := range s.Daemons {
		s.Daemons[i].HostPID = pids[s.Daemons[i].PID]
	}
	return s, nil
}

func (s status) print() error {
	fmt.Printf("%s  node %s, supervisor %d, cgroup %s\n", s.Phase, s.Node, s.Supervisor, s.CgroupRoot)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "DAEMON\tPID\tAGE\tRESTARTS\tLAST EXIT")
	for _, d := range s.Daemons {
		age := "-"
		if d.PID != 0 {
			age = time.Since(d.Started).Round(time.Second).String()
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%d\t%s\n", d.Name, d.HostPID, age, d.Restarts, d.LastExit)
	}
	return table.Flush()
}

func execCommand(c *cluster) *cobra.Command {
	return &cobra.Command{
		Use: "exec -- COMMAND [ARG...]", Short: "Run a command in the cluster's namespaces", Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			supervisor, err := c.running()
			if err != nil {
				return err
			}
			// A mount namespace can only be entered by a process with one thread. Go programs have several, so nsenter
			// does it.
			argv := []string{"nsenter", fmt.Sprintf("--target=%d", supervisor.PID), "--mount", "--uts", "--ipc", "--net", "--pid", "--"}
			return fmt.Errorf("nsenter (package util-linux): %w", syscall.Exec("/usr/bin/nsenter", append(argv, args...), withoutKubeconfig(os.Environ())))
		},
	}
}

// withoutKubeconfig removes KUBECONFIG: the host's kubeconfig contains the port on the host, which does not exist in
// the cluster.
func withoutKubeconfig(environment []string) []string {
	var kept []string
	for _, variable := range environment {
		if !strings.HasPrefix(variable, "KUBECONFIG=") {
			kept = append(kept, variable)
		}
	}
	return append(kept, "KUBECONFIG=/run/knee/etc/admin.kubeconfig")
}
