package decide

import "github.com/knee-bench/knee/api/v1alpha1"

// pause is what a campaign does that may start nothing: it is suspended, or others come first. What runs is left to
// finish.
func (d *decider) pause(group int) {
	for _, i := range d.plan.Groups[group] {
		name := d.plan.Cells[i].Name
		cluster := d.world.Clusters[name]
		job, running := d.unrecorded(name)
		d.Phases[name] = d.restingPhase()
		switch {
		case running:
			d.Phases[name] = string(job.Attempt.Phase)
			d.waitForJob(job)
		case cluster.Deleting:
			since, left := d.leaving(name)
			d.gone("objects of "+name+" are deleted", since, left)
		case cluster.Replicas > 0 && d.letsGo:
			d.act(Action{Kind: StopCluster, Cell: name})
			d.wait("nodes of %s are let go", name)
		case cluster.Replicas > 0:
			d.Kept = append(d.Kept, name)
		case cluster.Pods > 0:
			d.gone("nodes of "+name+" are let go", cluster.Since, cluster.Left)
		}
	}
}

// queue finds whom the campaign waits for, and whether it has to let its nodes go.
func (d *decider) queue(whenSuspended v1alpha1.SuspendPolicy) {
	self := d.world.Self
	self.Wants = d.wants()
	found := admit(self, d.world.Rivals)
	d.Queued = found.String()
	d.paused = d.world.Suspended || d.Queued != ""
	d.letsGo = len(found.ahead) > 0 || d.world.Suspended && whenSuspended == v1alpha1.SuspendReleaseNodes
}

// unstall makes of what a suspended campaign cannot do no more than a word about it: nobody has asked for it now.
func (d *decider) unstall() {
	if d.world.Suspended && d.Stalled != nil {
		d.wait("%s: %s", d.Stalled.Reason, d.Stalled.Message)
		d.Stalled = nil
	}
}
