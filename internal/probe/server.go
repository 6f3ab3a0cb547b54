package probe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/knee-bench/knee/internal/probe/gclog"
	"github.com/knee-bench/knee/internal/record"
)

// Window is the answer to GET /v1/window?from=SECONDS_AGO&to=SECONDS_AGO.
type Window struct {
	Seconds     float64            `json:"seconds"` // length of what was measured
	CPU         record.CPU         `json:"cpu"`
	CPURange    *record.Range      `json:"cpuRange,omitempty"` // of user + sys; absent where the window is shorter than 20 s
	Pressure    *record.Pressure   `json:"pressure,omitempty"`
	Disk        *record.Disk       `json:"disk,omitempty"`
	Network     *record.Network    `json:"network,omitempty"`
	Resident    int64              `json:"residentMaxBytes,omitempty"` // of OpenSearch's process
	Throttled   *float64           `json:"throttledPercent,omitempty"` // of the CPU quota's periods; absent without a quota, and where it cannot be seen
	Probe       float64            `json:"probePercent,omitempty"`     // CPU that the probe itself took, in percent of one core
	Pauses      *record.Pauses     `json:"pauses,omitempty"`           // absent where there is no gc.log
	PausesError string             `json:"pausesError,omitempty"`      // why a gc.log that is there was not read
	Clock       int64              `json:"clock,omitempty"`            // of the probe's machine as it answers, Unix ms
	Environment record.Environment `json:"environment"`
}

// Series is the answer to GET /v1/series?from=SECONDS_AGO&to=SECONDS_AGO: what the probe saw in between.
type Series struct {
	Points      []Point     `json:"points"`
	Pauses      []PauseSeen `json:"pauses"`
	PausesError string      `json:"pausesError,omitempty"` // why a gc.log that is there was not read
}

// Point holds the means from one sample to the next.
type Point struct {
	Seconds  float64          `json:"seconds"` // of its end, since from
	CPU      record.CPU       `json:"cpu"`
	Pressure *record.Pressure `json:"pressure,omitempty"`
	Disk     *record.Disk     `json:"disk"`
	Network  *record.Network  `json:"network"`
	Resident int64            `json:"residentBytes,omitempty"`
	Dirty    int64            `json:"dirtyBytes"`
	Quota    *Quota           `json:"quota,omitempty"` // so far; absent without one, and where it cannot be seen
}

// PauseSeen is one pause of the collector.
type PauseSeen struct {
	Seconds     float64 `json:"seconds"` // of its end, since from
	Kind        string  `json:"kind"`
	Name        string  `json:"name"`
	Millis      float64 `json:"millis"`
	SurvivorMiB float64 `json:"survivorMiB"` // -1 when not known
	PromotedMiB float64 `json:"promotedMiB"` // -1 when not known
}

// Now is the answer to GET /v1/now: the last two seconds.
type Now struct {
	BusyPercent float64 `json:"busyPercent"` // user + sys, of all cores
	DirtyBytes  int64   `json:"dirtyBytes"`  // dirty pages and pages under writeback
	WriteMiBs   float64 `json:"writeMiBs"`
}

// nowSpan is how far /v1/now looks back.
const nowSpan = 2 * time.Second

// Handler answers from a ring of samples and the collector's log.
func Handler(ring *Ring, log *gclog.Follower, environment record.Environment) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		last, ok := ring.Last()
		if !ok || time.Since(last.At) > 10*time.Second {
			http.Error(w, "no sample in the last 10 s", http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /v1/window", span(func(w http.ResponseWriter, from, to time.Time) {
		window(w, ring, log, environment, from, to)
	}))
	mux.HandleFunc("GET /v1/series", span(func(w http.ResponseWriter, from, to time.Time) { series(w, ring, log, from, to) }))
	mux.HandleFunc("GET /v1/now", func(w http.ResponseWriter, _ *http.Request) {
		last, ok := ring.Last()
		if !ok {
			http.Error(w, "no sample yet", http.StatusServiceUnavailable)
			return
		}
		a, b, err := ring.Between(last.At.Add(-nowSpan), last.At)
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		answer(w, Now{BusyPercent: CPU(a, b).Busy(), DirtyBytes: last.DirtyBytes, WriteMiBs: Disk(a, b).WriteMiBs})
	})
	return mux
}

