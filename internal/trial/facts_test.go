package trial

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/cluster"
)

// measured is a task with figures.
func measured(name string, errorRate float64) record.Task {
	return record.Task{Name: name, Throughput: 40000, ErrorRate: errorRate, ServiceTime: &record.Latency{Mean: 100}}
}

// sound are the facts of a good full-corpus load of 200,000 documents in bulks of 1,000.
func sound() facts {
	return facts{
		outcome: outcome{tasks: []record.Task{measured("index", 0)}, corpus: 200_000, bulkSize: 1000}, made: cluster.Made{Primaries: 6, Replicas: 0, RefreshInterval: "30s"}, want: cluster.Topology{Primaries: 6, RefreshInterval: "30000ms"},
		count: 200_000, total: 200_000,
	}
}

// ran makes the outcome that of a run of opensearch-benchmark.
func (f *facts) ran(o osbOutcome) {
	share := shareOf(driver.OSBIngest{Tasks: []string{"index"}, BulkSize: 1000}, nil, o)
	share.Corpus = 200_000
	data, err := json.Marshal(share)
	if err == nil {
		f.outcome, err = (&osbDriver{}).outcome([]json.RawMessage{data})
	}
	if err != nil {
		panic(err)
	}
}

func TestFacts(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*facts)
		reason string // empty: valid
		words  string
	}{
		"a good load":  {func(*facts) {}, "", ""},
		"a timed load": {func(f *facts) { f.outcome.corpus, f.count, f.total = 0, 1_234_000, 1_234_000 }, "", ""},
		// The figures of two real loads: the first with a write queue of 1, the second with little heap.
		"96.5 % rejected by the write pool": {func(f *facts) {
			f.outcome.tasks[0].ErrorRate, f.outcome.failures.rejected = 0.965, 193
			f.rejections.WritePool, f.count, f.total = 193, 7000, 7000
		}, "", ""},
		"80 % rejected by indexing pressure": {func(f *facts) {
			f.outcome.tasks[0].ErrorRate, f.outcome.failures.rejected = 0.8, 16
			f.rejections.IndexingPressure, f.outcome.bulkSize, f.count, f.total = 16, 10_000, 40_000, 40_000
		}, "", ""},
		"80 % rejected, a part of it by a circuit breaker": {func(f *facts) {
			f.outcome.tasks[0].ErrorRate, f.outcome.failures.rejected = 0.8, 16
			f.rejections = record.Rejections{IndexingPressure: 14, CircuitBreakers: 2}
			f.outcome.bulkSize, f.count, f.total = 10_000, 40_000, 40_000
		}, "", ""},
		// A request that is refused whole, as indexing pressure and admission control do it, counts as no operation: a task all of
		// whose requests were has a throughput of 0, of which opensearch-benchmark makes none.
		"all rejected, each request whole": {func(f *facts) {
			f.ran(osbOutcome{result: driver.OSBResult{Tasks: []record.Task{{Name: "index", Unit: "ops/s", ErrorRate: 1, ServiceTime: &record.Latency{Mean: 4}}}}, errors: driver.OSBErrors{Rejected: 200}})
			f.rejections.IndexingPressure, f.count, f.total = 200, 0, 0
		}, "", ""},
		"all failed, each request whole": {func(f *facts) {
			f.ran(osbOutcome{result: driver.OSBResult{Tasks: []record.Task{{Name: "index", Unit: "ops/s", ErrorRate: 1, ServiceTime: &record.Latency{Mean: 4}}}}, errors: driver.OSBErrors{Rejected: 199, Other: 1}})
			f.rejections.IndexingPressure, f.count, f.total = 199, 0, 0
		}, record.ReasonDriverIncomplete, "no throughput of task index"},
		"the index could not be created, exit 0": {func(f *facts) {
			f.ran(osbOutcome{result: driver.OSBResult{Tasks: []record.Task{measured("create-index", 1), measured("check-cluster-health", 1), measured("index", 1)}},
				errors: driver.OSBErrors{Other: 21, Lines: []string{"This JRE does not have support for Thai segmentation"}}})
		}, record.ReasonIndexNotMade, "setup task create-index failed: This JRE"},
		"other shards than the topology's": {func(f *facts) { f.made.Primaries = 1 }, record.ReasonIndexNotMade, "has 1 primaries and 0 replicas, not the topology's 6 and 0"},
		"other replicas":                   {func(f *facts) { f.made.Replicas = 1 }, record.ReasonIndexNotMade, "has 6 primaries and 1 replicas"},
		"another refresh interval":         {func(f *facts) { f.made.RefreshInterval = "1s" }, record.ReasonIndexNotMade, "refresh interval 1s, not the topology's 30000ms"},
		"no refresh interval asked":        {func(f *facts) { f.made.RefreshInterval, f.want.RefreshInterval = "1s", "" }, "", ""},
		"the task is missing":              {func(f *facts) { f.ran(osbOutcome{output: "nothing to do"}) }, record.ReasonDriverIncomplete, "no figures of task index: nothing to do"},
		"the warm-up outlasted the corpus": {func(f *facts) { f.ran(osbOutcome{result: driver.OSBResult{Tasks: []record.Task{{Name: "index"}}}}) }, record.ReasonDriverIncomplete, "warm-up"},
		"a node restarted":                 {func(f *facts) { f.upheaval, f.count = "node a restarted during the load", 3 }, record.ReasonClusterChanged, "restarted"},
		"a counter went down":              {func(f *facts) { f.problem = "went down" }, record.ReasonCountersUnusable, "went down"},
		"a node's counter went down":       {func(f *facts) { f.decreased = "went down" }, record.ReasonCountersUnusable, "went down"},
		"failures without rejections":      {func(f *facts) { f.outcome.tasks[0].ErrorRate = 0.01 }, record.ReasonRequestsFailed, "no node rejected any"},
		"more failures than rejections":    {func(f *facts) { f.outcome.tasks[0].ErrorRate, f.rejections.WritePool = 0.5, 50 }, record.ReasonRequestsFailed, "about 100 requests of task index failed, but only 50 were rejected"},
		"timeouts beside rejections": {func(f *facts) {
			f.outcome.failures = failures{rejected: 9, other: 1, lines: []string{"timed out"}}
			f.rejections.WritePool = 9
		}, record.ReasonRequestsFailed, "1 failures are not rejections: timed out"},
		"a timed load that failed more":    {func(f *facts) { f.outcome.corpus, f.outcome.tasks[0].ErrorRate, f.rejections.WritePool = 0, 0.5, 100 }, record.ReasonRequestsFailed, "about 200 requests"},
		"documents refused by the mapping": {func(f *facts) { f.failed = 3 }, record.ReasonRequestsFailed, "3 index operations failed"},
		"a document is missing":            {func(f *facts) { f.count, f.total = 199_999, 199_999 }, record.ReasonCountMismatch, "of the 1 missing, 0 rejections explain 0"},
		"more are missing than were refused": {func(f *facts) {
			f.count, f.total, f.rejections.WritePool = 190_000, 190_000, 9
			f.outcome.tasks[0].ErrorRate = 0.045
		}, record.ReasonCountMismatch, "of the 10000 missing, 9 rejections explain 9000 at most"},
		"a bulk size that is not known": {func(f *facts) { f.outcome.bulkSize, f.count, f.total, f.rejections.WritePool = 0, 150_000, 150_000, 1 }, "", ""},
		"missing without a rejection":   {func(f *facts) { f.outcome.bulkSize, f.count, f.total = 0, 150_000, 150_000 }, record.ReasonCountMismatch, "of the 50000 missing"},
		"documents too many":            {func(f *facts) { f.count, f.total = 200_001, 200_001 }, record.ReasonCountMismatch, "1 too many"},
		"indexed but not found":         {func(f *facts) { f.count = 199_000 }, record.ReasonCountMismatch, "holds 199000 documents, but its primaries indexed 200000"},
	} {
		t.Run(name, func(t *testing.T) {
			f := sound()
			c.change(&f)
			err := f.check()
			if c.reason == "" {
				if err != nil {
					t.Errorf("%v", err)
				}
				return
			}
			var got *failure
			if !errors.As(err, &got) || got.reason != c.reason || !strings.Contains(got.message, c.words) {
				t.Errorf("%v, want %s with %q", err, c.reason, c.words)
			}
		})
	}
}

