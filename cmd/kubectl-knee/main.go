// Command kubectl-knee is Knee's kubectl plugin. It plans campaigns without a cluster, shows running campaigns, reads and
// compares reports, exports a campaign to one file and imports it, and analyzes results that Knee did not measure.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/knee-bench/knee/internal/plugin/assert"
	"github.com/knee-bench/knee/internal/plugin/compare"
	"github.com/knee-bench/knee/internal/plugin/restore"
	"github.com/knee-bench/knee/internal/plugin/source"
	"github.com/knee-bench/knee/internal/plugin/terminal"
	"github.com/knee-bench/knee/internal/plugin/wait"
	"github.com/knee-bench/knee/internal/plugin/watch"
	"github.com/knee-bench/knee/internal/plugin/workload"
	"github.com/knee-bench/knee/internal/version"
)

// The exit codes of most subcommands.
const (
	exitOK     = 0
	exitFailed = terminal.ExitFailed
	exitUsage  = terminal.ExitUsage
)

// helpWidth is the width in columns to which --help is wrapped.
const helpWidth = 80

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}, os.Args[1:])
	stop()
	os.Exit(code)
}

// run executes a command line and returns the exit code. Streams and arguments are parameters, so tests call run without a new
// process.
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
	fmt.Fprintln(streams.ErrOut, "error:", terminal.PrintableLines(err.Error()))
	if own := (*terminal.ExitError)(nil); errors.As(err, &own) {
		return own.Code
	}
	if wrong := (*terminal.UsageError)(nil); errors.As(err, &wrong) || !p.started {
		return exitUsage
	}
	return exitFailed
}

// plugin holds what the subcommands share.
type plugin struct {
	streams genericiooptions.IOStreams
	reader  source.Reader
	started bool // a subcommand runs: the flags and arguments were valid
}

func newPlugin(streams genericiooptions.IOStreams) *plugin {
	return &plugin{streams: streams, reader: source.Reader{In: streams.In, Flags: genericclioptions.NewConfigFlags(true)}}
}

func (p *plugin) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "kubectl-knee",
		Short: "Plan, watch, report and compare benchmark campaigns",
		Long: `Plan, watch, report and compare benchmark campaigns.

Exit codes: 0 on success; 1 if the command failed or found a problem (a campaign
does not exist, a user must act on a campaign, or a figure differs); 2 for wrong
usage (flags, arguments, a malformed or damaged file).`,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl knee"},
		Version:       version.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	p.reader.Flags.AddFlags(cmd.PersistentFlags())
	p.reader.CompleteFlags(cmd)
	cmd.AddCommand(p.planCommand(), watch.Command(p.streams, p.reader), wait.Command(p.streams, p.reader), assert.Command(p.streams, p.reader), p.reportCommand(), compare.Command(p.streams, p.reader), p.analyzeCommand(),
		p.exportCommand(), restore.Command(p.streams, p.reader), workload.Command(p.streams))
	cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", helpWidth)))
	for _, sub := range cmd.Commands() {
		do := sub.RunE
		sub.RunE = func(cmd *cobra.Command, args []string) error {
			p.started = true
			return do(cmd, args)
		}
	}
	return cmd
}
