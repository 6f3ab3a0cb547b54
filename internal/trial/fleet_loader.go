package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/fleet"
)

// oneOfPods are the loader pods of a trial as one that does not coordinate them sees them.
type oneOfPods struct{ m *fleet.Member }

func (p oneOfPods) ready(ctx context.Context) error { return p.m.Start(ctx) }

func (oneOfPods) gather(context.Context, json.RawMessage) ([]json.RawMessage, error) {
	return nil, errNotCoordinator
}

func (oneOfPods) loaders(context.Context, time.Time, time.Time) ([]record.Loader, error) {
	return nil, errNotCoordinator
}

func (oneOfPods) close(error) {}

var errNotCoordinator = errors.New("the loader pod of index 0 alone knows of the others")

// RunLoader makes the part of a trial's load that the loader pod of an index above 0 makes, and says what it did: that is no
// record, for the record is index 0's. An error is one that index 0 could not be told of.
func RunLoader(outside context.Context, o Options, index int32) (did string, err error) {
	a := begin(o)
	a.part.index = index
	if folder := a.Config.Artifacts; folder != "" {
		a.Config.Artifacts = filepath.Join(folder, fmt.Sprintf("loader-%d", index))
	}
	m, err := fleet.Join(outside, o.Config.Coordinator, int(index), a.fleetOptions())
	if err != nil {
		return "", err
	}
	defer m.Close()
	ctx, cancel := a.untilDeadline(outside, a.readyWithin()) // index 0's begins when the last pod is there, and comes first
	defer cancel()
	a.say("joined the coordinator %s", o.Config.Coordinator)
	a.pods = oneOfPods{m}
	loading, end := m.Context(ctx)
	defer end()
	told := a.tellInterrupted(outside, m)
	failed := a.lend(loading, m)
	a.endLoad(ctx)
	if failed == nil {
		failed = m.Serve(ctx, a.answer)
	}
	knows, err := told()
	if err == nil && failed != nil && !knows {
		failed, err = a.confess(outside, ctx, context.Cause(loading), failed, m)
	}
	m.Close() // index 0 waits for it, but not for files
	a.keep(ctx)
	if err != nil {
		return "", errors.New(a.secrets.hide(err.Error()))
	}
	return a.secrets.hide(a.did(failed)), nil
}

// lend prepares and makes this pod's part of the load, and sends its share of the outcome.
func (a *attempt) lend(ctx context.Context, m *fleet.Member) error {
	var err error
	if a.driver, err = newDriver(a); err != nil {
		return err
	}
	a.say("prepare")
	if err := a.prepare(ctx); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	a.say("load")
	a.watch = startWatch(nil, "", 0, a.Programs)
	share, err := a.makeLoad(ctx)
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	if step, jumped := a.clock.jumped(); jumped {
		return clockJumped(step)
	}
	return m.Share(share)
}

// answer tells what the load took of this machine over a part of it.
func (a *attempt) answer(question json.RawMessage) json.RawMessage {
	var s stretch
	if err := json.Unmarshal(question, &s); err != nil {
		a.say("a question that cannot be read: %v", err)
		return nil
	}
	at := func(s float64) time.Time { return a.clock.at.Add(seconds(s)) }
	a.ownLoader(at(s.From), at(s.To))
	data, err := json.Marshal(a.record.Loader)
	if err != nil {
		a.say("what the load took: %v", err)
		return nil
	}
	return data
}

// tellInterrupted tells the coordinator at once when this pod is ended from outside: ending the driver takes seconds. The
// function that it gives, to be called at the end, waits for a telling under way and says whether there was one.
func (a *attempt) tellInterrupted(outside context.Context, m *fleet.Member) func() (bool, error) {
	done := make(chan error, 1)
	stop := context.AfterFunc(outside, func() {
		done <- m.Fail(context.WithoutCancel(outside), record.ReasonInterrupted, interrupted)
	})
	return func() (bool, error) {
		if stop() {
			return false, nil
		}
		return true, <-done
	}
}

// confess tells the coordinator why this pod's part of the load failed, unless it was the coordinator that ended it. It
// gives the failure in words, and an error where the coordinator could not be told.
func (a *attempt) confess(outside, ctx context.Context, end, failed error, m *fleet.Member) (words, err error) {
	if aborted := (*fleet.Aborted)(nil); errors.As(end, &aborted) {
		return aborted, nil
	}
	if lost := (*fleet.Failure)(nil); errors.As(end, &lost) {
		return nil, lost
	}
	why := a.explain(outside, ctx, inWords(failed))
	why.Message = a.secrets.hide(why.Message)
	words = &failure{why.Reason, why.Message}
	if err := m.Fail(context.WithoutCancel(ctx), why.Reason, why.Message); err != nil {
		return nil, fmt.Errorf("%w; the coordinator could not be told: %w", words, err)
	}
	return words, nil
}

// did says what this pod did.
func (a *attempt) did(failed error) string {
	who := fmt.Sprintf("loader pod %d of %d", a.part.index, a.part.of)
	if failed != nil {
		return fmt.Sprintf("%s failed, as index 0 knows: %v", who, failed)
	}
	all := a.Config.Trial.Clients
	return fmt.Sprintf("%s made its part of the load, %d of %d clients, in %.1f s; the record is index 0's", who, a.part.clients(all), all, a.ended.Sub(a.clock.at).Seconds())
}
