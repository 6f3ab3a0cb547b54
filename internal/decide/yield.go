package decide

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// yield computes when the campaign gives up its turn, so that another campaign can start. A stalled campaign does so after the yield timeout.
// A campaign that waits for nodes which a suspended or finished campaign keeps gives up its turn at once. After that, the campaign releases
// its nodes and queues behind the campaigns that can start. A waiting campaign keeps its place in the queue, and its turn begins when it may
// start.
func (d *decider) yield() {
	switch {
	case d.assessment.Finished, d.world.Suspended, d.deadlineExceeded:
	case !d.may.Start:
		d.Yielded = d.world.Self.Yielded
		if d.may.Blocked && d.world.Self.isActive() && d.hasSuccessor() {
			d.Yielded = d.now
		}
	case d.Stalled == nil && d.world.StalledSince.IsZero(): // it is not and was not stalled, so it does not yield yet
	case d.hasSuccessor():
		since := d.world.StalledSince
		if since.IsZero() {
			since = d.now
		}
		d.YieldAt = since.Add(d.plan.YieldTimeout)
		if d.Stalled != nil && d.now.Before(d.YieldAt) {
			d.wakeAt(d.YieldAt)
		}
	}
}

// YieldedAt returns when the campaign gave up its turn. The parameter isStalled reports whether the campaign is Stalled: by the decision, or
// because the API server refused one of its actions. Zero means that the campaign has its turn, or queues from its creation.
func (d Decision) YieldedAt(isStalled bool, now time.Time) time.Time {
	if isStalled && !d.YieldAt.IsZero() && !now.Before(d.YieldAt) {
		return now
	}
	return d.Yielded
}

// hasSuccessor reports whether another campaign would come first and could start if this campaign gave up its turn now.
func (d *decider) hasSuccessor() bool {
	self := d.world.Self
	wants := slices.Concat(d.wantedPools(), self.Holds)
	self.Yielded = d.now.Truncate(time.Second) // as the status stores it
	order := newQueue(self, d.world.Rivals, append(slices.Clip(d.world.Services), Service{self.Campaign.Namespace, self.Wants, self.Yielded}))
	return slices.ContainsFunc(admit(self, wants, d.world.Rivals, order).ahead, func(rival Claimant) bool {
		return !slices.ContainsFunc(d.world.Rivals, func(other Claimant) bool { return other.UID != rival.UID && order.excludes(other, rival) })
	})
}

// releaseJob deletes a Job that keeps the campaign from releasing its nodes: its pod cannot start, or it should have ended long ago. It
// reports whether the Job is such a Job. No measurement is lost, because such a Job has no record.
func (d *decider) releaseJob(job Job) bool {
	if job.State != JobLive || d.hasRecord(job) || !job.Ending.IsZero() || !d.isStuck(job) {
		return false
	}
	d.act(Action{Kind: DeleteJob, Cell: job.Cell, Attempt: job.Attempt, Job: job.Name})
	d.wait("Job %s, which cannot end, is being deleted, so that its Kubernetes nodes become free", job.Name)
	return true
}

// isStuck reports whether a Job has passed its deadline to start or to end. It schedules a decision at that deadline.
func (d *decider) isStuck(job Job) bool {
	at := job.Created.Add(d.plan.ProvisioningTimeout)
	if job.Started {
		at = d.overdueAt(job)
	} else if job.Problem.Definite {
		return true
	}
	if d.now.Before(at) {
		d.wakeAt(at)
		return false
	}
	return true
}

// checkDeadline computes since when the campaign is active, and whether spec.activeDeadlineSeconds has passed since then.
func (d *decider) checkDeadline(seconds *int64) {
	if d.assessment.Finished || d.world.Suspended {
		return
	}
	d.ActiveSince = d.world.ActiveSince
	if seconds == nil || d.ActiveSince.IsZero() {
		return
	}
	at := d.ActiveSince.Add(time.Duration(*seconds) * time.Second)
	if d.now.Before(at) {
		d.wakeAt(at)
		return
	}
	d.deadlineExceeded = true
	d.stall(Problem{Reason: v1alpha1.ReasonDeadlineExceeded, Message: fmt.Sprintf(
		"the campaign took longer than %d seconds (spec.activeDeadlineSeconds) since %s, and %d of %d trials are done: raise spec.activeDeadlineSeconds to continue, or reduce what the campaign measures",
		*seconds, d.ActiveSince.UTC().Format(time.RFC3339), d.assessment.Done, d.assessment.Planned)})
}

// activate sets ActiveSince when the campaign starts its first nodes or its first trial, and when the spec of an active campaign was
// edited.
func (d *decider) activate() {
	if !d.ActiveSince.IsZero() || d.assessment.Finished || d.world.Suspended {
		return
	}
	starts := func(a Action) bool { return a.Kind == StartCluster || a.Kind == StartTrial }
	hasNodes := func(c Cluster) bool { return c.Replicas > 0 }
	clusters := slices.Collect(maps.Values(d.world.Clusters))
	if !d.world.Self.Since.IsZero() || slices.ContainsFunc(d.Actions, starts) || len(d.Running) > 0 || slices.ContainsFunc(clusters, hasNodes) {
		d.ActiveSince = d.now
	}
}

// StaysFinished reports whether a campaign was finished with its present spec, and no record was lost or damaged since. Such a campaign
// starts nothing, even if this version of Knee would refuse its spec or would measure more.
func StaysFinished(p plan.Plan, w World, records []record.Record) bool {
	return w.FinishedWith > 0 && Readable(p, records) >= w.FinishedWith
}

// Readable returns the number of attempts of the plan's cells that have a readable record.
func Readable(p plan.Plan, records []record.Record) int {
	d := decider{plan: p}
	cells, n := d.cellHashes(), 0
	for _, r := range records {
		if cells[r.Attempt.Cell] && (r.Error == nil || r.Error.Reason != record.ReasonRecordUnreadable) {
			n++
		}
	}
	return n
}

// Release decides for a campaign that cannot be planned, because its spec or a ConfigMap that the spec names is not valid. Nothing starts.
// A running trial ends normally. OpenSearch keeps its nodes for the yield timeout, so that a correction in time loses nothing. Then the
// campaign gives up its turn. After spec.activeDeadlineSeconds everything ends, as for any other campaign.
func Release(p plan.Plan, w World, spec v1alpha1.BenchmarkCampaignSpec, now time.Time) Decision {
	d := decider{plan: p, world: w, now: now}
	d.Phases = map[string]string{}
	d.checkDeadline(spec.ActiveDeadlineSeconds)
	d.Actions = Upkeep(w)
	since := w.StalledSince
	if since.IsZero() {
		since = now
	}
	d.activate()
	d.Yielded = w.Self.Yielded
	if until := since.Add(p.YieldTimeout); now.Before(until) {
		d.may.KeepNodes = true
		d.wakeAt(until)
	} else if w.Self.isActive() && !w.Suspended {
		d.Yielded = now
	}
	for _, cell := range d.existingCells() {
		if d.deadlineExceeded {
			d.tearDownCell(cell)
		} else {
			d.pauseCell(cell)
		}
	}
	d.Stalled = nil // the status reports why there is no plan
	return d.Decision
}
