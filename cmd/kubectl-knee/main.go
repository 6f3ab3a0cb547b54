// Command kubectl-knee is Knee's kubectl plugin: it plans campaigns before a node is paid for, shows them while they
// run, reads and compares their reports, keeps them in one file, and analyzes results that Knee did not make.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/knee-bench/knee/internal/version"
)

// The exit codes. docs/kubectl-knee.md documents them.
const (
	exitOK     = 0
	exitFailed = 1 // what was asked did not come out: no such campaign, it needs a person, a figure differs
	exitUsage  = 2 // what was asked cannot be understood: flags, arguments, or a malformed or damaged file
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}, os.Args[1:])
	stop()
	os.Exit(code)
}

// run is the whole program but for the process around it.
func run(ctx context.Context, streams genericiooptions.IOStreams, args []string) int {
	p := newPlugin(streams)
	cmd := p.command()
	cmd.SetArgs(args)
	cmd.SetIn(streams.In)
	cmd.SetOut(streams.Out)
	cmd.SetErr(streams.ErrOut)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(streams.ErrOut, "error:", printableLines(err.Error()))
	if wrong := (*usageError)(nil); errors.As(err, &wrong) || !p.started {
		return exitUsage
	}
	return exitFailed
}

// usageError is about what a person wrote: flags, arguments, files.
type usageError struct{ error }

func (u *usageError) Unwrap() error { return u.error }

// usage makes an error one of usage.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err}
}

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// plugin is what the subcommands share.
type plugin struct {
	streams genericiooptions.IOStreams
	flags   *genericclioptions.ConfigFlags
	started bool // the command line was understood

	patience time.Duration // how long a watch waits for the API server's first answer
}

func newPlugin(streams genericiooptions.IOStreams) *plugin {
	return &plugin{streams: streams, flags: genericclioptions.NewConfigFlags(true), patience: time.Minute}
}

func (p *plugin) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "kubectl-knee",
		Short: "Plan, watch, report and compare benchmark campaigns",
		Long: `Plan, watch, report and compare benchmark campaigns.

Exit codes: 0 when all is well, 1 when what was asked did not come out (no such campaign, it needs a person, a figure
differs), 2 when it cannot be understood (flags, arguments, a malformed or damaged file).`,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl knee"},
		Version:       version.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	p.flags.AddFlags(cmd.PersistentFlags())
	p.completeFlags(cmd)
	cmd.AddCommand(p.planCommand(), p.watchCommand(), p.reportCommand(), p.compareCommand(), p.analyzeCommand(), p.exportCommand(), p.workloadCommand())
	for _, sub := range cmd.Commands() {
		do := sub.RunE
		sub.RunE = func(cmd *cobra.Command, args []string) error {
			p.started = true
			return do(cmd, args)
		}
	}
	return cmd
}
