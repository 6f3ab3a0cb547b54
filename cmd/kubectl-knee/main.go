// Command kubectl-knee is Knee's kubectl plugin: it shows a campaign while it runs, and its report.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/internal/version"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := newCommand(genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}).ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		stop()
		os.Exit(1)
	}
}

// plugin is what the subcommands share.
type plugin struct {
	streams genericiooptions.IOStreams
	flags   *genericclioptions.ConfigFlags
}

func newCommand(streams genericiooptions.IOStreams) *cobra.Command {
	p := &plugin{streams: streams, flags: genericclioptions.NewConfigFlags(true)}
	cmd := &cobra.Command{
		Use:           "kubectl-knee",
		Short:         "Watch benchmark campaigns and read their reports",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl knee"},
		Version:       version.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	p.flags.AddFlags(cmd.PersistentFlags())
	cmd.AddCommand(p.watchCommand(), p.reportCommand())
	return cmd
}

// connect gives a client and the namespace that the flags, or the kubeconfig, name.
func (p *plugin) connect() (client.WithWatch, string, error) {
	namespace, _, err := p.flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, "", err
	}
	config, err := p.flags.ToRESTConfig()
	if err != nil {
		return nil, "", err
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme.New()})
	return c, namespace, err
}
