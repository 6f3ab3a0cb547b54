package figures

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/record"
)

// Getter reads the value of a figure. A figure of nodes or tasks has two functions: one for the record, and one for a single node
// or task.
type Getter struct {
	kind   Kind
	record func(r *record.Record) (any, bool)
	part   func(s Subject) (any, bool) // reads the value of one node or task; nil: a field in gates.expressions has the value of the record
	facts  func(r *record.Record) []string
}

// value is a constraint: the types that a figure's value can have.
type value interface {
	float64 | int64 | string | bool | []string | map[string]float64
}

func kindOf[T value]() Kind {
	var zero T
	switch any(zero).(type) {
	case float64:
		return Number
	case int64:
		return Count
	case string:
		return Text
	case bool:
		return Bool
	case []string:
		return Texts
	default:
		return Metrics
	}
}

// always makes a function whose value is always known.
func always[P any, T value](of func(P) T) func(P) (T, bool) {
	return func(p P) (T, bool) { return of(p), true }
}

// nonZero makes a function whose value is unknown if it is the zero value.
func nonZero[P any, T interface {
	value
	comparable
}](of func(P) T) func(P) (T, bool) {
	return func(p P) (T, bool) {
		var zero T
		v := of(p)
		return v, v != zero
	}
}

// within makes a function that reads a figure from a part of a record, a node or a task (W). The value is unknown if the part is
// absent.
func within[W, P any, T value](part func(*W) *P, of func(*P) (T, bool)) func(*W) (T, bool) {
	return func(w *W) (T, bool) {
		if p := part(w); p != nil {
			return of(p)
		}
		var zero T
		return zero, false
	}
}

func ofRecord[T value](of func(*record.Record) (T, bool)) Getter {
	return Getter{kind: kindOf[T](), record: func(r *record.Record) (any, bool) { v, ok := of(r); return v, ok }}
}

// ofTime reads Unix milliseconds; 0 is unknown.
func ofTime(of func(*record.Record) int64) Getter {
	g := ofRecord(nonZero(of))
	g.kind = Time
	return g
}

func ofIngest[T value](of func(*record.Ingest) (T, bool)) Getter {
	return ofRecord(within(func(r *record.Record) *record.Ingest { return r.Ingest }, of))
}

func ofLoad[T value](of func(*record.Load) (T, bool)) Getter {
	return ofRecord(within(func(r *record.Record) *record.Load { return r.Load }, of))
}

// nodePart reads a figure of each node. The Getter has no value for the whole record.
func nodePart[T value](of func(*record.Node) (T, bool)) Getter {
	return Getter{kind: kindOf[T](), part: func(s Subject) (any, bool) { v, ok := of(s.Node); return v, ok }}
}

// highestNode reads a figure of each node. The value for the record is the highest value of its nodes.
func highestNode[T interface {
	value
	cmp.Ordered
}](of func(*record.Node) (T, bool)) Getter {
	g := nodePart(of)
	g.record = func(r *record.Record) (any, bool) {
		var highest T
		found := false
		for i := range r.Nodes {
			if v, ok := of(&r.Nodes[i]); ok && (!found || v > highest) {
				highest, found = v, true
			}
		}
		return highest, found
	}
	return g
}

const overHighest = "highest node"

// sumOfNodes reads a figure of each node. The value for the record is the sum of all nodes. The sum is unknown if the value of any
// node is unknown.
func sumOfNodes[T float64 | int64](of func(*record.Node) (T, bool)) Getter {
	g := nodePart(of)
	g.record = func(r *record.Record) (any, bool) {
		var sum T
		for i := range r.Nodes {
			v, ok := of(&r.Nodes[i])
			if !ok {
				return nil, false
			}
			sum += v
		}
		return sum, len(r.Nodes) > 0 && r.NodesKnown()
	}
	return g
}

const overSum = "sum of the OpenSearch nodes"

// pooled reads a figure of each node. The value for the record comes from record.Pooled, which summarizes all nodes, even nodes
// that were dropped from the record for lack of space.
func pooled[P any, T value](all func(*record.Pooled) *P, node func(*record.Node) *P, of func(*P) T) Getter {
	g := nodePart(within(node, always(of)))
	g.record = func(r *record.Record) (any, bool) {
		pool, ok := r.Pool()
		if !ok {
			return nil, false
		}
		return within(all, always(of))(&pool)
	}
	return g
}

// environment reads a fact of each node's environment. The value for the record lists the distinct facts.
func environment[T value](of func(*record.Environment) (T, bool)) Getter {
	g := nodePart(func(n *record.Node) (T, bool) { return of(&n.Environment) })
	g.facts = func(r *record.Record) []string {
		var out []string
		for i := range r.Nodes {
			if v, ok := of(&r.Nodes[i].Environment); ok {
				out = append(out, fmt.Sprint(v))
			}
		}
		return out
	}
	g.record = func(r *record.Record) (any, bool) {
		facts := g.facts(r)
		slices.Sort(facts)
		return strings.Join(slices.Compact(facts), ", "), len(facts) > 0
	}
	return g
}

// taskPart reads a figure of each task. The Getter has no value for the whole record.
func taskPart[T value](of func(*record.Task) (T, bool)) Getter {
	return Getter{kind: kindOf[T](), part: func(s Subject) (any, bool) { v, ok := of(s.Task); return v, ok }}
}

// ingestTask reads a figure of each task. The value for the record is the value of the first ingest task with a known value.
func ingestTask[T value](of func(*record.Task) (T, bool)) Getter {
	g := taskPart(of)
	g.record = func(r *record.Record) (any, bool) {
		for i := range r.Tasks {
			if v, ok := of(&r.Tasks[i]); ok && !r.Tasks[i].Search {
				return v, true
			}
		}
		return nil, false
	}
	return g
}

// clusterSeen reports whether the counters of an OpenSearch cluster were read. They are not read if a program is measured without
// OpenSearch.
func clusterSeen(r *record.Record) bool {
	return r.Ingest != nil || r.Load != nil && (len(r.Nodes) > 0 || r.HasLostAllNodes())
}
