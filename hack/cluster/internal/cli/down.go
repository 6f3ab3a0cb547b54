package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/knee-bench/knee/hack/cluster/internal/cgroup"
	"github.com/knee-bench/knee/hack/cluster/internal/control"
	"github.com/knee-bench/knee/hack/cluster/internal/host"
	"github.com/knee-bench/knee/hack/cluster/internal/process"
)

func downCommand(c *cluster) *cobra.Command {
	var wipe bool
	command := &cobra.Command{
		Use: "down", Short: "Stop the cluster and put the host back as it was", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return c.down(command.Context(), wipe)
		},
	}
	command.Flags().BoolVar(&wipe, "wipe", false, "delete the cluster's state, too")
	return command
}

func (c *cluster) down(ctx context.Context, wipe bool) error {
	p := progress(time.Now())
	if _, err := os.Stat(string(c.dir)); errors.Is(err, os.ErrNotExist) {
		p.say("down: there is no cluster in %s", c.dir)
		return nil
	}
	if err := needRoot("knee-cluster down"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 6*time.Minute)
	defer cancel()
	release, err := lock(ctx, c.dir, 4*time.Minute)
	if err != nil {
		return err
	}
	defer release()
	if err := c.stop(ctx); err != nil {
		return err
	}
	if wipe {
		if err := c.wipe(); err != nil {
			return err
		}
		p.say("down: the state in %s is deleted", c.dir)
		return nil
	}
	p.say("down: the state is kept in %s", c.dir)
	return nil
}

// stop ends all processes of the cluster that still run, and removes the cluster's traces from the host.
func (c *cluster) stop(ctx context.Context) error {
	supervisor, err := c.running()
	if err != nil && !errors.Is(err, ErrDown) {
		return err
	}
	if err == nil {
		if err := c.end(ctx, supervisor.PID); err != nil {
			return err
		}
	}
	return c.cleanUp(ctx)
}

// end requests the supervisor to stop. If the supervisor does not stop before the deadline, end kills it. The
// supervisor is process 1 of its PID namespace. So the kernel then kills all other processes of the namespace. The
// kernel reports the end of the supervisor only after the other processes have ended.
func (c *cluster) end(ctx context.Context, pid int) error {
	asking, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := control.NewClient(c.dir.Control()).Stop(asking); err == nil {
		// The daemons stop in three groups. Each group has a grace period of 10 s.
		stopping, cancel := context.WithTimeout(ctx, 35*time.Second)
		defer cancel()
		if process.Wait(stopping, pid) == nil {
			return nil
		}
	}
	fmt.Fprintf(os.Stderr, "knee-cluster: the supervisor (process %d) does not stop and is killed\n", pid)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	killing, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := process.Wait(killing, pid); err != nil {
		return fmt.Errorf("the supervisor (process %d) is %w after SIGKILL; a process of its namespace may hang in the kernel", pid, err)
	}
	return nil
}

// cleanUp removes from the host all traces of a cluster that has stopped.
func (c *cluster) cleanUp(ctx context.Context) error {
	config, found, err := c.dir.LoadConfig()
	if err != nil {
		return err
	}
	var errs []error
	if found {
		removing, cancel := context.WithTimeout(ctx, 15*time.Second)
		defer cancel()
		errs = append(errs, cgroup.Remove(removing, config.CgroupRoot))
	}
	errs = append(errs, host.ThisHost(alive).Release(c.dir), c.dir.Clear())
	return errors.Join(errs...)
}

// wipe deletes the state directory. It returns an error if the directory does not belong to a cluster.
func (c *cluster) wipe() error {
	_, found, err := c.dir.LoadConfig()
	if err == nil && !found {
		entries, err := os.ReadDir(string(c.dir))
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if entry.Name() != "lock" {
				return fmt.Errorf("%s is not the state of a cluster (no config.json in it) and is not deleted", c.dir)
			}
		}
	}
	return os.RemoveAll(string(c.dir))
}
