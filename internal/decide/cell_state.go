package decide

import (
	"github.com/knee-bench/knee/internal/plan"
)

// CellState is the state of a cell's OpenSearch before the next turn.
type CellState string

// The states of a cell. A cell whose cluster Knee does not provision is always Busy or Ready.
const (
	Busy           CellState = "Busy"           // a trial runs, its record does not exist yet, or its pods still run
	Deleting       CellState = "Deleting"       // the old cluster is being deleted
	Missing        CellState = "Missing"        // there is no cluster
	Stopped        CellState = "Stopped"        // the cluster has no nodes
	Stopping       CellState = "Stopping"       // the cluster's pods are being deleted
	OtherPlacement CellState = "OtherPlacement" // the cluster was created for another placement
	UsedJVM        CellState = "UsedJVM"        // the turn needs a fresh JVM, but the cluster's JVM has run other trials
	Starting       CellState = "Starting"       // not all nodes are ready
	Ready          CellState = "Ready"
)

// stateOf returns the state of a cell before a turn.
func (d *decider) stateOf(cell plan.Cell, turn plan.Turn) CellState {
	cluster, exists := d.world.Clusters[cell.Name]
	switch {
	case exists && cluster.Deleting:
		return Deleting
	case (!cell.Provisioned() || exists) && d.isBusy(cell.Name):
		return Busy // a running trial reports the loss of a node itself
	case !cell.Provisioned():
		return Ready
	case cluster.Made && cluster.Placement != turn.Placement():
		return OtherPlacement
	case exists && cluster.Replicas > 0 && turn.Fresh && d.hasUsedJVM(cell.Name, cluster.JVM, turn):
		return UsedJVM
	case exists && cluster.Replicas == 0 && cluster.Pods > 0:
		return Stopping
	case !exists:
		return Missing
	case cluster.Replicas == 0:
		return Stopped
	case cluster.Ready != cell.Spec.Topology.Nodes:
		return Starting
	}
	return Ready
}
