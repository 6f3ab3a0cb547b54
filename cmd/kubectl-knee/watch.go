package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/resources"
)

func (p *plugin) watchCommand() *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "watch NAME",
		Short: "Show a campaign's progress until it is over",
		Long: `Show a campaign's progress until it is over: on a terminal as a table that renews itself, with a progress bar, the time
left, the knees so far and the last points; elsewhere as a line for each change and each point. Ends with exit code 0
when the campaign has finished, with 1 when it needs a person, is deleted, or the timeout has passed. An API server that
cannot be asked is asked again, and why is said on standard error; one whose first answer does not come within a minute,
or that does not know of Knee, ends it with 1. Ending the command does not end the campaign.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: p.campaignNames(1, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if timeout > 0 {
				limited, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("not over within %s", timeout))
				defer cancel()
				ctx = limited
			}
			return p.watch(ctx, args[0])
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "give up after this long; 0 waits for ever")
	return cmd
}

func (p *plugin) watch(ctx context.Context, name string) error {
	c, namespace, err := p.connect()
	if err != nil {
		return err
	}
	screen := newScreen(p.streams.Out)
	points := newPoints()
	pause := wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Cap: 5 * time.Second, Steps: 100}
	began, said := time.Now(), ""
	for {
		over, err := follow(ctx, c, client.ObjectKey{Namespace: namespace, Name: name}, screen, points)
		if over {
			return err
		}
		if err != nil && err.Error() != said {
			said = err.Error()
			p.note("trying again: %v", err)
			screen.lines = 0 // the table goes on below the note
		}
		if err != nil && !screen.began && time.Since(began) > p.patience {
			return fmt.Errorf("the API server has not answered within %s: %w", p.patience, err)
		}
		select { // an API server that restarts is waited for
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause.Step()):
		}
	}
}

// follow shows a campaign until that is over for good, or the API server cannot be asked or ends a watch, which it
// does now and then.
func follow(ctx context.Context, c client.WithWatch, key client.ObjectKey, screen *screen, points *points) (over bool, err error) {
	var now v1alpha1.BenchmarkCampaign
	if err := c.Get(ctx, key, &now); err != nil {
		return apierrors.IsNotFound(err) || hopeless(err), err
	}
	screen.began = true
	events, err := c.Watch(ctx, &v1alpha1.BenchmarkCampaignList{}, &client.ListOptions{
		Namespace: key.Namespace, FieldSelector: fields.OneTermEqualSelector("metadata.name", key.Name),
	})
	if err != nil {
		return hopeless(err), err
	}
	defer events.Stop()
	records, err := followRecords(ctx, c, &now, points)
	if err != nil {
		return hopeless(err), err
	}
	defer records.Stop()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		screen.show(&now, points)
		if over, err := outcome(&now); over {
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

// hopeless tells whether asking again would give the same answer: without the right to ask, or without Knee.
func hopeless(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || meta.IsNoMatchError(err)
}

// followRecords takes in the records that there are, and watches for those to come.
func followRecords(ctx context.Context, c client.WithWatch, campaign *v1alpha1.BenchmarkCampaign, points *points) (watch.Interface, error) {
	version, err := eachConfigMap(ctx, c, campaign, resources.ComponentRecord, func(cm *corev1.ConfigMap) error {
		points.add(cm)
		return nil
	})
	if err != nil {
		return nil, err
	}
	points.began = true
	options := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version}}
	for _, o := range ofCampaign(campaign, resources.ComponentRecord)[:2] { // without the limit of a page
		o.ApplyToList(options)
	}
	return c.Watch(ctx, &corev1.ConfigMapList{}, options)
}
