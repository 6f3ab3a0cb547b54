package decide

import (
	"maps"
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// pause decides for a group of a campaign that may not start anything, because it is suspended or waits for other campaigns. A
// running trial ends normally.
func (d *decider) pause(group int) {
	for _, i := range d.plan.Groups[group] {
		d.pauseCell(d.plan.Cells[i].Name)
	}
}

// pauseCell decides for a cell that may not start anything.
func (d *decider) pauseCell(name string) {
	cluster := d.world.Clusters[name]
	job, running := d.openJob(name)
	d.Phases[name] = d.restingPhase()
	switch {
	case running && !d.may.KeepNodes && d.releaseJob(job):
	case running:
		d.Phases[name] = string(job.Attempt.Phase)
		d.waitForJob(job)
	case cluster.Deleting:
		since, left := d.deletingObjects(name)
		d.waitForDeletion("objects of cell "+name+" are being deleted", since, left)
	case cluster.Replicas > 0 && !d.may.KeepNodes:
		d.act(Action{Kind: StopCluster, Cell: name})
		d.wait("OpenSearch of cell %s is being stopped, so that its Kubernetes nodes become free", name)
	case cluster.Replicas > 0:
		d.Kept = append(d.Kept, name)
	case cluster.Pods > 0:
		d.waitForDeletion("OpenSearch of cell "+name+" is being stopped, so that its Kubernetes nodes become free", cluster.Since, cluster.Left)
	}
}

// existingCells returns the names of the cells that have a cluster or a Job, sorted.
func (d *decider) existingCells() []string {
	cells := map[string]bool{}
	for name := range d.world.Clusters {
		cells[name] = true
	}
	for _, job := range d.world.Jobs {
		cells[job.Cell] = true
	}
	return slices.Sorted(maps.Keys(cells))
}

// permission holds what the campaign may do, given its suspension and the other campaigns.
type permission struct {
	Start     bool   // trials and nodes may start
	KeepNodes bool   // nodes may stay even if no trial or node may start
	Blocked   bool   // it waits for a campaign that wants no nodes but keeps some
	WaitsFor  string // the campaigns that this campaign waits for and the reasons, as text for users; empty: it does not wait
}

// permission returns what the campaign may do now.
func (d *decider) permission(whenSuspended v1alpha1.SuspendPolicy) permission {
	self, wants := d.world.Self, d.wantedPools()
	if !self.Yielded.IsZero() {
		wants = slices.Concat(wants, self.Holds) // nodes of measured cells are released, too
	}
	found := admit(self, wants, d.world.Rivals, newQueue(self, d.world.Rivals, d.world.Services))
	waitsFor := found.String()
	releases := d.world.Suspended && whenSuspended == v1alpha1.SuspendReleaseNodes
	return permission{
		Start:     !d.world.Suspended && !d.deadlineExceeded && waitsFor == "",
		KeepNodes: len(found.ahead) == 0 && !releases,
		Blocked:   found.isBlocked(),
		WaitsFor:  waitsFor,
	}
}

// unstall turns the problem of a suspended campaign into a wait, because a suspended campaign does not need the missing object
// now.
func (d *decider) unstall() {
	if d.world.Suspended && d.Stalled != nil {
		d.wait("%s: %s", d.Stalled.Reason, d.Stalled.Message)
		d.Stalled = nil
	}
}
