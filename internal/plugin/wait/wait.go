package wait

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plugin/terminal"
	"github.com/knee-bench/knee/internal/plugin/watch"
)

// waiter waits for campaigns of a namespace.
type waiter struct {
	out       io.Writer // for progress and notes
	client    client.WithWatch
	namespace string
	timeout   time.Duration // 0: no limit
	patience  time.Duration // how long the waiter waits for the first answer of the API server

	answered bool                                   // the API server has answered
	pending  map[string]bool                        // names of the campaigns that are not over
	finished map[string]*v1alpha1.BenchmarkCampaign // by name
	failed   map[string]*terminal.ExitError         // campaigns that are over and not finished, by name
	ids      map[string]types.UID                   // of the campaigns that were seen, by name
	shown    map[string]string                      // last progress line, by name
}

func newWaiter(streams genericiooptions.IOStreams, c client.WithWatch, namespace string, timeout time.Duration) *waiter {
	return &waiter{
		out: streams.ErrOut, client: c, namespace: namespace, timeout: timeout, patience: watch.Patience,
		pending: map[string]bool{}, finished: map[string]*v1alpha1.BenchmarkCampaign{}, failed: map[string]*terminal.ExitError{},
		ids: map[string]types.UID{}, shown: map[string]string{},
	}
}

var errTimeout = errors.New("the timeout has passed")

// limit returns a context that ends when the timeout has passed.
func (w *waiter) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, w.timeout, errTimeout)
}

// wait waits until all named campaigns are over, and returns those that are finished. The error names all others. It has the highest of
// their exit codes.
func (w *waiter) wait(ctx context.Context, names []string) (map[string]*v1alpha1.BenchmarkCampaign, error) {
	for _, name := range names {
		w.pending[name] = true
	}
	err := watch.Retry(ctx, w.patience, w.note, func() (answered, over bool, err error) {
		over, err = w.follow(ctx)
		return w.answered, over, err
	})
	switch {
	case err == nil:
	case errors.Is(context.Cause(ctx), errTimeout):
		for name := range w.pending {
			w.fail(name, terminal.ExitNotFinished, fmt.Errorf("campaign %s/%s is not finished after %s (--timeout): %s",
				w.namespace, name, w.timeout, terminal.OrDash(w.shown[name])))
		}
	case ctx.Err() != nil:
		return w.finished, fmt.Errorf("interrupted: %w", context.Cause(ctx))
	default:
		return w.finished, err
	}
	return w.finished, w.failure(names)
}

// failure returns the error of all campaigns that are over and not finished, or nil.
func (w *waiter) failure(names []string) error {
	code, errs := 0, []error(nil)
	for _, name := range names {
		if failed := w.failed[name]; failed != nil {
			code, errs = max(code, failed.Code), append(errs, failed.Err)
		}
	}
	if code == 0 {
		return nil
	}
	return &terminal.ExitError{Code: code, Err: errors.Join(errs...)}
}

func (w *waiter) note(err error) { terminal.PrintNote(w.out, "trying again: %v", err) }

// follow lists the campaigns and watches them until all are over, or until the API server ends the watch or cannot be reached. API servers
// end watches from time to time, for example if the resource version is too old. Then the caller calls follow again.
func (w *waiter) follow(ctx context.Context) (over bool, err error) {
	if err := w.discover(ctx); err != nil {
		return watch.IsHopeless(err), err
	}
	var list v1alpha1.BenchmarkCampaignList
	options := &client.ListOptions{Namespace: w.namespace}
	if len(w.pending) == 1 { // a field selector accepts only one name, and a role may allow only this name
		for name := range w.pending {
			options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name)
		}
	}
	if err := w.client.List(ctx, &list, options); err != nil {
		return watch.IsHopeless(err), err
	}
	w.answered = true
	w.observeAll(list.Items)
	if len(w.pending) == 0 {
		return true, nil
	}
	options.Raw = &metav1.ListOptions{ResourceVersion: list.ResourceVersion, AllowWatchBookmarks: true}
	events, err := w.client.Watch(ctx, &v1alpha1.BenchmarkCampaignList{}, options)
	if err != nil {
		return watch.IsHopeless(err), err
	}
	defer events.Stop()
	for len(w.pending) > 0 {
		select {
		case <-ctx.Done():
			return true, context.Cause(ctx)
		case e, open := <-events.ResultChan():
			if !open || e.Type == apiwatch.Error {
				return false, nil
			}
			c, isCampaign := e.Object.(*v1alpha1.BenchmarkCampaign)
			switch {
			case !isCampaign || !w.pending[c.Name]:
			case e.Type == apiwatch.Deleted:
				w.failMissing(c.Name)
			case e.Type == apiwatch.Added, e.Type == apiwatch.Modified:
				w.observe(c)
			}
		}
	}
	return true, nil
}

// discover makes the client find the API of Knee. It returns as soon as ctx ends, unlike the discovery itself, which may take the whole
// timeout of a connection.
func (w *waiter) discover(ctx context.Context) error {
	found := make(chan error, 1)
	go func() {
		_, err := w.client.RESTMapper().RESTMapping(v1alpha1.GroupVersion.WithKind("BenchmarkCampaign").GroupKind(), v1alpha1.GroupVersion.Version)
		found <- err
	}()
	select {
	case err := <-found:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// observeAll takes a complete list of the campaigns. A campaign that the list lacks does not exist.
func (w *waiter) observeAll(list []v1alpha1.BenchmarkCampaign) {
	for name := range w.pending {
		i := slices.IndexFunc(list, func(c v1alpha1.BenchmarkCampaign) bool { return c.Name == name })
		if i < 0 {
			w.failMissing(name)
			continue
		}
		w.observe(&list[i])
	}
}

// observe prints the progress of a campaign if it has changed, and notes the result if the campaign is over.
func (w *waiter) observe(c *v1alpha1.BenchmarkCampaign) {
	if known, seen := w.ids[c.Name]; seen && known != c.UID || !c.DeletionTimestamp.IsZero() {
		w.failMissing(c.Name) // deleted, and perhaps created again
		return
	}
	w.ids[c.Name] = c.UID
	if line := terminal.Printable(watch.ProgressLine(c.Status, time.Time{})); line != w.shown[c.Name] {
		w.shown[c.Name] = line
		fmt.Fprintf(w.out, "%s  %s  %s\n", time.Now().Format(time.TimeOnly), c.Name, line)
	}
	switch over, err := watch.Outcome(c); {
	case over && err != nil:
		w.fail(c.Name, terminal.ExitStalled, err)
	case over:
		w.finished[c.Name] = c.DeepCopy()
		delete(w.pending, c.Name)
	}
}

func (w *waiter) failMissing(name string) {
	err := fmt.Errorf("campaign %s/%s does not exist: check its name and the namespace", w.namespace, name)
	if _, seen := w.ids[name]; seen {
		err = fmt.Errorf("campaign %s/%s was deleted", w.namespace, name)
	}
	w.fail(name, terminal.ExitNotFound, err)
}

func (w *waiter) fail(name string, code int, err error) {
	w.failed[name] = &terminal.ExitError{Code: code, Err: err}
	delete(w.pending, name)
}

// readyMessage returns the message of a campaign's condition Ready.
func readyMessage(c *v1alpha1.BenchmarkCampaign) string {
	if ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady); ready != nil {
		return ready.Message
	}
	return ""
}
