// Package watch shows the progress of a campaign until it is over, for kubectl knee watch.
package watch

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plugin/source"
	"github.com/knee-bench/knee/internal/plugin/terminal"
	"github.com/knee-bench/knee/internal/resources"
)

// watcher shows the progress of a campaign.
type watcher struct {
	streams  genericiooptions.IOStreams
	reader   source.Reader
	patience time.Duration // how long watch waits for the first answer of the API server
}

// Command returns the subcommand watch.
func Command(streams genericiooptions.IOStreams, reader source.Reader) *cobra.Command {
	w := watcher{streams: streams, reader: reader, patience: Patience}
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "watch NAME",
		Short: "Show a campaign's progress until it is over",
		Long: `Show a campaign's progress until it is over. On a terminal the command shows a
table and updates it: a progress bar, the time left, the knees so far and the
last points. To other outputs it writes a line for each change and each point.
The exit code is 0 when the campaign has finished. It is 1 when a person must
act, the campaign is deleted, or the timeout has passed. If the API server
cannot be reached, the command tries again and prints the reason on standard
error. The command ends with exit code 1 if the first answer takes more than a
minute, or if Knee is not installed. Ending the command does not end the
campaign.`,
		Example:           `  kubectl knee watch arm-vs-intel --timeout 48h`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: reader.CampaignNames(1, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if timeout > 0 {
				limited, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("the campaign did not end within %s (--timeout)", timeout))
				defer cancel()
				ctx = limited
			}
			return w.watch(ctx, args[0])
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "stop watching after this time; 0: wait without limit")
	return cmd
}

func (w watcher) watch(ctx context.Context, name string) error {
	c, namespace, err := w.reader.Connect()
	if err != nil {
		return err
	}
	screen := newScreen(w.streams.Out)
	points := newPoints()
	said := func(err error) {
		terminal.PrintNote(w.streams.ErrOut, "trying again: %v", err)
		screen.lines = 0 // the table continues below the note, so do not overwrite lines above it
	}
	return Retry(ctx, w.patience, said, func() (answered, over bool, err error) {
		over, err = followCampaign(ctx, c, client.ObjectKey{Namespace: namespace, Name: name}, screen, points)
		return screen.began, over, err
	})
}

// followCampaign shows a campaign until it is over, or until the API server ends the watch or cannot be reached. API servers
// end watches from time to time.
func followCampaign(ctx context.Context, c client.WithWatch, key client.ObjectKey, screen *screen, points *points) (over bool, err error) {
	var now v1alpha1.BenchmarkCampaign
	if err := c.Get(ctx, key, &now); err != nil {
		return apierrors.IsNotFound(err) || IsHopeless(err), err
	}
	screen.began = true
	events, err := c.Watch(ctx, &v1alpha1.BenchmarkCampaignList{}, &client.ListOptions{
		Namespace: key.Namespace, FieldSelector: fields.OneTermEqualSelector("metadata.name", key.Name),
	})
	if err != nil {
		return IsHopeless(err), err
	}
	defer events.Stop()
	records, err := followRecords(ctx, c, &now, points)
	if err != nil {
		return IsHopeless(err), err
	}
	defer records.Stop()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		screen.show(&now, points)
		if over, err := Outcome(&now); over {
			return true, err
		}
		select {
		case <-ctx.Done():
			return true, context.Cause(ctx)
		case <-tick.C:
			screen.tick(&now, points)
		case e, open := <-records.ResultChan():
			if !open || e.Type == watch.Error {
				return false, nil
			}
			if cm, ok := e.Object.(*corev1.ConfigMap); ok && e.Type == watch.Added {
				points.add(cm)
			}
		case e, open := <-events.ResultChan():
			if !open || e.Type == watch.Error {
				return false, nil
			}
			if e.Type == watch.Deleted {
				return true, fmt.Errorf("campaign %s was deleted", key)
			}
			if campaign, ok := e.Object.(*v1alpha1.BenchmarkCampaign); ok {
				now = *campaign
			}
		}
	}
}

// followRecords adds the existing records, and starts a watch for new records.
func followRecords(ctx context.Context, c client.WithWatch, campaign *v1alpha1.BenchmarkCampaign, points *points) (watch.Interface, error) {
	version, err := source.EachConfigMap(ctx, c, campaign, resources.ComponentRecord, func(cm *corev1.ConfigMap) error {
		points.add(cm)
		return nil
	})
	if err != nil {
		return nil, err
	}
	points.began = true
	options := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version}}
	for _, o := range source.CampaignConfigMaps(campaign, resources.ComponentRecord)[:2] { // the first two options, without the page size
		o.ApplyToList(options)
	}
	return c.Watch(ctx, &corev1.ConfigMapList{}, options)
}
