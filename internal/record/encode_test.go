package record

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// full returns a record with every field set and the given number of nodes and tasks.
func full(nodes, tasks int) Record {
	r := Record{
		Version: Version, StartedAt: 1795219727617, FinishedAt: 1795219804376, Artifacts: "trials/abc/sweep-c16",
		Attempt: Attempt{Trial: Trial{Campaign: "2f1c3a9e-7d0b-4c55-9f35-0a5b6f3c1d2e", Cell: "0123456789abcdef", Variant: "intel", Topology: "6p0r", Phase: Final, Clients: 16, Repetition: 3, Placement: 2, TargetDocsPerSecond: 240000}, N: 2},
		Driver:  Driver{Name: "osb", Version: "2.4.0", RunID: "knee-0123456789abcdef-final-c16-r3-a2"},
		Settle:  Settle{Seconds: 12.5, Note: "machine busy"},
		Ingest: &Ingest{From: 1795219762841, To: 1795219793859, Seconds: 31.0179123, Window: WindowCorpus, WindowNote: "it ends with the first client, at 91.2 % of the corpus", Documents: 132277353, DocsPerSecond: 345964.123456,
			WholeDocsPerSec: 340000.98765, DrainedDocsPerSec: 330000.1, OSBDocsPerSecond: 351000.5, TotalIndexed: 165346692, Count: 165346692,
			Corpus: 165346692, IndexBytes: 24890123456, BulkSize: 10000, Primaries: 6, RefreshInterval: "30s", SettingsDigest: "b18c1e3f70a2eafb",
			SteadySeconds: 31.0179123, CVPercent: 1.2345678, Segments: 213,
			Work: &Work{Merges: 321, MergeSeconds: 654.321987, MergedMiB: 98765.4321, ThrottleSeconds: 1.2345678, RefreshSeconds: 23.4567891, FlushSeconds: 3.45678912}},
		Rejections: Rejections{WritePool: 1, IndexingPressure: 2, ShardPressure: 3, AdmissionControl: 4, CircuitBreakers: 5},
		Loader:     Loader{Host: "loader-7", CPUCores: 3.21, BusiestPercent: 99.1, BusiestProcess: "opensearch-benc/315", UtilizationOfTime: 0.96, MemoryBytes: 1 << 30, Cores: 16},
		Error:      &Error{Reason: ReasonRequestsFailed, Message: "3 requests failed"},
	}
	for i := range nodes {
		throttled := 0.123456789
		r.Nodes = append(r.Nodes, Node{Name: fmt.Sprintf("bcamp-intel-0123456789-%d", i),
			CPU:      &CPU{User: 83.9123, Sys: 4.0123, IOWait: 6.3123, Steal: 0.1, Idle: 5.6, Cores: 16, RunQueue: 17.1234567},
			CPURange: &Range{Min: 78.123456, Max: 91.234567, Seconds: 10},
			Pressure: &Pressure{CPU: 90, Memory: 1, IO: 7}, Throttled: &throttled,
			Disk:    &Disk{ReadMiBs: 12.3, WriteMiBs: 456.7, IOPS: 3210.5, BusiestPercent: 67.8912345},
			Network: &Network{ReceiveMiBs: 167.891234, TransmitMiBs: 1.23456789},
			Memory:  &Memory{OldGenMax: 20 << 30, SurvivorMax: 2 << 30, ResidentMax: 35 << 30, DirectMax: 1 << 30}, WritePool: &Pool{Threads: 14, ActiveMax: 14, QueueMax: 345},
			HeapUsedMax: 30 << 30,
			GC: GC{Collections: 1234, Millis: 56789, Pauses: &Pauses{Count: 1234, Young: 1200, Mixed: 34, Full: 1, Millis: 56789.1234567, P50: 23.456789,
				P99: 98.7654321, Max: 123.456789, SurvivorMiB: 1234.56789, PromotedMiB: 23456.789}},
			Environment: Environment{Host: fmt.Sprintf("gke-spr-c4-standard-16-%d", i), Arch: "amd64", CPUModel: "INTEL(R) XEON(R) PLATINUM 8581C CPU @ 2.30GHz",
				Cores: 16, MemoryBytes: 63 << 30, Kernel: "6.6.72+", THP: "madvise", JVM: "Eclipse Adoptium 21.0.7+6-LTS", OpenSearch: "3.1.0 8ff7c6ee924a",
				HeapBytes: 31 << 30, Processors: 14, MaxFiles: 1048576, SMT: 2, Disk: "nvme_card-pd 1024 GiB, nvme_card0 375 GiB",
				Image:  "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
				NodeOS: "Ubuntu 24.04", ImageOS: "Amazon Linux 2023.7.20250623", Hypervisor: "Google Compute Engine", Swap: "none", MaxProcesses: 65536}})
	}
	latency := Latency{Mean: 123.456789, P50: 98.7654321, P90: 234.567891, P99: 345.678912, P999: 456.789123, Max: 567.891234}
	for i := range tasks {
		r.Tasks = append(r.Tasks, Task{Name: fmt.Sprintf("date_histogram_calendar_interval_%d", i), Search: i > 0, Throughput: 345964.1, Unit: "ops/s", ErrorRate: 0.0001,
			Latency: &latency, ServiceTime: &latency})
	}
	return r
}

