package record

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func again(t *testing.T, r Record) Record {
	t.Helper()
	data, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Encode(got)
	if err != nil {
		t.Fatal(err)
	}
	if twice, err := Decode(second); err != nil || !reflect.DeepEqual(twice, got) {
		t.Errorf("encoding again gives another record: %v, %d bytes, then %d; dropped %q, then %q", err, len(data), len(second), got.Dropped, twice.Dropped)
	}
	return got
}

// TestPool_droppedNodes_areIncluded checks that figures over all nodes include the nodes that were dropped from the
// record for lack of space.
func TestPool_droppedNodes_areIncluded(t *testing.T) {
	for _, nodes := range []int{1, 13, 40} {
		r := full(nodes, 7)
		user, busy, disk, network, collections := 0.0, 0.0, 0.0, 0.0, int64(0)
		for i := range r.Nodes {
			n := &r.Nodes[i]
			n.CPU.User, n.CPU.Sys, n.CPU.Cores = float64(10+i), 5, 16
			n.Disk.WriteMiBs, n.Network.ReceiveMiBs, n.GC.Collections = float64(i), float64(2*i), int64(i)
			n.Pressure.CPU = float64(30 - i%30) // the nodes with the highest pressure are not the nodes with the highest CPU
			user, busy = user+float64(10+i)/float64(nodes), busy+float64(15+i)/100*16
			disk, network, collections = disk+float64(i), network+float64(2*i), collections+int64(i)
		}
		got := again(t, r)
		if left := len(got.Nodes) < nodes; left == got.NodesKnown() || left != (nodes > 1) || left != (got.Pooled != nil) {
			t.Fatalf("of %d nodes %d stay, dropped %q, pooled %+v", nodes, len(got.Nodes), got.Dropped, got.Pooled)
		}
		p, ok := got.Pool()
		near := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 1e-5*max(1, want) {
				t.Errorf("%s of %d nodes: %v, want %v", what, nodes, got, want)
			}
		}
		if !ok || p.Nodes != nodes || p.CPU == nil || p.CPU.Cores != 16*nodes || p.Disk == nil || p.Network == nil || p.GC == nil || p.Pressure == nil {
			t.Fatalf("%d nodes: %+v", nodes, p)
		}
		near("user", p.CPU.User, user)
		near("busy cores", p.BusyCores, busy)
		near("MiB/s written", p.Disk.WriteMiBs, disk)
		near("MiB/s received", p.Network.ReceiveMiBs, network)
		near("collections", float64(p.GC.Collections), float64(collections))
		near("highest CPU pressure", p.Pressure.CPU, 30)
	}
	unseen := full(20, 1)
	unseen.Nodes[3].CPU = nil
	if p, ok := again(t, unseen).Pool(); !ok || p.CPU != nil || p.BusyCores != 0 || p.Disk == nil {
		t.Errorf("without the CPU of one node: %+v", p)
	}
	old := full(5, 1)
	old.Dropped = []Drop{"all but the 5 worst nodes"}
	if p, ok := old.Pool(); ok {
		t.Errorf("nodes were left out and nothing noted: %+v", p)
	}
	if p, ok := (Record{}).Pool(); ok {
		t.Errorf("no nodes: %+v", p)
	}
}

// TestEncode_manyNodes_keepsAsManyAsFit checks that a record keeps as many nodes as fit.
func TestEncode_manyNodes_keepsAsManyAsFit(t *testing.T) {
	for nodes := 10; nodes <= 16; nodes++ {
		r := full(nodes, 7)
		r.Error = nil
		data, err := Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		got := again(t, r)
		one, err := json.Marshal(got.Nodes[0])
		if err != nil {
			t.Fatal(err)
		}
		if room := MaxBytes - len(data); len(got.Nodes) < nodes && room > 2*len(one) {
			t.Errorf("%d of %d nodes stay, and %d bytes are free; dropped %q", len(got.Nodes), nodes, room, got.Dropped)
		}
		if n := len(slices.DeleteFunc(slices.Clone(got.Dropped), func(d Drop) bool { return !leavesSomeNodes(d) })); n > 1 {
			t.Errorf("%d nodes: dropped %q", nodes, got.Dropped)
		}
	}
}

