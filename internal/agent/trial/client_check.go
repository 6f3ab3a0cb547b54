package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/record"
)

const (
	checkReserve = 30 * time.Second // time before the trial's deadline that a check must not use
	checkFactor  = 1.5              // time that must remain for a check, relative to the time of the trial's own load and the waits before it
)

// checkClient repeats the load with Knee's own loader after the attempt's own measurement. The figures of that measurement do
// not change. If the check fails, the record gets a note, and the attempt stays valid.
func (a *attempt) checkClient(ctx context.Context) {
	if !a.Config.ClientCheck {
		return
	}
	a.say("client-bound check: repeating the load with Knee's own loader")
	a.hideSecrets()
	whole := a.record // saved if the attempt is interrupted during the check
	whole.ClientCheck = &record.ClientCheck{Note: interrupted}
	a.measured.Store(&whole)
	check, err := a.repeat(ctx)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		err = fmt.Errorf("%s, while the client check was in this state: %s", interrupted, withoutReason(err))
	}
	if err != nil {
		check = record.ClientCheck{Note: a.secrets.Hide(withoutReason(err))}
		a.say("the client-bound check (spec.workload.clientBoundCheck) has no result: %s", check.Note)
	} else {
		a.say("client-bound check: %.0f docs/s with Knee's own loader, %.0f docs/s with %s", check.DocsPerSecond, a.record.Ingest.DocsPerSecond, a.record.Driver.Name)
	}
	a.record.ClientCheck = &check
}

// withoutReason returns the text of an error without its Reason (see record.Error). A failed check is no error of the trial,
// so its note needs no Reason.
func withoutReason(err error) string {
	var f *record.Error
	if errors.As(err, &f) {
		return strings.Replace(err.Error(), f.Error(), f.Message, 1)
	}
	return err.Error()
}

// repeat makes the load again with Knee's own loader, as a separate attempt in this pod.
func (a *attempt) repeat(ctx context.Context) (record.ClientCheck, error) {
	none := record.ClientCheck{}
	d, can := a.driver.(driver.Repeater)
	if !can || a.session.Part.Of > 1 || a.record.Ingest == nil {
		return none, fmt.Errorf("spec.workload.clientBoundCheck works only for a load that opensearch-benchmark makes with 1 loader pod; this trial has the driver %s and %d loader pods", a.record.Driver.Name, a.session.Part.Of)
	}
	bulk, err := d.AsBulk(a.outcome, a.whole.To.Sub(a.whole.From))
	if err != nil {
		return none, fmt.Errorf("cannot repeat the load: %w", err)
	}
	ctx, cancel, err := a.timeToRepeat(ctx)
	if err != nil {
		return none, err
	}
	defer cancel()
	folder := filepath.Join(a.Work, "client-check")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return none, err
	}
	config, err := a.repeatConfig(ctx, bulk, folder)
	if err != nil {
		return none, fmt.Errorf("cannot prepare the index for the client check, which repeats the load with another loader: %w", err)
	}
	again := begin(Options{Config: config, Work: folder, Program: a.Agent, Output: a.Output, Drivers: a.Drivers, Programs: a.Programs, Wall: a.Wall, Network: a.Network}, 0)
	err = again.run(ctx)
	again.endLoad(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return none, fmt.Errorf("%w, while the client check was in this state: %s", context.Cause(ctx), withoutReason(err))
	case err != nil:
		return none, err
	}
	return compareLoads(a.record.Ingest, again.record)
}

// timeToRepeat returns a context that ends some time before the trial's deadline. So the trial can always write its own
// record. timeToRepeat fails if the remaining time is too short for the check.
func (a *attempt) timeToRepeat(ctx context.Context) (context.Context, context.CancelFunc, error) {
	deadline, set := ctx.Deadline()
	if !set {
		ctx, cancel := context.WithCancel(ctx)
		return ctx, cancel, nil
	}
	took := driver.Seconds(a.record.Settle.Seconds+a.record.Settle.WaitSeconds) + a.span.Duration()
	left, need := time.Until(deadline)-checkReserve, time.Duration(checkFactor*float64(took))
	if left < need {
		return nil, nil, fmt.Errorf("the client-bound check has only %s left. The load and the waits before the load took %s, so the check requires at least %s: increase spec.timeouts.trialSeconds",
			max(0, left).Round(time.Second), took.Round(time.Second), need.Round(time.Second))
	}
	ctx, cancel := context.WithDeadlineCause(ctx, deadline.Add(-checkReserve), errors.New("the client-bound check did not end in time before the trial's deadline (increase spec.timeouts.trialSeconds)"))
	return ctx, cancel, nil
}

// repeatConfig returns this attempt's configuration with Knee's own loader as the driver. The index is created from the
// campaign's body. If there is no such body, the body is read from the index that the driver created.
func (a *attempt) repeatConfig(ctx context.Context, bulk record.DriverConfig, folder string) (record.Config, error) {
	c := a.Config
	c.Driver, c.ClientCheck, c.Artifacts = bulk, false, ""
	c.Sources = record.Sources{} // the trial has already compared the sources
	if c.Index.BodyFile != "" {
		return c, nil
	}
	if c.Index.DataStream {
		return c, errors.New("the workload creates the data stream, so Knee has no index body: set spec.workload.index.bodyFrom")
	}
	body, err := a.session.Cluster.BodyOf(ctx, c.Index.Name)
	if err != nil {
		return c, err
	}
	c.Index.BodyFile = filepath.Join(folder, "index.json")
	return c, os.WriteFile(c.Index.BodyFile, body, 0o644)
}

// compareLoads returns the figures of the repeated load. It adds notes about differences from the first load.
func compareLoads(first *record.Ingest, again record.Record) (record.ClientCheck, error) {
	in, l := again.Ingest, again.Loader
	if in == nil || in.DocsPerSecond <= 0 {
		return record.ClientCheck{}, fmt.Errorf("when the client check repeated the load, OpenSearch accepted no document and rejected %d requests", again.Rejections.Total())
	}
	out := record.ClientCheck{DocsPerSecond: in.DocsPerSecond, WholeDocsPerSec: in.WholeDocsPerSec, Window: in.Window, Seconds: in.Seconds, Documents: in.Documents,
		BulkSize: in.BulkSize, Rejections: again.Rejections.Total(), UtilizationOfTime: l.UtilizationOfTime}
	out.CPUPerMillion = l.CPUCores / in.DocsPerSecond * 1e6
	var notes []string
	if first.SettingsDigest != in.SettingsDigest {
		notes = append(notes, "the index of the repeated load differs from the index of the first load in its settings or its mapping")
	}
	if again.Settle.Note != "" {
		notes = append(notes, "the OpenSearch cluster was still busy when the client-bound check began: "+again.Settle.Note)
	}
	out.Note = strings.Join(notes, "; ")
	return out, nil
}
