package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// repeater is a driver whose load Knee's own loader can make as well.
type repeater interface {
	// asBulk is the load that was made. Its error says in a note why nobody else can make it.
	asBulk() (record.BulkConfig, error)
}

// What a check leaves of the trial's deadline, and how much longer than the load before it may take.
const (
	checkReserve = 30 * time.Second
	checkFactor  = 1.5
)

// checkClient repeats the load with Knee's own loader, after all else that the attempt is for: nothing of its own figures
// is touched. A check that cannot be made leaves a note, and never makes the attempt invalid.
func (a *attempt) checkClient(ctx context.Context) {
	if !a.Config.ClientCheck {
		return
	}
	a.say("client-bound check: the same load by Knee's own loader")
	a.hideSecrets()
	whole := a.record // as it stands when the attempt is ended meanwhile
	whole.ClientCheck = &record.ClientCheck{Note: interrupted}
	a.measured.Store(&whole)
	check, err := a.repeat(ctx)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		err = fmt.Errorf("%s, during: %s", interrupted, words(err))
	}
	if err != nil {
		check = record.ClientCheck{Note: a.secrets.hide(words(err))}
		a.say("no client-bound check: %s", check.Note)
	} else {
		a.say("client-bound check: %.0f docs/s, %.0f by %s", check.DocsPerSecond, a.record.Ingest.DocsPerSecond, a.record.Driver.Name)
	}
	a.record.ClientCheck = &check
}

// words is an error without its reason: that of a check is no error of the trial.
func words(err error) string {
	var f *failure
	if errors.As(err, &f) {
		return strings.Replace(err.Error(), f.Error(), f.message, 1)
	}
	return err.Error()
}

// repeat makes the load once more as an attempt of its own in this pod.
func (a *attempt) repeat(ctx context.Context) (record.ClientCheck, error) {
	none := record.ClientCheck{}
	d, can := a.driver.(repeater)
	if !can || a.part.of > 1 || a.record.Ingest == nil {
		return none, fmt.Errorf("a load of %s by %d loader pods cannot be repeated", a.record.Driver.Name, a.part.of)
	}
	bulk, err := d.asBulk()
	if err != nil {
		return none, fmt.Errorf("the load cannot be repeated: %w", err)
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
		return none, fmt.Errorf("the index cannot be made anew: %w", err)
	}
	again := begin(Options{Config: config, Work: folder, Program: a.Agent, Output: a.Output, Programs: a.Programs, Wall: a.Wall, Network: a.Network})
	err = again.run(ctx)
	again.endLoad(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return none, fmt.Errorf("%w, during: %s", context.Cause(ctx), words(err))
	case err != nil:
		return none, err
	}
	return checked(a.record.Ingest, again.record)
}

// timeToRepeat gives a context that ends before the trial's deadline, so that the trial's own record is written whatever
// the check does, where the time that is left will do for it.
func (a *attempt) timeToRepeat(ctx context.Context) (context.Context, context.CancelFunc, error) {
	deadline, set := ctx.Deadline()
	if !set {
		ctx, cancel := context.WithCancel(ctx)
		return ctx, cancel, nil
	}
	took := seconds(a.record.Settle.Seconds+a.record.Settle.WaitSeconds) + a.ended.Sub(a.clock.at)
	left, need := time.Until(deadline)-checkReserve, time.Duration(checkFactor*float64(took))
	if left < need {
		return nil, nil, fmt.Errorf("the trial's deadline (spec.timeouts.trialSeconds) leaves %s, and the load with the waits before it took %s: at least %s are needed",
			max(0, left).Round(time.Second), took.Round(time.Second), need.Round(time.Second))
	}
	ctx, cancel := context.WithDeadlineCause(ctx, deadline.Add(-checkReserve), errors.New("the time that the trial's deadline (spec.timeouts.trialSeconds) leaves was too short"))
	return ctx, cancel, nil
}

// repeatConfig is this attempt's with another driver. The index is made from the campaign's body, or from what became of
// the driver's own.
func (a *attempt) repeatConfig(ctx context.Context, bulk record.BulkConfig, folder string) (record.Config, error) {
	c := a.Config
	c.OSB, c.Bulk, c.ClientCheck, c.Artifacts = nil, &bulk, false, ""
	c.Sources = record.Sources{} // the trial itself has compared them
	if c.Index.BodyFile != "" {
		return c, nil
	}
	if c.Index.DataStream {
		return c, errors.New("the workload makes the data stream: give spec.workload.index.bodyFrom")
	}
	body, err := a.cluster.BodyOf(ctx, c.Index.Name)
	if err != nil {
		return c, err
	}
	c.Index.BodyFile = filepath.Join(folder, "index.json")
	return c, os.WriteFile(c.Index.BodyFile, body, 0o644)
}

// checked are the figures of a load that was repeated.
func checked(first *record.Ingest, again record.Record) (record.ClientCheck, error) {
	in, l := again.Ingest, again.Loader
	if in == nil || in.DocsPerSecond <= 0 {
		return record.ClientCheck{}, fmt.Errorf("no document was accepted (%d rejections)", again.Rejections.Total())
	}
	out := record.ClientCheck{DocsPerSecond: in.DocsPerSecond, WholeDocsPerSec: in.WholeDocsPerSec, Window: in.Window, Seconds: in.Seconds, Documents: in.Documents,
		BulkSize: in.BulkSize, Rejections: again.Rejections.Total(), UtilizationOfTime: l.UtilizationOfTime}
	out.CPUPerMillion = l.CPUCores / in.DocsPerSecond * 1e6
	var notes []string
	if first.SettingsDigest != in.SettingsDigest {
		notes = append(notes, "the index had other settings or another mapping than the driver's")
	}
	if again.Settle.Note != "" {
		notes = append(notes, "the cluster was not at rest before: "+again.Settle.Note)
	}
	out.Note = strings.Join(notes, "; ")
	return out, nil
}
