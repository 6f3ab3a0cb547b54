package gclog

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/record"
)

var (
	long  = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	never = time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)
)

func between(t *testing.T, f *Follower, from, to time.Time) []Pause {
	t.Helper()
	pauses, found, err := f.Between(from, to)
	if err != nil || !found {
		t.Fatalf("found %v, %v", found, err)
	}
	return pauses
}

// TestSummary_realLogs reads real logs and compares the figures with those of an independent script, which read the same files
// with regular expressions.
func TestSummary_realLogs(t *testing.T) {
	for name, want := range map[string]record.Pauses{
		"g1.log":         {Count: 40, Young: 31, Mixed: 3, Millis: 1026.236, P50: 18.09, P99: 99.673, Max: 99.673, SurvivorMiB: 15.7353, PromotedMiB: 24},
		"parallel.log":   {Count: 11, Young: 10, Full: 1, Millis: 11.38, P50: 0.856, P99: 3.465, Max: 3.465, SurvivorMiB: 0.894886, PromotedMiB: 18.556641},
		"serial.log":     {Count: 11, Young: 10, Full: 1, Millis: 20.951, P50: 1.892, P99: 4.723, Max: 4.723, SurvivorMiB: 0.954368, PromotedMiB: 19.225586},
		"z.log":          {Count: 8, Millis: 0.072, P50: 0.008, P99: 0.015, Max: 0.015},
		"shenandoah.log": {Count: 4, Millis: 0.105, P50: 0.019, P99: 0.056, Max: 0.056},
	} {
		pauses := between(t, NewFollower(filepath.Join("testdata", name)), long, never)
		got := *Summary(pauses)
		for _, f := range []struct {
			what      string
			got, want float64
		}{
			{"count", float64(got.Count), float64(want.Count)}, {"young", float64(got.Young), float64(want.Young)},
			{"mixed", float64(got.Mixed), float64(want.Mixed)}, {"full", float64(got.Full), float64(want.Full)},
			{"millis", got.Millis, want.Millis}, {"p50", got.P50, want.P50}, {"p99", got.P99, want.P99}, {"max", got.Max, want.Max},
			{"survivor", got.SurvivorMiB, want.SurvivorMiB}, {"promoted", got.PromotedMiB, want.PromotedMiB},
		} {
			if math.Abs(f.got-f.want) > 1e-4 {
				t.Errorf("%s: %s %v, want %v", name, f.what, f.got, f.want)
			}
		}
	}
}

func TestFollower_timeWindow_givesOnlyItsPauses(t *testing.T) {
	f := NewFollower("testdata/g1.log")
	from := time.Date(2026, 11, 20, 22, 9, 38, 0, time.UTC)
	got := between(t, f, from, from.Add(500*time.Millisecond))
	if len(got) != 1 || got[0].Millis != 7.529 || got[0].Name != "Pause Young (Normal) (G1 Evacuation Pause)" || got[0].SurvivorBytes != 23<<20 || got[0].PromotedBytes != 0 {
		t.Errorf("%+v", got)
	}
	if got := between(t, f, from.Add(-24*time.Hour), from.Add(-23*time.Hour)); len(got) != 0 || Summary(got).Count != 0 {
		t.Errorf("the day before: %+v", got)
	}
	if _, found, err := NewFollower(filepath.Join(t.TempDir(), "gc.log")).Between(long, never); found || err != nil {
		t.Errorf("a log that is not there: %v, %v", found, err)
	}
}