func TestEncode(t *testing.T) {
	long := strings.Repeat("ö ", 5000)
	huge := full(40, 70)
	huge.Settle.Note, huge.Error.Message, huge.Ingest.WindowNote, huge.Artifacts, huge.Loader.BusiestProcess, huge.Attempt.Variant = long, long, long, long, long, long
	for i := range huge.Tasks {
		huge.Tasks[i].Name = long
	}
	noIngest := full(1, 0)
	noIngest.Ingest, noIngest.Error.Message = nil, long
	many := full(9, 12)
	waiting := full(40, 1)
	waiting.Nodes[33].CPU = &CPU{IOWait: 77, Cores: 16}
	waiting.Nodes[20].CPU = &CPU{Steal: 55, Cores: 16}
	waiting.Nodes[11].CPU = &CPU{User: 90, Sys: 9, Cores: 16}
	quota, waited := 66.0, 44.0
	waiting.Nodes[22].Throttled, waiting.Nodes[7].Pressure = &quota, &Pressure{IO: waited}
	unseen := full(40, 1)
	unseen.Nodes[25].CPU = nil
	for name, c := range map[string]struct {
		record Record
		check  func(t *testing.T, got Record)
	}{
		"an ordinary one is whole": {full(1, 1), func(t *testing.T, got Record) {
			if len(got.Dropped) != 0 || got.Tasks[0].Latency.P99 != 345.679 || got.Nodes[0].CPU.User != 83.91 || got.Ingest.Documents != 132277353 {
				t.Errorf("changed: %+v", got)
			}
		}},
		"a Final with searches on three nodes keeps every median": {full(3, 6), func(t *testing.T, got Record) {
			for _, task := range got.Tasks {
				if task.ServiceTime == nil || task.ServiceTime.P50 == 0 {
					t.Errorf("no median of %s; dropped %q", task.Name, got.Dropped)
				}
			}
		}},
		"nine nodes keep their CPU": {many, func(t *testing.T, got Record) {
			if len(got.Nodes) != 9 || got.Nodes[8].CPU == nil || got.Tasks[0].ServiceTime == nil || got.Nodes[0].Environment.CPUModel == "" {
				t.Errorf("%d nodes, dropped %q", len(got.Nodes), got.Dropped)
			}
		}},
		"of forty nodes the worst of every gate stay": {waiting, func(t *testing.T, got Record) {
			for what, is := range map[string]func(CPU) bool{
				"iowait": func(c CPU) bool { return c.IOWait == 77 },
				"steal":  func(c CPU) bool { return c.Steal == 55 },
				"busy":   func(c CPU) bool { return c.Busy() == 99 },
			} {
				if !slices.ContainsFunc(got.Nodes, func(n Node) bool { return n.CPU != nil && is(*n.CPU) }) {
					t.Errorf("the node of most %s is not among %d, dropped %q", what, len(got.Nodes), got.Dropped)
				}
			}
			if !slices.ContainsFunc(got.Nodes, func(n Node) bool { return n.Throttled != nil && *n.Throttled == quota }) {
				t.Errorf("the node that was throttled most is not among %d", len(got.Nodes))
			}
			if !slices.ContainsFunc(got.Nodes, func(n Node) bool { return n.Pressure != nil && n.Pressure.IO == waited }) {
				t.Errorf("the node of most io pressure is not among %d", len(got.Nodes))
			}
			if !slices.IsSortedFunc(got.Nodes, func(a, b Node) int { return strings.Compare(a.Name, b.Name) }) {
				t.Error("the nodes are not in order")
			}
			if len(got.Nodes) >= 40 || !slices.ContainsFunc(got.Dropped, leavesSomeNodes) {
				t.Errorf("%d nodes, dropped %q", len(got.Nodes), got.Dropped)
			}
		}},
		"of forty nodes the one that was not seen stays": {unseen, func(t *testing.T, got Record) {
			if !slices.ContainsFunc(got.Nodes, func(n Node) bool { return n.CPU == nil }) {
				t.Errorf("%d nodes, dropped %q", len(got.Nodes), got.Dropped)
			}
		}},
		"what is left out of nodes does not read as nodes left out": {full(10, 1), func(t *testing.T, got Record) {
			if len(got.Nodes) != 10 || len(got.Dropped) == 0 || slices.ContainsFunc(got.Dropped, func(d Drop) bool { return losses[d]&loseNodes != 0 }) {
				t.Errorf("%d nodes, dropped %q", len(got.Nodes), got.Dropped)
			}
		}},
		"an error without a load keeps half a kilobyte of its message": {noIngest, func(t *testing.T, got Record) {
			if len(got.Error.Message) < 500 || got.Ingest != nil {
				t.Errorf("message of %d bytes", len(got.Error.Message))
			}
		}},
		"the hugest keeps what a verdict needs": {huge, func(t *testing.T, got Record) {
			if len(got.Nodes) == 0 || got.Ingest == nil || got.Ingest.DocsPerSecond != 345964 || got.Rejections.Total() != 12 || got.Error.Reason != ReasonRequestsFailed || len(got.Dropped) == 0 {
				t.Errorf("%+v", got)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			before := fmt.Sprintf("%+v", c.record)
			data, err := Encode(c.record)
			if err != nil {
				t.Fatal(err)
			}
			if len(data) > MaxBytes {
				t.Errorf("%d bytes", len(data))
			}
			if after := fmt.Sprintf("%+v", c.record); after != before {
				t.Error("Encode changed its argument")
			}
			got, err := Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			if got.Attempt.Clients != 16 || got.Attempt.Campaign != c.record.Attempt.Campaign {
				t.Errorf("trial %+v", got.Attempt)
			}
			c.check(t, got)
		})
	}
}

// TestEncode_repeatedValues_areRestored checks that Encode first leaves out values that occur more than once in a record, and that
// Decode restores these values.
func TestEncode_repeatedValues_areRestored(t *testing.T) {
	r := full(2, 1)
	r.Error.Message = strings.Repeat("x", 40)
	data, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), string(sameLatency)) || !strings.Contains(string(data), string(sameEnvironment)) {
		t.Fatalf("the record of %d bytes fits without leaving anything out: the test needs a longer one", len(data))
	}
	got, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Dropped) != 0 {
		t.Errorf("dropped %q", got.Dropped)
	}
	for i, n := range got.Nodes {
		if n.Environment != r.Nodes[i].Environment {
			t.Errorf("node %d: %+v", i, n.Environment)
		}
	}
	if l := got.Tasks[0].Latency; l == nil || *l != *got.Tasks[0].ServiceTime {
		t.Errorf("latency %+v", l)
	}

	r.Nodes[1].Environment = Environment{Host: "says-nothing-else"}
	r.Tasks[0].Target, r.Tasks[0].ServiceTime = 12, &Latency{Mean: 1}
	if data, err = Encode(r); err != nil {
		t.Fatal(err)
	}
	if got, err = Decode(data); err != nil {
		t.Fatal(err)
	}
	if e := got.Nodes[1].Environment; e != r.Nodes[1].Environment && e != (Environment{}) {
		t.Errorf("a node that said nothing got %+v", e)
	}
	if l := got.Tasks[0].Latency; l == nil || l.Mean != 123.457 {
		t.Errorf("latency of an open loop %+v, dropped %q", l, got.Dropped)
	}
}

