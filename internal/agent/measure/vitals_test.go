package measure

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/agent/probe"
	"github.com/knee-bench/knee/internal/record"
)

var beginning = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func second(s float64) time.Time { return beginning.Add(time.Duration(s * float64(time.Second))) }

func TestThrottling(t *testing.T) {
	quota := func(s float64, periods, throttled int64) Vital {
		return Vital{second(s), opensearch.Vital{HasQuota: true, Periods: periods, Throttled: throttled}}
	}
	load := []Vital{quota(0, 1000, 50), quota(5, 1050, 50), quota(10, 1100, 90), quota(15, 1150, 90)}
	for name, c := range map[string]struct {
		seen     []Vital
		from, to float64
		want     float64 // negative: no value
	}{
		"the whole load":           {load, 0, 15, 100 * 40.0 / 150},
		"within":                   {load, 5, 10, 80},
		"between readings":         {load, 7.5, 12.5, 100 * 20.0 / 50},
		"beyond both ends":         {load, -60, 60, 100 * 40.0 / 150},
		"nothing ran":              {[]Vital{quota(0, 7, 1), quota(5, 7, 1)}, 0, 5, 0},
		"one reading before":       {load[:1], 1, 15, -1},
		"one reading within":       {load[1:2], 0, 15, -1},
		"all readings before":      {load, 20, 30, -1},
		"all readings after":       {load, -20, -10, -1},
		"one before, one within":   {load[1:3], 7, 20, 80},
		"two next to the window":   {load[1:3], 6, 9, 80},
		"counters of a root group": {[]Vital{quota(0, -1, -1), quota(5, -1, -1)}, 0, 5, -1},
		"no quota":                 {[]Vital{{At: second(0)}, {At: second(5)}}, 0, 5, -1},
		"the counters began again": {[]Vital{quota(0, 1000, 50), quota(5, 20, 1)}, 0, 5, -1},
	} {
		var n record.Node
		fillVitals(&n, c.seen, second(c.from), second(c.to))
		switch {
		case c.want < 0 && n.Throttled != nil:
			t.Errorf("%s: %v", name, *n.Throttled)
		case c.want >= 0 && (n.Throttled == nil || math.Abs(*n.Throttled-c.want) > 1e-9):
			t.Errorf("%s: %v, want %v", name, n.Throttled, c.want)
		}
	}
}

func TestNodeFigures(t *testing.T) {
	n := record.Node{HeapUsedMax: 12}
	fillVitals(&n, []Vital{
		{second(0), opensearch.Vital{Heap: 10, OldGen: 3, Survivor: 1, Direct: 9, Threads: 2, Active: 2, Queue: 40}},
		{second(5), opensearch.Vital{Heap: 11, OldGen: 5, Survivor: 4, Direct: 8, Threads: 2, Active: 1, Queue: 70}},
	}, second(0), second(5))
	share := 12.5
	window := probe.Window{CPU: record.CPU{User: 50, Cores: 4, RunQueue: 7}, Network: &record.Network{ReceiveMiBs: 9}, Resident: 77, Probe: 0.3, Throttled: &share, Pauses: &record.Pauses{Count: 3},
		Environment: record.Environment{Host: "h", Cores: 4, SMT: 2, Disk: "disk 20 GiB", THP: "madvise"}}
	n.Environment = record.Environment{JVM: "j", Image: "sha256:1"}
	fillMachine(&n, window)
	want := record.Node{HeapUsedMax: 12, Memory: &record.Memory{OldGenMax: 5, SurvivorMax: 4, DirectMax: 9, ResidentMax: 77}, WritePool: &record.Pool{Threads: 2, ActiveMax: 2, QueueMax: 70},
		CPU: &window.CPU, Probe: 0.3, Throttled: &share, Network: window.Network, GC: record.GC{Pauses: window.Pauses},
		Environment: record.Environment{Host: "h", Cores: 4, SMT: 2, Disk: "disk 20 GiB", THP: "madvise", JVM: "j", Image: "sha256:1"}}
	if !reflect.DeepEqual(n, want) {
		t.Errorf("%+v\nwant %+v", n, want)
	}
	var unseen record.Node
	fillVitals(&unseen, nil, second(0), second(5))
	if !reflect.DeepEqual(unseen, record.Node{}) {
		t.Errorf("a node that was not seen: %+v", unseen)
	}
}