func TestRejections_noNodes_leavesOptionalCountersUnknown(t *testing.T) {
	if r := rejections(nil, nil); r.SegmentReplication != nil || r.RemoteStore != nil {
		t.Errorf("%+v", r)
	}
}

func TestNodesThatChanged(t *testing.T) {
	base := func() snapshot {
		return snapshot{
			nodes: []cluster.Node{{ID: "a", Name: "n1", WriteRejected: 5, MemoryRejected: 1}, {ID: "b", Name: "n2", ShardRejected: 4}},
			infos: []cluster.NodeInfo{{ID: "a", Name: "n1", Started: 100}, {ID: "b", Name: "n2", Started: 200}},
		}
	}
	for name, c := range map[string]struct {
		change     func(*snapshot)
		want       string
		rejections record.Rejections
	}{
		"none": {func(*snapshot) {}, "", record.Rejections{NoAdmissionControl: true}},
		"none, of nodes with all counters": {func(s *snapshot) {
			for i := range s.nodes {
				n := &s.nodes[i]
				n.HasAdmission, n.HasReplication, n.HasRemoteStore = true, true, true
			}
			s.nodes[1].ReplicationRejected, s.nodes[0].RemoteStoreRejected = 3, 2
		}, "", record.Rejections{SegmentReplication: ptr.To[int64](3), RemoteStore: ptr.To[int64](2)}},
		"a counter that one node does not have": {func(s *snapshot) {
			s.nodes[0].HasReplication, s.nodes[0].ReplicationRejected = true, 3
		}, "", record.Rejections{NoAdmissionControl: true}},
		"rejections": {func(s *snapshot) {
			s.nodes[0].WriteRejected, s.nodes[0].MemoryRejected, s.nodes[1].AdmissionRejected, s.nodes[1].ReplicationRejected = 15, 3, 7, 4
			s.nodes[1].BreakersTripped = 2
			for i := range s.nodes {
				s.nodes[i].HasAdmission, s.nodes[i].HasReplication = true, true
			}
		}, "", record.Rejections{WritePool: 10, IndexingPressure: 2, AdmissionControl: 7, CircuitBreakers: 2, SegmentReplication: ptr.To[int64](4)}},
		"shard pressure":     {func(s *snapshot) { s.nodes[0].MemoryRejected, s.nodes[0].ShardRejected = 4, 3 }, "", record.Rejections{NoAdmissionControl: true, IndexingPressure: 3, ShardPressure: 3}},
		"no longer enforced": {func(s *snapshot) { s.nodes[1].ShardRejected = 0 }, "", record.Rejections{NoAdmissionControl: true}},
		"a restart":          {func(s *snapshot) { s.infos[1].Started = 300 }, "node n2 restarted", record.Rejections{NoAdmissionControl: true}},
		"a new node":         {func(s *snapshot) { s.infos[1].ID = "c" }, "node n2 was not there", record.Rejections{NoAdmissionControl: true}},
		"a lost node":        {func(s *snapshot) { s.infos = s.infos[:1] }, "node n2 is gone since the load: 2 nodes before, 1 after", record.Rejections{NoAdmissionControl: true}},
		"a decrease":         {func(s *snapshot) { s.nodes[0].WriteRejected = 0 }, "thread_pool.write.rejected of node n1 went down from 5 to 0", record.Rejections{NoAdmissionControl: true}},
	} {
		after := base()
		c.change(&after)
		got := differentNodes(base().infos, after.infos, "the load")
		if got == "" {
			got = decreased(base().nodes, after.nodes)
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if got := rejections(base().nodes, after.nodes); !reflect.DeepEqual(got, c.rejections) {
			t.Errorf("%s: %+v, want %+v", name, got, c.rejections)
		}
	}
}

func TestShardsThatMoved(t *testing.T) {
	base := cluster.Allocations{Primaries: map[string]string{"i/0": "x/1", "i/1": "y/2"}, Replicas: map[string]string{"y/3": "i/0"}}
	for name, c := range map[string]struct {
		after cluster.Allocations
		want  string
	}{
		"nothing":             {base, ""},
		"a primary":           {cluster.Allocations{Primaries: map[string]string{"i/0": "x/1", "i/1": "x/3"}, Replicas: base.Replicas}, "primary i/1 moved"},
		"a replica":           {cluster.Allocations{Primaries: base.Primaries, Replicas: map[string]string{"z/4": "i/0"}}, "a replica of i/0 was lost or moved"},
		"a rollover":          {cluster.Allocations{Primaries: map[string]string{"i/0": "x/1", "i/1": "y/2", "j/0": "x/9"}, Replicas: base.Replicas}, ""},
		"a replica that came": {cluster.Allocations{Primaries: base.Primaries, Replicas: map[string]string{"y/3": "i/0", "x/5": "i/1"}}, ""},
	} {
		if got := movedShards(&base, c.after); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := movedShards(nil, base); got == "" {
		t.Error("primaries that are not known were taken for unmoved")
	}
}

// Only what an index loses is an upheaval: it is not green while it is made.
func TestHealthDuringALoad(t *testing.T) {
	green := cluster.Health{Status: "green", Nodes: 2}
	yellow := cluster.Health{Status: "yellow", Nodes: 2, Unassigned: 3}
	backing := func(health ...cluster.Health) cluster.Health { // of a data stream: as red as the worst
		all := cluster.Health{Status: "yellow", Nodes: 2, Indices: map[string]cluster.Health{}}
		for i, h := range health {
			all.Indices[fmt.Sprintf(".ds-i-00000%d", i+1)] = h
		}
		return all
	}
	for name, c := range map[string]struct {
		seen []cluster.Health
		want string
	}{
		"green":               {[]cluster.Health{green, green}, ""},
		"being made":          {[]cluster.Health{yellow, green}, ""},
		"yellow later":        {[]cluster.Health{green, yellow, green}, "the index was yellow during the load: 3 shards unassigned"},
		"relocating":          {[]cluster.Health{green, {Status: "green", Nodes: 2, Relocating: 1}}, "1 relocating"},
		"a node less":         {[]cluster.Health{green, {Status: "green", Nodes: 1}}, "1 nodes instead of 2"},
		"a rollover":          {[]cluster.Health{backing(green), backing(green, yellow), backing(green, green)}, ""},
		"yellow meanwhile":    {[]cluster.Health{backing(green), backing(yellow, yellow)}, "the index .ds-i-000001 was yellow during the load"},
		"yellow after that":   {[]cluster.Health{backing(green), backing(green, green), backing(green, yellow)}, "the index .ds-i-000002 was yellow during the load"},
		"a node less at once": {[]cluster.Health{{Status: "yellow", Nodes: 1}}, "1 nodes instead of 2"},
	} {
		w := &watch{index: "i", nodes: 2, green: map[string]bool{}}
		w.addHealth(cluster.Health{Status: "red"}) // before the first document: the index is not there
		w.last.Total = 1
		for _, h := range c.seen {
			w.addHealth(h)
		}
		if got := w.seen(); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestUnmeasured(t *testing.T) {
	none := errors.New("no document was accepted")
	for name, c := range map[string]struct {
		accepted   int64
		failures   failures
		rejections int64
		refused    bool
		reason     string
	}{
		"over at once":       {500, failures{}, 0, false, record.ReasonCountersUnusable},
		"all rejected":       {0, failures{rejected: 20}, 20, true, ""},
		"all failed":         {0, failures{other: 20}, 0, false, record.ReasonRequestsFailed},
		"nothing was said":   {0, failures{}, 0, false, record.ReasonRequestsFailed},
		"rejected and worse": {0, failures{rejected: 5, other: 1}, 5, false, record.ReasonRequestsFailed},
	} {
		if got := refused(c.accepted, c.failures, record.Rejections{WritePool: c.rejections}); got != c.refused {
			t.Errorf("%s: refused altogether: %t", name, got)
		}
		if c.refused {
			continue
		}
		if err := unmeasured(none, c.accepted, ""); reasonOf(err) != c.reason {
			t.Errorf("%s: %v, want %s", name, err, c.reason)
		}
	}
}

func TestUtilization(t *testing.T) {
	// 4 clients, bulks of 1,000 documents, 100 ms each: 40,000 docs/s when no client ever does anything but wait.
	if u := utilization(36_000, &record.Latency{Mean: 100}, 1000, 4); u < 0.8999 || u > 0.9001 {
		t.Errorf("%v, want 0.9", u)
	}
	if utilization(1, nil, 1000, 4) != 0 || utilization(1, &record.Latency{Mean: 1}, 0, 4) != 0 {
		t.Error("what cannot be known is not 0")
	}
}

func TestSearchTasks(t *testing.T) {
	for name, c := range map[string]struct {
		tasks  []record.Task
		reason string
	}{
		"all measured": {[]record.Task{measured("match-all", 0), measured("range", 0)}, ""},
		"one failing":  {[]record.Task{measured("match-all", 0), measured("range", 0.02)}, record.ReasonRequestsFailed},
		"one empty":    {[]record.Task{measured("match-all", 0), {Name: "range"}}, record.ReasonDriverIncomplete},
		"none":         {nil, record.ReasonDriverIncomplete},
	} {
		err := checkSearch(osbOutcome{result: driver.OSBResult{Tasks: c.tasks}})
		var got *failure
		if c.reason == "" && err != nil || c.reason != "" && (!errors.As(err, &got) || got.reason != c.reason) {
			t.Errorf("%s: %v, want %s", name, err, c.reason)
		}
	}
}

func TestEnding(t *testing.T) {
	for exit, want := range map[int]string{64: "ended with exit code 64", 137: "memory limit", 143: "was ended by signal 15"} {
		if got := ending(exit); !strings.Contains(got, want) {
			t.Errorf("%d: %s", exit, got)
		}
	}
}

func TestALoadOfOtherClients(t *testing.T) {
	in := driver.OSBIngest{Tasks: []string{"a", "b"}, Clients: []int64{8, 1}}
	err := checkClients(in, 8)
	var f *failure
	if !errors.As(err, &f) || f.reason != record.ReasonDriverIncomplete {
		t.Fatalf("%v, want %s", err, record.ReasonDriverIncomplete)
	}
	for _, words := range []string{"task b", "1 clients", "trial's 8", "spec.workload.osb.clientsParam"} {
		if !strings.Contains(f.message, words) {
			t.Errorf("%q does not tell %q", f.message, words)
		}
	}
	in.Clients[1] = 8
	if err := checkClients(in, 8); err != nil {
		t.Errorf("the asked clients: %v", err)
	}
	if err := checkClients(driver.OSBIngest{}, 8); err != nil {
		t.Errorf("nothing is known: %v", err)
	}
}
