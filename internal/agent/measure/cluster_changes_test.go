package measure

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/record"
)

func TestBaseline_changes(t *testing.T) {
	base := func() Baseline {
		return Baseline{
			Nodes: []opensearch.Node{{ID: "a", Name: "n1", WriteRejected: 5, MemoryRejected: 1}, {ID: "b", Name: "n2", ShardRejected: 4}},
			Infos: []opensearch.NodeInfo{{ID: "a", Name: "n1", Started: 100}, {ID: "b", Name: "n2", Started: 200}},
		}
	}
	for name, c := range map[string]struct {
		change     func(*Baseline)
		want       string
		rejections record.Rejections
	}{
		"none": {func(*Baseline) {}, "", record.Rejections{NoAdmissionControl: true}},
		"none, of nodes with all counters": {func(s *Baseline) {
			for i := range s.Nodes {
				n := &s.Nodes[i]
				n.HasAdmission, n.HasReplication, n.HasRemoteStore = true, true, true
			}
			s.Nodes[1].ReplicationRejected, s.Nodes[0].RemoteStoreRejected = 3, 2
		}, "", record.Rejections{SegmentReplication: ptr.To[int64](3), RemoteStore: ptr.To[int64](2)}},
		"a counter that one node does not have": {func(s *Baseline) {
			s.Nodes[0].HasReplication, s.Nodes[0].ReplicationRejected = true, 3
		}, "", record.Rejections{NoAdmissionControl: true}},
		"rejections": {func(s *Baseline) {
			s.Nodes[0].WriteRejected, s.Nodes[0].MemoryRejected, s.Nodes[1].AdmissionRejected, s.Nodes[1].ReplicationRejected = 15, 3, 7, 4
			s.Nodes[1].BreakersTripped = 2
			for i := range s.Nodes {
				s.Nodes[i].HasAdmission, s.Nodes[i].HasReplication = true, true
			}
		}, "", record.Rejections{WritePool: 10, IndexingPressure: 2, AdmissionControl: 7, CircuitBreakers: 2, SegmentReplication: ptr.To[int64](4)}},
		"shard pressure":     {func(s *Baseline) { s.Nodes[0].MemoryRejected, s.Nodes[0].ShardRejected = 4, 3 }, "", record.Rejections{NoAdmissionControl: true, IndexingPressure: 3, ShardPressure: 3}},
		"no longer enforced": {func(s *Baseline) { s.Nodes[1].ShardRejected = 0 }, "", record.Rejections{NoAdmissionControl: true}},
		"a restart":          {func(s *Baseline) { s.Infos[1].Started = 300 }, "OpenSearch node n2 restarted", record.Rejections{NoAdmissionControl: true}},
		"a new node":         {func(s *Baseline) { s.Infos[1].ID = "c" }, "node n2 joined the cluster during the load", record.Rejections{NoAdmissionControl: true}},
		"a lost node":        {func(s *Baseline) { s.Infos = s.Infos[:1] }, "OpenSearch node n2 left the cluster during the load: 2 nodes before, 1 nodes after", record.Rejections{NoAdmissionControl: true}},
		"a decrease":         {func(s *Baseline) { s.Nodes[0].WriteRejected = 0 }, "thread_pool.write.rejected of OpenSearch node n1 went down from 5 to 0", record.Rejections{NoAdmissionControl: true}},
	} {
		after := base()
		c.change(&after)
		got := differentNodes(base().Infos, after.Infos, "the load")
		if got == "" {
			got = decreased(base().Nodes, after.Nodes)
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if got := rejections(base().Nodes, after.Nodes); !reflect.DeepEqual(got, c.rejections) {
			t.Errorf("%s: %+v, want %+v", name, got, c.rejections)
		}
	}
}

func TestRejections_noNodes_leavesOptionalCountersUnknown(t *testing.T) {
	if r := rejections(nil, nil); r.SegmentReplication != nil || r.RemoteStore != nil {
		t.Errorf("%+v", r)
	}
}

func TestMovedShards(t *testing.T) {
	base := opensearch.Allocations{Primaries: map[string]string{"i/0": "x/1", "i/1": "y/2"}, Replicas: map[string]string{"y/3": "i/0"}}
	for name, c := range map[string]struct {
		after opensearch.Allocations
		want  string
	}{
		"nothing":             {base, ""},
		"a primary":           {opensearch.Allocations{Primaries: map[string]string{"i/0": "x/1", "i/1": "x/3"}, Replicas: base.Replicas}, "primary shard i/1 moved"},
		"a replica":           {opensearch.Allocations{Primaries: base.Primaries, Replicas: map[string]string{"z/4": "i/0"}}, "a replica of shard i/0 was lost or moved"},
		"a rollover":          {opensearch.Allocations{Primaries: map[string]string{"i/0": "x/1", "i/1": "y/2", "j/0": "x/9"}, Replicas: base.Replicas}, ""},
		"a replica that came": {opensearch.Allocations{Primaries: base.Primaries, Replicas: map[string]string{"y/3": "i/0", "x/5": "i/1"}}, ""},
	} {
		if got := MovedShards(&base, c.after); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := MovedShards(nil, base); got == "" {
		t.Error("primaries that are not known were taken for unmoved")
	}
}

// TestRecorder_addHealth checks that an index that is being created may be yellow. Only a later loss of green counts.
func TestRecorder_addHealth(t *testing.T) {
	green := opensearch.Health{Status: "green", Nodes: 2}
	yellow := opensearch.Health{Status: "yellow", Nodes: 2, Unassigned: 3}
	backing := func(health ...opensearch.Health) opensearch.Health { // indices of a data stream, which has the status of its worst index
		all := opensearch.Health{Status: "yellow", Nodes: 2, Indices: map[string]opensearch.Health{}}
		for i, h := range health {
			all.Indices[fmt.Sprintf(".ds-i-00000%d", i+1)] = h
		}
		return all
	}
	for name, c := range map[string]struct {
		seen []opensearch.Health
		want string
	}{
		"green":               {[]opensearch.Health{green, green}, ""},
		"being made":          {[]opensearch.Health{yellow, green}, ""},
		"yellow later":        {[]opensearch.Health{green, yellow, green}, "the index was yellow during the load: 3 shards unassigned"},
		"relocating":          {[]opensearch.Health{green, {Status: "green", Nodes: 2, Relocating: 1}}, "1 relocating"},
		"a node less":         {[]opensearch.Health{green, {Status: "green", Nodes: 1}}, "1 nodes instead of 2"},
		"a rollover":          {[]opensearch.Health{backing(green), backing(green, yellow), backing(green, green)}, ""},
		"yellow meanwhile":    {[]opensearch.Health{backing(green), backing(yellow, yellow)}, "the index .ds-i-000001 was yellow during the load"},
		"yellow after that":   {[]opensearch.Health{backing(green), backing(green, green), backing(green, yellow)}, "the index .ds-i-000002 was yellow during the load"},
		"a node less at once": {[]opensearch.Health{{Status: "yellow", Nodes: 1}}, "1 nodes instead of 2"},
	} {
		w := &Recorder{target: Target{Index: "i", Nodes: 2}, green: map[string]bool{}}
		w.addHealth(opensearch.Health{Status: "red"}) // before the first document, when the index does not exist
		w.seen.Last.Total = 1
		for _, h := range c.seen {
			w.addHealth(h)
		}
		if got := w.seen.Change; c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestLatestJVMStart_returnsLatestNode checks that a restart of any node changes the start that the record holds.
func TestLatestJVMStart_returnsLatestNode(t *testing.T) {
	b := Baseline{Infos: []opensearch.NodeInfo{{ID: "a", Started: 300}, {ID: "b", Started: 200}}}
	if got := LatestJVMStart(b); got != 300 {
		t.Errorf("%d, want 300", got)
	}
	if got := LatestJVMStart(Baseline{}); got != 0 {
		t.Errorf("%d without nodes, want 0", got)
	}
}
