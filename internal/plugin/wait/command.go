// Package wait waits until campaigns are over, for kubectl knee wait and kubectl knee assert.
package wait

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plugin/source"
	"github.com/knee-bench/knee/internal/plugin/terminal"
	"github.com/knee-bench/knee/internal/plugin/watch"
)

// flags are the flags of wait.
type flags struct {
	selector string
	timeout  time.Duration
}

// Command returns the subcommand wait.
func Command(streams genericiooptions.IOStreams, reader source.Reader) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "wait (NAME... | -l SELECTOR)",
		Short: "Wait until campaigns are finished, for scripts and pipelines",
		Long: `Wait until each campaign is finished, stalled or deleted, or until the timeout
has passed. The command prints a line on standard error when the progress
changes, and a line on standard output for each finished campaign. A status of
an older spec does not count: after an edit of the spec the command waits for
the new result.

A campaign is stalled if a user must act. The message says what to do. Ending
the command does not end the campaign.

With a selector the command waits for the campaigns that exist when it starts.

Exit codes:
  0  each campaign is finished
  1  the request failed, or the command was interrupted
  2  wrong usage
  3  a campaign is stalled
  4  a campaign is not finished within the timeout
  5  a campaign does not exist, or was deleted
With several campaigns it is the highest of their codes. finished does not mean
that the result is conclusive: see kubectl knee assert.`,
		Example: `  kubectl knee wait arm-vs-intel --timeout 48h
  kubectl knee wait -l pipeline=nightly --timeout 12h`,
		Args: func(_ *cobra.Command, args []string) error {
			if (f.selector == "") == (len(args) == 0) {
				return errors.New("give either names of campaigns or a selector (-l SELECTOR)")
			}
			return nil
		},
		ValidArgsFunction: reader.CampaignNames(v1alpha1.MaxCells, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), streams, reader, args)
		},
	}
	cmd.Flags().StringVarP(&f.selector, "selector", "l", "", "labels of the campaigns, such as pipeline=nightly")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "stop waiting after this time, such as 12h; 0: wait without limit")
	return cmd
}

func (f flags) run(ctx context.Context, streams genericiooptions.IOStreams, reader source.Reader, names []string) error {
	selector, err := labels.Parse(f.selector)
	if err != nil {
		return terminal.Usagef("--selector: %w", err)
	}
	c, namespace, err := reader.Connect()
	if err != nil {
		return err
	}
	w := newWaiter(streams, c, namespace, f.timeout)
	ctx, cancel := w.limit(ctx)
	defer cancel()
	if len(names) == 0 {
		if names, err = w.selectNames(ctx, selector); err != nil {
			return err
		}
	}
	finished, err := w.wait(ctx, names)
	for _, name := range names {
		if done := finished[name]; done != nil {
			fmt.Fprintf(streams.Out, "campaign %s/%s is finished: %s\n", namespace, name, terminal.Printable(readyMessage(done)))
		}
	}
	return err
}

// selectNames returns the names of the campaigns that a selector selects.
func (w *waiter) selectNames(ctx context.Context, selector labels.Selector) (names []string, err error) {
	var list v1alpha1.BenchmarkCampaignList
	err = watch.Retry(ctx, watch.Patience, w.note, func() (answered, over bool, err error) {
		if err := w.discover(ctx); err != nil {
			return false, watch.IsHopeless(err), err
		}
		err = w.client.List(ctx, &list, client.InNamespace(w.namespace), client.MatchingLabelsSelector{Selector: selector})
		return err == nil, err == nil || watch.IsHopeless(err), err
	})
	if err != nil {
		return nil, err
	}
	for _, campaign := range list.Items {
		names = append(names, campaign.Name)
	}
	if len(names) == 0 {
		return nil, &terminal.ExitError{Code: terminal.ExitNotFound, Err: fmt.Errorf("namespace %s has no campaign with the labels %s", w.namespace, selector)}
	}
	return names, nil
}

// ForOne waits until a campaign is finished, and returns the campaign. If timeout is 0, it waits without limit. If the campaign will not
// finish, the error has the exit code for the reason. ForOne prints the progress on standard error.
func ForOne(ctx context.Context, streams genericiooptions.IOStreams, c client.WithWatch, key client.ObjectKey, timeout time.Duration) (*v1alpha1.BenchmarkCampaign, error) {
	w := newWaiter(streams, c, key.Namespace, timeout)
	ctx, cancel := w.limit(ctx)
	defer cancel()
	finished, err := w.wait(ctx, []string{key.Name})
	return finished[key.Name], err
}