func TestEncode_dropped_listsStepsInOrder(t *testing.T) {
	// Dropped must list the steps in their order, and a record with more tasks must not need fewer steps.
	order := map[Drop]int{}
	for i, s := range steps {
		if _, again := order[s.name]; !again {
			order[s.name] = i
		}
	}
	last := -1
	for tasks := 1; tasks <= 64; tasks++ {
		data, err := Encode(full(2, tasks))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		previous := -1
		for _, name := range got.Dropped {
			at, known := order[name]
			if !known || at <= previous {
				t.Fatalf("%d tasks: dropped %q", tasks, got.Dropped)
			}
			previous = at
		}
		if previous < last {
			t.Fatalf("%d tasks drop less than %d", tasks, tasks-1)
		}
		last = previous
	}
	if last < 3 {
		t.Errorf("64 tasks needed only step %d", last)
	}
}

func TestRoundSignificant(t *testing.T) {
	for in, want := range map[float64]float64{0: 0, 345964.123456: 345964, 0.000123456789: 0.000123457, -12.3456789: -12.3457, 12345678.9: 12345679, math.Inf(1): 0, math.NaN(): 0} {
		if got := roundSignificant(in, 6); got != want {
			t.Errorf("%v becomes %v, want %v", in, got, want)
		}
	}
	r := full(1, 1)
	r.Ingest.DocsPerSecond, r.Nodes[0].CPU.Idle = math.NaN(), math.Inf(1)
	if _, err := Encode(r); err != nil {
		t.Errorf("a figure that is no number: %v", err)
	}
}

func TestDecode_invalidMessage_fails(t *testing.T) {
	data, err := Encode(full(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(data) {
		if r, err := Decode(data[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes give %+v", n, len(data), r)
		}
	}
	for message, want := range map[string]string{
		"":                      "empty",
		" \n":                   "empty",
		"OOMKilled":             "incomplete",
		"{}":                    "field version",
		`{"version":2}`:         "version 2",
		`{"version":0}`:         "version 0",
		`{"version":"1"}`:       "incomplete",
		`[]`:                    "incomplete",
		string(data) + "more":   "incomplete",
		string(data) + "{}":     "incomplete",
		`{"version":1,"tasks":`: "incomplete",
	} {
		if r, err := Decode([]byte(message)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q gives %+v, %v, want %q", message, r, err, want)
		}
	}
	r, err := Decode(append(data, '\n'))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Encode(r)
	if err != nil || string(again) != string(data) {
		t.Errorf("encoding again gives another record: %v", err)
	}
	if got, _ := Decode(again); !reflect.DeepEqual(got, r) {
		t.Error("decoding again gives another record")
	}
}