// span reads the two ends of a window.
func span(answer func(w http.ResponseWriter, from, to time.Time)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		now := time.Now()
		from, err := ago(r, "from")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		to, err := ago(r, "to")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer(w, now.Add(-from), now.Add(-to))
	}
}

func window(w http.ResponseWriter, ring *Ring, log *gclog.Follower, environment record.Environment, from, to time.Time) {
	a, b, err := ring.Between(from, to)
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestedRangeNotSatisfiable)
		return
	}
	environment.MaxProcesses = b.MaxProcesses
	out := Window{Seconds: b.At.Sub(a.At).Seconds(), CPU: CPU(a, b), CPURange: ring.CPURange(a.At, b.At), Pressure: Pressure(a, b), Disk: Disk(a, b), Network: Network(a, b),
		Resident: ring.MaxResident(from, to), Throttled: Throttled(a, b), Probe: 100 * perSecond(a, b, func(s Sample) float64 { return s.OwnCPU }), Environment: environment}
	out.Clock = time.Now().UnixMilli()
	pauses, found, err := pausesBetween(ring, log, from, to)
	switch {
	case err != nil:
		out.PausesError = err.Error()
	case found:
		out.Pauses = gclog.Summary(pauses)
	}
	answer(w, out)
}

// maxClockStep is how much the wall clock may have been set for what is dated by it to be believed.
const maxClockStep = time.Second

// pausesBetween reads the collector's log, the one thing here that is dated by the wall clock.
func pausesBetween(ring *Ring, log *gclog.Follower, from, to time.Time) ([]gclog.Pause, bool, error) {
	if step := ring.ClockStep(from); step.Abs() > maxClockStep {
		return nil, false, fmt.Errorf("the machine's clock was set by %+.1f s since the window began: which pauses of gc.log lie in it is not known", step.Seconds())
	}
	return log.Between(from, to)
}

func series(w http.ResponseWriter, ring *Ring, log *gclog.Follower, from, to time.Time) {
	out := Series{Points: []Point{}, Pauses: []PauseSeen{}}
	samples := ring.Within(from, to)
	for i := 1; i < len(samples); i++ {
		a, b := samples[i-1], samples[i]
		out.Points = append(out.Points, Point{Seconds: b.At.Sub(from).Seconds(), CPU: CPU(a, b), Pressure: Pressure(a, b), Disk: Disk(a, b),
			Network: Network(a, b), Resident: b.ResidentBytes, Dirty: b.DirtyBytes, Quota: b.Quota})
	}
	pauses, _, err := pausesBetween(ring, log, from, to)
	if err != nil {
		out.PausesError = err.Error()
	}
	bytes := func(n int64) float64 {
		if n < 0 {
			return -1
		}
		return float64(n) / mib
	}
	for _, p := range pauses {
		out.Pauses = append(out.Pauses, PauseSeen{Seconds: p.At.Sub(from).Seconds(), Kind: p.Kind.String(), Name: p.Name, Millis: p.Millis,
			SurvivorMiB: bytes(p.SurvivorBytes), PromotedMiB: bytes(p.PromotedBytes)})
	}
	answer(w, out)
}

// ago reads a non-negative number of seconds.
func ago(r *http.Request, key string) (time.Duration, error) {
	s, err := strconv.ParseFloat(r.URL.Query().Get(key), 64)
	if err != nil || !(s >= 0 && s < 1e9) {
		return 0, fmt.Errorf("%s must be a number of seconds ago, not %q", key, r.URL.Query().Get(key))
	}
	return time.Duration(s * float64(time.Second)), nil
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
