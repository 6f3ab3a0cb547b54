package record

import (
	"fmt"
	"slices"
	"strings"
)

// Drop names a part that was left out of a record for lack of space.
type Drop string

// loss describes which figures a Drop removed from a record. Readers of a record must not treat these figures as zero or as
// complete.
type loss uint

const (
	loseTasks       loss = 1 << iota // entire tasks, not only their latencies
	loseNodes                        // entire nodes
	loseAllNodes                     // all remaining nodes
	loseCollections                  // garbage collections of the nodes
)

// losses maps each Drop that removes tasks, nodes or garbage collections to its loss.
var losses = findLosses()

func findLosses() map[Drop]loss {
	out := map[Drop]loss{ // names that earlier releases of Knee wrote into records
		"tasks after the first 8":   loseTasks,
		"tasks after the first":     loseTasks,
		"nodes.disk,gc":             loseCollections,
		"all but the 4 worst nodes": loseNodes,
	}
	for _, s := range steps {
		if s.loses != 0 {
			out[s.name] |= s.loses
		}
	}
	return out
}

// hasLost reports whether a Drop with this loss is in the record.
func (r Record) hasLost(l loss) bool {
	return slices.ContainsFunc(r.Dropped, func(d Drop) bool { return losses[d]&l != 0 })
}

// HasLostTasks reports whether entire tasks were left out. It is false if only latencies of tasks were left out.
func (r Record) HasLostTasks() bool { return r.hasLost(loseTasks) }

// HasLostAllTasks reports whether all tasks were left out.
func (r Record) HasLostAllTasks() bool { return slices.Contains(r.Dropped, dropTasks) }

// HasLostAllNodes reports whether all nodes were left out.
func (r Record) HasLostAllNodes() bool { return r.hasLost(loseAllNodes) }

// DroppedNames returns the names in Dropped, separated by spaces.
func (r Record) DroppedNames() string {
	names := make([]string, len(r.Dropped))
	for i, d := range r.Dropped {
		names[i] = string(d)
	}
	return strings.Join(names, " ")
}

// worstNodes returns the name of the step that keeps n nodes.
func worstNodes(n int) Drop { return Drop(fmt.Sprintf("all but the %d worst nodes", n)) }
