package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/agent/loaders"
	"github.com/knee-bench/knee/internal/agent/measure"
	"github.com/knee-bench/knee/internal/record"
)

// RunLoader makes this pod's part of the load, in a loader pod with an index above 0. It returns one line that describes the
// result. Only the pod with index 0 writes a record. RunLoader returns an error if the pod with index 0 does not know about a
// failure.
func RunLoader(outside context.Context, o Options, index int32) (did string, err error) {
	if folder := o.Config.Artifacts; folder != "" {
		o.Config.Artifacts = filepath.Join(folder, fmt.Sprintf("loader-%d", index))
	}
	a := begin(o, index)
	m, err := loaders.Join(outside, o.Config.Coordinator, int(index), a.fleetOptions())
	if err != nil {
		return "", err
	}
	defer m.Close()
	ctx, cancel := a.untilDeadline(outside, a.readyWithin()) // later than the deadline in the pod with index 0: the time of that deadline counts from the moment when the last pod has joined
	defer cancel()
	a.say("joined loader pod 0, which coordinates the load, at %s", o.Config.Coordinator)
	a.pods = loaders.MemberPod{Member: m}
	loading, end := m.Context(ctx)
	defer end()
	waitForReport := a.reportInterruption(outside, m)
	failed := a.loadPart(loading, m)
	a.endLoad(ctx)
	if failed == nil {
		failed = m.Serve(ctx, a.answer)
	}
	reported, err := waitForReport()
	if err == nil && failed != nil && !reported {
		failed, err = a.reportFailure(outside, ctx, context.Cause(loading), failed, m)
	}
	m.Close() // before writing files: the pod with index 0 waits until this connection is closed
	a.keep(ctx)
	if err != nil {
		return "", errors.New(a.secrets.Hide(err.Error()))
	}
	return a.secrets.Hide(a.describePart(failed)), nil
}

// loadPart prepares and makes this pod's part of the load. Then it sends the pod's share of the outcome to the coordinator.
func (a *attempt) loadPart(ctx context.Context, m *loaders.Member) error {
	var err error
	if a.driver, err = driver.NewDriver(a.Drivers, a.session); err != nil {
		return err
	}
	a.say("prepare")
	if err := a.prepare(ctx); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	a.say("load")
	a.recorder = measure.StartRecorder(measure.Target{}, a.Programs)
	share, err := a.makeLoad(ctx)
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	if err := a.span.CheckWallClock(); err != nil {
		return err
	}
	return m.Share(share)
}

// answer answers the coordinator's question about the usage of this machine by the load.
func (a *attempt) answer(question json.RawMessage) json.RawMessage {
	data, err := loaders.AnswerUsage(question, a.span, a.ownUsage)
	if err != nil {
		a.say("%v", err)
	}
	return data
}

// reportInterruption starts to watch for an interruption of this pod from outside. It reports an interruption to the
// coordinator immediately, because stopping the driver takes seconds. The caller must call the returned function at the end.
// That function waits for a report that is being sent. It returns whether there was a report.
func (a *attempt) reportInterruption(outside context.Context, m *loaders.Member) func() (bool, error) {
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

// reportFailure reports to the coordinator why this pod's part of the load failed, unless the coordinator itself ended the
// load. It returns the failure to print. It returns an error if the coordinator did not get the report.
func (a *attempt) reportFailure(outside, ctx context.Context, end, failed error, m *loaders.Member) (failure, err error) {
	if aborted := (*loaders.Aborted)(nil); errors.As(end, &aborted) {
		return aborted, nil
	}
	if lost := (*record.Error)(nil); errors.As(end, &lost) {
		return nil, lost
	}
	why := a.explain(outside, ctx, failed)
	why.Message = a.secrets.Hide(why.Message)
	failure = why
	if err := m.Fail(context.WithoutCancel(ctx), why.Reason, why.Message); err != nil {
		return nil, fmt.Errorf("%w; this loader pod could not report its failure to loader pod 0, which coordinates the load: %w", failure, err)
	}
	return failure, nil
}

// describePart returns one line that describes the result of this pod.
func (a *attempt) describePart(failed error) string {
	pod, part := fmt.Sprintf("loader pod %d of %d", a.session.Part.Index, a.session.Part.Of), a.session.Part
	if failed != nil {
		return fmt.Sprintf("%s failed and reported it to loader pod 0: %v", pod, failed)
	}
	all := a.Config.Attempt.Clients
	return fmt.Sprintf("%s made its part of the load, %d of %d clients, in %.1f s; loader pod 0 writes the record", pod, part.Clients(all), all, a.span.Duration().Seconds())
}
