package trial

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/agent/measure"
	"github.com/knee-bench/knee/internal/agent/measure/steady"
	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/agent/probe"
	"github.com/knee-bench/knee/internal/agent/probe/gclog"
	"github.com/knee-bench/knee/internal/record"
)

// fakeDriver is a fake of a driver that left files in a folder.
type fakeDriver struct {
	driver.Driver
	session *driver.Session
	folder  string
}

func (*fakeDriver) Kind() driver.Kind { return driver.FillsIndex }

func (d *fakeDriver) Artifacts() []driver.Artifact {
	return []driver.Artifact{
		{Name: "result.json", About: "the driver's result", Write: d.session.CopyOf(filepath.Join(d.folder, "result.json"))},
		{Name: "search-result.json", About: "a file that does not exist", Write: d.session.CopyOf(filepath.Join(d.folder, "search-result.json"))},
		{Name: "driver.log", About: "its log", Write: d.session.CopyOf(filepath.Join(d.folder, "driver.log"))},
	}
}

// afterLoad returns an attempt after its load of 20 s at 1,000 docs/s, with a probe and a driver that left files.
func afterLoad(t *testing.T, folder string) (*attempt, *bytes.Buffer) {
	t.Helper()
	end := time.Now().Add(-5 * time.Second).Truncate(time.Millisecond)
	ring := probe.NewRing(100)
	for s := range 41 {
		f := float64(s)
		ring.Add(probe.Sample{At: end.Add(time.Duration(s-38) * time.Second), User: 2 * f, Idle: 2 * f, Cores: 4, Received: 1 << 20 * f, DiskBusy: []float64{f / 2}, ResidentBytes: 1 << 30, RunQueue: 3 * f, Runs: f})
	}
	at := func(s float64) time.Time { return end.Add(time.Duration((s - 20) * float64(time.Second))) }
	log := filepath.Join(t.TempDir(), "gc.log")
	line := "[" + at(10).UTC().Format("2006-01-02T15:04:05.000-0700") + "][1][info][gc] GC(3) Pause Young (Normal) (G1 Evacuation Pause) 670M->78M(1024M) 7.529ms\n"
	if err := os.WriteFile(log, []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(probe.Handler(ring, gclog.NewFollower(log), record.Environment{Host: "h"}))
	t.Cleanup(server.Close)
	out := &bytes.Buffer{}
	o := options(t)
	o.Output = out
	o.Config.Artifacts, o.Config.Probes = folder, []record.Probe{{Node: "node-0", URL: server.URL}}
	a := begin(o, 0)
	a.nodeIDs, a.recorder = map[string]string{"node-0": "id-0"}, &measure.Recorder{}
	a.recording.Vitals = map[string][]measure.Vital{"id-0": {{At: at(-2), Vital: opensearch.Vital{Heap: 100}}, {At: at(9.5), Vital: opensearch.Vital{Heap: 200, Queue: 4}}}}
	for s := range 21 {
		a.recording.Samples = append(a.recording.Samples, steady.Sample{At: at(float64(s)), Count: int64(1000 * s)})
	}
	d := &fakeDriver{session: a.session, folder: t.TempDir()}
	a.driver = d
	a.record = record.Record{Version: record.Version, Attempt: o.Config.Attempt, Ingest: &record.Ingest{DocsPerSecond: 1000.123456789}}
	for name, text := range map[string]string{"result.json": `{"result":1}`, "driver.log": "log"} {
		if err := os.WriteFile(filepath.Join(d.folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return a, out
}

func contentOf(t *testing.T, elements ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestArtifacts(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "campaign", "attempt")
	a, out := afterLoad(t, folder)
	a.keep(t.Context())
	if a.record.Artifacts != folder {
		t.Fatalf("artifacts %q: %s", a.record.Artifacts, out)
	}
	for name, want := range map[string]string{"result.json": `{"result":1}`, "driver.log": "log"} {
		if got := contentOf(t, folder, name); got != want {
			t.Errorf("%s holds %q", name, got)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "search-result.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a result of a search that was not run: %v", err)
	}
	var kept record.Record
	if err := json.Unmarshal([]byte(contentOf(t, folder, "record.json")), &kept); err != nil || kept.Ingest.DocsPerSecond != 1000.123456789 || kept.Artifacts != folder {
		t.Errorf("%+v, %v: figures are kept whole", kept, err)
	}
	rows, err := csv.NewReader(strings.NewReader(contentOf(t, folder, "series.csv"))).ReadAll()
	if err != nil || len(rows) < 20 || len(rows) > 22 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	readme := contentOf(t, folder, "README.txt")
	values := map[string]string{}
	for i, name := range rows[0] {
		values[name] = rows[11][i] // about 10.5 s into the load
		if !strings.Contains(readme, "  "+name+": ") {
			t.Errorf("the column %s is not explained", name)
		}
	}
	for name, want := range map[string]string{"node": "node-0", "docs_per_second": "1000", "cpu_user_percent": "50", "run_queue": "3", "network_receive_mib_per_second": "1",
		"disk_busiest_percent": "50", "heap_used_bytes": "200", "write_queue": "4", "pressure_io_percent": "", "resident_bytes": "1073741824"} {
		if values[name] != want {
			t.Errorf("%s is %q, want %q", name, values[name], want)
		}
	}
	if got := contentOf(t, folder, "documents.csv"); !strings.HasPrefix(got, "time_ms,documents\n") || strings.Count(got, "\n") != 22 || !strings.Contains(got, ",20000\n") {
		t.Errorf("documents %s", got)
	}
	if got := contentOf(t, folder, "pauses.csv"); !strings.Contains(got, ",node-0,young,Pause Young (Normal) (G1 Evacuation Pause),7.529,-1,-1\n") {
		t.Errorf("pauses %s", got)
	}
}

func TestArtifacts_cannotBeKept_recordIsUnchanged(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*attempt){
		"a folder that cannot be made": func(a *attempt) { a.Config.Artifacts = filepath.Join(blocked, "x") },
		"a probe that is gone":         func(a *attempt) { a.Config.Probes[0].URL = "http://127.0.0.1:1" },
	} {
		a, out := afterLoad(t, filepath.Join(t.TempDir(), "attempt"))
		change(a)
		a.keep(t.Context())
		if a.record.Artifacts != "" || a.record.Ingest.DocsPerSecond != 1000.123456789 || !strings.Contains(out.String(), "cannot write the artifacts: ") {
			t.Errorf("%s: artifacts %q, said %q", name, a.record.Artifacts, out)
		}
	}
	a, _ := afterLoad(t, "")
	a.keep(t.Context())
	if a.record.Artifacts != "" {
		t.Errorf("artifacts %q where none were asked for", a.record.Artifacts)
	}
}

// TestArtifacts_volumeHangs_areGivenUp checks that a volume that hangs does not delay the record.
func TestArtifacts_volumeHangs_areGivenUp(t *testing.T) {
	folder := t.TempDir()
	a, out := afterLoad(t, folder)
	// Write more than a pipe can hold into a pipe without a reader: the write hangs.
	if err := os.WriteFile(filepath.Join(a.driver.(*fakeDriver).folder, "driver.log"), bytes.Repeat([]byte("x"), 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(folder, "driver.log")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	given := make(chan struct{})
	go func() { defer close(given); a.keepWithin(t.Context(), 50*time.Millisecond) }()
	select {
	case <-given:
	case <-time.After(time.Minute):
		t.Fatal("still waiting for the volume after a minute")
	}
	if a.record.Artifacts != "" || !strings.Contains(out.String(), "cannot write the artifacts: the files were not completely written within 50ms") {
		t.Errorf("artifacts %q: %s", a.record.Artifacts, out)
	}
	hung, err := os.Open(pipe) // reading lets the write end before the folder is deleted
	if err == nil {
		_, err = io.Copy(io.Discard, hung)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := hung.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestArtifacts_probeHangs_areGivenUp checks that a probe that hangs does not delay the record.
func TestArtifacts_probeHangs_areGivenUp(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer server.Close()
	defer close(release)
	a, out := afterLoad(t, filepath.Join(t.TempDir(), "attempt"))
	a.Config.Probes[0].URL = server.URL
	given := make(chan struct{})
	go func() { defer close(given); a.keepWithin(t.Context(), 50*time.Millisecond) }()
	select {
	case <-given:
	case <-time.After(time.Minute):
		t.Fatal("still waiting for the probe after a minute")
	}
	if a.record.Artifacts != "" {
		t.Errorf("artifacts %q: %s", a.record.Artifacts, out)
	}
}

// TestArtifacts_unreadableGCLog_loseOnlyPauses checks that a gc.log that cannot be read only removes the pauses. All other
// artifacts are written.
func TestArtifacts_unreadableGCLog_loseOnlyPauses(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "attempt")
	a, out := afterLoad(t, folder)
	answer, err := json.Marshal(probe.Series{Points: []probe.Point{{Seconds: 5, Quota: &probe.Quota{Periods: 70, Throttled: 7}, Disk: &record.Disk{}, Network: &record.Network{}}}, PausesError: "gc.log: permission denied"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(answer) }))
	defer server.Close()
	a.Config.Probes[0].URL = server.URL
	a.keep(t.Context())
	if a.record.Artifacts != folder || !strings.Contains(out.String(), "gc.log: permission denied") {
		t.Errorf("artifacts %q: %s", a.record.Artifacts, out)
	}
	if series := contentOf(t, folder, "series.csv"); !strings.HasSuffix(series, ",70,7\n") {
		t.Errorf("series.csv: %s", series)
	}
}

// TestRun_savesRecordBeforeArtifacts checks that the record is saved before the artifacts are written. The record that Run
// returns also names the artifacts' folder.
func TestRun_savesRecordBeforeArtifacts(t *testing.T) {
	o := options(t)
	o.Config.Driver = record.DriverConfig{}
	o.Config.Artifacts = filepath.Join(t.TempDir(), "attempt")
	var saved []record.Record
	o.Save = func(r record.Record) { saved = append(saved, r) }
	r := Run(t.Context(), o)
	if len(saved) != 1 || saved[0].Artifacts != "" || saved[0].Error == nil || r.Artifacts != o.Config.Artifacts {
		t.Errorf("saved %+v, then %+v", saved, r)
	}
	if got := contentOf(t, o.Config.Artifacts, "record.json"); !strings.Contains(got, fmt.Sprintf("%q", record.ReasonAgentFailed)) {
		t.Error(got)
	}
}
