package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// World holds the simulated objects of one campaign.
type World struct {
	decide.World
	jvms int
}

// NewWorld returns a world without objects.
func NewWorld() *World {
	return &World{World: decide.World{
		Jobs: map[string]decide.Job{}, Clusters: map[string]decide.Cluster{}, Recorded: map[record.Attempt]bool{},
	}}
}

// NewJVM returns a new identity of a JVM. No cluster had this identity before.
func (w *World) NewJVM() string {
	w.jvms++
	return fmt.Sprintf("jvm-%d", w.jvms)
}

// Begin executes an action at the time now. Until Complete is called with the same action, a started cluster has no ready node and
// a started trial runs. All other actions are complete at once. Begin returns an error if the action contradicts the world.
func (w *World) Begin(p plan.Plan, a decide.Action, now time.Time) error {
	switch a.Kind {
	case decide.StartCluster:
		return w.startCluster(p, a, now)
	case decide.StopCluster:
		c := w.Clusters[a.Cell]
		c.Replicas, c.Ready, c.Pods = 0, 0, 0
		w.Clusters[a.Cell] = c
	case decide.DeleteCluster:
		delete(w.Clusters, a.Cell)
		for name, j := range w.Jobs {
			if j.Cell == a.Cell {
				delete(w.Jobs, name)
			}
		}
	case decide.StartTrial:
		return w.startTrial(p, a, now)
	case decide.DeleteJob:
		delete(w.Jobs, a.Job)
	case decide.EndTrial:
		j := w.Jobs[a.Job]
		j.State = decide.JobFinished
		w.Jobs[a.Job] = j
	case decide.Collect:
		w.Recorded[a.Attempt] = true
	}
	return nil
}

// Complete makes the cluster of a StartCluster ready, or ends the trial of a StartTrial.
func (w *World) Complete(p plan.Plan, a decide.Action) error {
	switch a.Kind {
	case decide.StartCluster:
		c := w.Clusters[a.Cell]
		c.Ready = c.Replicas
		w.Clusters[a.Cell] = c
	case decide.StartTrial:
		cell, err := FindCell(p, a.Cell)
		if err != nil {
			return err
		}
		name := cell.AttemptName(a.Attempt)
		j := w.Jobs[name]
		j.State = decide.JobFinished
		w.Jobs[name] = j
	}
	return nil
}

func (w *World) startCluster(p plan.Plan, a decide.Action, now time.Time) error {
	cell, err := FindCell(p, a.Cell)
	if err != nil {
		return err
	}
	if c, exists := w.Clusters[a.Cell]; exists && (c.Replicas > 0 || c.Pods > 0 || c.Placement != a.Placement) {
		return fmt.Errorf("the simulated OpenSearch cluster %+v exists already, so action %+v cannot start this cluster", c, a)
	}
	n := cell.Spec.Topology.Nodes
	w.Clusters[a.Cell] = decide.Cluster{
		Name: a.Cell, JVM: w.NewJVM(), Made: true, Placement: a.Placement, Replicas: n, Pods: int(n), Since: now,
	}
	return nil
}

func (w *World) startTrial(p plan.Plan, a decide.Action, now time.Time) error {
	cell, err := FindCell(p, a.Cell)
	if err != nil {
		return err
	}
	cluster, exists := w.Clusters[a.Cell]
	if exists && a.Attempt.Placement != cluster.Placement {
		return fmt.Errorf("trial %+v has placement %d, but the cluster has placement %d", a.Attempt, a.Attempt.Placement, cluster.Placement)
	}
	if cell.Provisioned() && (cluster.Replicas == 0 || cluster.Ready != cluster.Replicas) {
		return fmt.Errorf("simulated trial %+v starts on an OpenSearch cluster that is not ready: %+v", a.Attempt, cluster)
	}
	name := cell.AttemptName(a.Attempt)
	if _, exists := w.Jobs[name]; exists {
		return fmt.Errorf("Job %s is created twice", name)
	}
	w.Jobs[name] = decide.Job{Name: name, Cell: a.Cell, JVM: a.JVM, Attempt: a.Attempt, State: decide.JobLive, Created: now, Started: true}
	return nil
}

// FindCell returns the cell of the plan with this name.
func FindCell(p plan.Plan, name string) (plan.Cell, error) {
	i := slices.IndexFunc(p.Cells, func(c plan.Cell) bool { return c.Name == name })
	if i < 0 {
		return plan.Cell{}, fmt.Errorf("the plan has no cell %s", name)
	}
	return p.Cells[i], nil
}