func TestGCKnown(t *testing.T) {
	r := full(6, 7)
	if !r.GCKnown(r.Nodes[0]) || !r.GCKnown(Node{}) {
		t.Error("a whole record does not know its GC")
	}
	got := again(t, r)
	if got.GCKnown(got.Nodes[0]) || !got.NodesKnown() {
		t.Fatalf("zeros that stand for what was left out read as figures; dropped %q", got.Dropped)
	}
	if p, ok := got.Pool(); !ok || p.GC != nil || p.Disk != nil || p.CPU == nil {
		t.Errorf("%+v, %v", p, ok)
	}
}

// TestEncode_anyText_fits checks that a record with any text fits. JSON needs up to six bytes for some characters.
func TestEncode_anyText_fits(t *testing.T) {
	for _, character := range []string{"\x01", "<", "\u2028", "\xff", "\xff\x01", "\"", "ö", "\U0001f600", "x"} {
		for _, nodes := range []int{0, 3, 13, 40} {
			long := strings.Repeat(character, 3000)
			r := full(nodes, 12)
			r.Error.Message, r.Settle.Note, r.Ingest.WindowNote, r.Loader.BusiestProcess, r.Driver.Version = long, long, long, long, long
			r.Attempt.Variant, r.Attempt.Topology = strings.Repeat("v", 63), strings.Repeat("t", 63)
			for i := range r.Nodes {
				r.Nodes[i].Name = fmt.Sprintf("%s-%02d", strings.Repeat("n", 60), i)
				r.Nodes[i].Environment.CPUModel = long
			}
			for i := range r.Tasks {
				r.Tasks[i].Name = long
			}
			got := again(t, r)
			if got.Error == nil || len(got.Error.Message) == 0 || got.Ingest.DocsPerSecond != 345964 {
				t.Errorf("%q, %d nodes: %+v", character, nodes, got.Error)
			}
		}
	}
}

func TestEncodedLength_countsEscapes(t *testing.T) {
	for _, text := range []string{"plain", "a\x01b", "\u2028", "<&>", "\"\\\n\r\t\b\f", "öß", "\U0001f600", "\x7f", "\u2029x", "\ufffd"} {
		data, err := marshal(Record{Artifacts: text})
		if err != nil {
			t.Fatal(err)
		}
		empty, err := marshal(Record{Artifacts: ""})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := encodedLength(text), len(data)-len(empty)-len(`,"artifacts":""`); got != want {
			t.Errorf("%q takes %d bytes, not %d", text, want, got)
		}
		for n := range 20 {
			if s := text; cut(&s, n) && (encodedLength(s) > n || !strings.HasPrefix(text, s)) {
				t.Errorf("%q cut to %d: %q", text, n, s)
			}
		}
	}
}

// TestEncode_comparedTexts_areNotCut checks that texts that are compared with other records, and names of folders, are either
// kept completely or removed.
func TestEncode_comparedTexts_areNotCut(t *testing.T) {
	r := full(12, 12)
	r.Artifacts = "trials/" + strings.Repeat("f", 90) + "/sweep-c16"
	r.Nodes[0].Environment.JVM = strings.Repeat("j", 200)
	r.Error.Message = strings.Repeat("\x01", 3000)
	got := again(t, r)
	if !slices.Contains(got.Dropped, "texts>64") {
		t.Fatalf("dropped %q: the test needs a longer record", got.Dropped)
	}
	e := got.Nodes[0].Environment
	if i := slices.IndexFunc(r.Nodes, func(n Node) bool { return n.Name == got.Nodes[0].Name }); e.Image != "" && e.Image != r.Nodes[i].Environment.Image {
		t.Errorf("image %q", e.Image)
	}
	if e.JVM != "" {
		t.Errorf("JVM %q", e.JVM)
	}
	if got.Artifacts != "" && got.Artifacts != r.Artifacts {
		t.Errorf("artifacts %q", got.Artifacts)
	}
	r = full(9, 12)
	for i := range r.Nodes {
		r.Nodes[i].Environment.CPUModel += fmt.Sprint(i) // different texts, so no environment is shared
		r.Nodes[i].Name += strings.Repeat("x", 60)
	}
	if got = again(t, r); !slices.Contains(got.Dropped, "texts>64") || got.Nodes[0].Environment.Image != r.Nodes[0].Environment.Image {
		t.Errorf("image %q, dropped %q", got.Nodes[0].Environment.Image, got.Dropped)
	}
}
