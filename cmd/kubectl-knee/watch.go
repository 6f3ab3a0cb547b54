package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
)

func (p *plugin) watchCommand() *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "watch NAME",
		Short: "Show a campaign's progress until it is over",
		Long: `Show a campaign's progress until it is over: on a terminal as one line that renews itself, elsewhere as a line
for each change. Ends with exit code 0 when the campaign has finished, with 1 when it needs a person, is deleted, or
the timeout has passed. Ending the command does not end the campaign.`,
		Args: cobra.ExactArgs(1),
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
	defer screen.end()
	pause := wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Cap: 5 * time.Second, Steps: 100}
	for {
		over, err := p.follow(ctx, c, client.ObjectKey{Namespace: namespace, Name: name}, screen)
		if over {
			return err
		}
		select { // an API server that restarts is waited for
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause.Step()):
		}
	}
}

// follow shows a campaign until that is over for good, or the API server cannot be asked or ends the watch, which it
// does now and then.
func (p *plugin) follow(ctx context.Context, c client.WithWatch, key client.ObjectKey, screen *screen) (over bool, err error) {
	var now v1alpha1.BenchmarkCampaign
	if err := c.Get(ctx, key, &now); err != nil {
		return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err), err
	}
	events, err := c.Watch(ctx, &v1alpha1.BenchmarkCampaignList{}, &client.ListOptions{
		Namespace: key.Namespace, FieldSelector: fields.OneTermEqualSelector("metadata.name", key.Name),
	})
	if err != nil {
		return false, err
	}
	defer events.Stop()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		screen.show(now.Status)
		if over, err := outcome(&now); over {
			return true, err
		}
		select {
		case <-ctx.Done():
			return true, context.Cause(ctx)
		case <-tick.C:
			screen.tick(now.Status)
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

// screen renews one line on a terminal, and elsewhere writes a line for each change.
type screen struct {
	out      io.Writer
	terminal bool
	width    int // of the terminal, in columns
	last     string
}

func newScreen(out io.Writer) *screen {
	s := &screen{out: out}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		s.terminal = true
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			s.width = width
		}
	}
	return s
}

func (s *screen) show(status v1alpha1.BenchmarkCampaignStatus) {
	key := line(status, time.Time{}) // without the clock
	if s.terminal || key != s.last {
		s.write(line(status, time.Now()))
	}
	s.last = key
}

// tick renews the time left.
func (s *screen) tick(status v1alpha1.BenchmarkCampaignStatus) {
	if s.terminal {
		s.write(line(status, time.Now()))
	}
}

func (s *screen) write(text string) {
	if s.terminal {
		fmt.Fprintf(s.out, "\r\x1b[2K%s", shorten(text, max(s.width-1, 40)))
		return
	}
	fmt.Fprintf(s.out, "%s  %s\n", time.Now().Format(time.TimeOnly), text)
}

func (s *screen) end() {
	if s.terminal {
		fmt.Fprintln(s.out)
	}
}