func write(t *testing.T, path string, data []byte, flags int) {
	t.Helper()
	f, err := os.OpenFile(path, flags|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFollower_growingAndRotatedLog_givesSamePauses checks a log that grows in pieces, in the middle of lines and over several
// files. It must give the same pauses as the complete log.
func TestFollower_growingAndRotatedLog_givesSamePauses(t *testing.T) {
	data, err := os.ReadFile("testdata/g1.log")
	if err != nil {
		t.Fatal(err)
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	want := between(t, NewFollower("testdata/g1.log"), long, never)
	path := filepath.Join(t.TempDir(), "gc.log")
	f := NewFollower(path)
	const piece = 997
	for at := 0; at < len(data); at += piece {
		write(t, path, data[at:min(at+piece, len(data))], os.O_APPEND)
		if at/piece%40 == 39 { // the reader may read before, or only after, the next file is started
			end := bytes.IndexByte(data[at+piece:], '\n') + 1
			write(t, path, data[at+piece:at+piece+end], os.O_APPEND)
			data = append(data[:at+piece:at+piece], data[at+piece+end:]...)
			if err := os.Rename(path, fmt.Sprintf("%s.%d", path, at/piece/40)); err != nil {
				t.Fatal(err)
			}
			write(t, path, nil, os.O_TRUNC)
		}
		if at/piece%3 == 0 {
			between(t, f, long, never)
		}
	}
	got := between(t, f, long, never)
	if len(got) != len(want) {
		t.Fatalf("%d pauses, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("pause %d: %+v, want %+v", i, got[i], want[i])
		}
	}
	if again := between(t, f, long, never); len(again) != len(want) {
		t.Errorf("%d pauses at the next question", len(again))
	}
}

// TestFollower_fileOlderThanWindow_readsOnlyHead checks that only the head of a file older than the window is read, to find the size
// of a region.
func TestFollower_fileOlderThanWindow_readsOnlyHead(t *testing.T) {
	data, err := os.ReadFile("testdata/g1.log")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "gc.log")
	cut := bytes.LastIndexByte(data[:60000], '\n') + 1
	write(t, path+".0", data[:cut], 0)
	write(t, path, data[cut:], 0)
	old := time.Date(2026, 11, 20, 22, 5, 0, 0, time.UTC)
	if err := os.Chtimes(path+".0", old, old); err != nil {
		t.Fatal(err)
	}
	f := NewFollower(path)
	got := between(t, f, old.Add(time.Minute), never)
	if len(got) == 0 || got[len(got)-1].SurvivorBytes <= 0 {
		t.Errorf("%d pauses without survivors: the region size was not found", len(got))
	}
	if len(f.pauses) >= 40 {
		t.Errorf("%d pauses were read, all of them", len(f.pauses))
	}
	if got, want := between(t, f, long, never), between(t, NewFollower("testdata/g1.log"), long, never); !slices.Equal(got, want) {
		t.Errorf("an earlier window asked for later has %d pauses, want %d", len(got), len(want))
	}
}

func TestParser_malformedLine_isSkipped(t *testing.T) {
	for _, line := range []string{
		"", "[", "]", "[x]", "[x] ", "Pause Young 1.0ms", "[x] GC(1) Pause Young 1.0ms", "[2026-11-20T22:09:38.119+0000] GC(x) Pause Young 1.0ms",
		"[2026-11-20T22:09:38.119+0000] GC(1) Pause Young -1ms", "[2026-11-20T22:09:38.119+0000] GC(1) Pause Young NaNms",
		"[2026-11-20T22:09:38.119+0000] GC(1) Pause Young (Normal)", "[0.123s][info][gc] GC(1) Pause Young (Normal) 1.0ms",
	} {
		if p, ok := new(Parser).Line([]byte(line)); ok {
			t.Errorf("%q gives %+v", line, p)
		}
	}
	if p, ok := new(Parser).Line([]byte("[2026-11-20T22:09:38.119+0000] GC(0) Pause Full (Ergonomics) 1.5ms")); !ok || p.Kind != Full || p.SurvivorBytes != -1 || p.PromotedBytes != -1 {
		t.Errorf("a pause of which nothing else is told: %v %+v", ok, p)
	}
	long := strings.Repeat("x", 200<<10)
	path := filepath.Join(t.TempDir(), "gc.log")
	write(t, path, []byte(long+"\n[2026-11-20T22:09:38.119+0000] GC(0) Pause Full (Ergonomics) 1.5ms\n"), 0)
	if got := between(t, NewFollower(path), time.Time{}, never); len(got) != 1 {
		t.Errorf("after a line of 200 KiB: %d pauses", len(got))
	}
}

func FuzzParser(f *testing.F) {
	for _, name := range []string{"g1", "parallel", "serial", "z", "shenandoah"} {
		data, err := os.ReadFile(filepath.Join("testdata", name+".log"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[max(0, len(data)-6000):])
	}
	f.Add([]byte("[0.1s][info][gc,init] Heap Region Size: 9223372036854775807G\n[2026-11-20T22:09:38.119+0000] GC(0) Old regions: 1->9999999999\n[2026-11-20T22:09:38.119+0000] GC(0) Pause Young 1ms"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var parser Parser
		var pauses []Pause
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			p, ok := parser.Line(line)
			if !ok {
				continue
			}
			if !(p.Millis >= 0) || p.SurvivorBytes < -1 || p.PromotedBytes < -1 || p.PromotedBytes >= 0 && p.Kind != Young {
				t.Errorf("%q gives %+v", line, p)
			}
			pauses = append(pauses, p)
		}
		s := Summary(pauses)
		if s.Count != int64(len(pauses)) || s.Young+s.Mixed+s.Full > s.Count || s.P50 > s.P99 || s.P99 > s.Max || s.Max > s.Millis+1e-6*s.Millis || math.IsNaN(s.SurvivorMiB) {
			t.Errorf("%+v", s)
		}
	})
}
