package probe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/knee-bench/knee/internal/agent/probe/gclog"
	"github.com/knee-bench/knee/internal/record"
)

// Window is the response to GET /v1/window?from=SECONDS_AGO&to=SECONDS_AGO.
type Window struct {
	Seconds     float64            `json:"seconds"` // length of the window that the samples cover
	CPU         record.CPU         `json:"cpu"`
	CPURange    *record.Range      `json:"cpuRange,omitempty"` // range of user + sys; absent if the window is shorter than 20 s
	Pressure    *record.Pressure   `json:"pressure,omitempty"`
	Disk        *record.Disk       `json:"disk,omitempty"`
	Network     *record.Network    `json:"network,omitempty"`
	Resident    int64              `json:"residentMaxBytes,omitempty"` // memory of the OpenSearch process
	Throttled   *float64           `json:"throttledPercent,omitempty"` // percentage of the CPU quota's periods; absent: no quota or not visible
	Probe       float64            `json:"probePercent,omitempty"`     // CPU of the probe itself, percent of one core
	Pauses      *record.Pauses     `json:"pauses,omitempty"`           // absent if there is no gc.log
	PausesError string             `json:"pausesError,omitempty"`      // why an existing gc.log could not be read
	Clock       int64              `json:"clock,omitempty"`            // wall clock of the probe's machine at the time of the response, Unix ms
	Environment record.Environment `json:"environment"`
}

// Series is the response to GET /v1/series?from=SECONDS_AGO&to=SECONDS_AGO. It holds all samples and pauses of this time.
type Series struct {
	Points      []Point     `json:"points"`
	Pauses      []PauseSeen `json:"pauses"`
	PausesError string      `json:"pausesError,omitempty"` // why an existing gc.log could not be read
}

// Point holds the mean figures between two consecutive samples.
type Point struct {
	Seconds  float64          `json:"seconds"` // end of the point, in seconds after the start of the requested window
	CPU      record.CPU       `json:"cpu"`
	Pressure *record.Pressure `json:"pressure,omitempty"`
	Disk     *record.Disk     `json:"disk"`
	Network  *record.Network  `json:"network"`
	Resident int64            `json:"residentBytes,omitempty"`
	Dirty    int64            `json:"dirtyBytes"`
	Quota    *Quota           `json:"quota,omitempty"` // counters so far; absent: no quota or not visible
}

// PauseSeen is one pause of the garbage collector.
type PauseSeen struct {
	Seconds     float64 `json:"seconds"` // end of the pause, in seconds after the start of the requested window
	Kind        string  `json:"kind"`
	Name        string  `json:"name"`
	Millis      float64 `json:"millis"`
	SurvivorMiB float64 `json:"survivorMiB"` // -1: not known
	PromotedMiB float64 `json:"promotedMiB"` // -1: not known
}

// Now is the response to GET /v1/now: the mean figures of the last two seconds.
type Now struct {
	BusyPercent float64 `json:"busyPercent"` // user + sys, percent of all cores
	DirtyBytes  int64   `json:"dirtyBytes"`  // dirty pages and pages under writeback
	WriteMiBs   float64 `json:"writeMiBs"`
}

// nowSpan is the period over which /v1/now computes its means.
const nowSpan = 2 * time.Second

// Handler returns the HTTP handler of the probe. It reads a ring of samples and the garbage collector's log.
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

// span parses the start and the end of a window from a request and calls answer with these times.
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

// maxClockStep is the largest adjustment of the wall clock with which the dates in gc.log can still be used.
const maxClockStep = time.Second

// pausesBetween reads the pauses of a window from the garbage collector's log. It fails if the wall clock was adjusted too
// much, because the log is dated by the wall clock. All other figures use the monotonic clock.
func pausesBetween(ring *Ring, log *gclog.Follower, from, to time.Time) ([]gclog.Pause, bool, error) {
	if step := ring.ClockStep(from); step.Abs() > maxClockStep {
		return nil, false, fmt.Errorf("the clock of the machine was adjusted by %+.1f s after the measured period began, so Knee cannot use the times in gc.log", step.Seconds())
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

// ago parses a parameter that is a non-negative number of seconds.
func ago(r *http.Request, key string) (time.Duration, error) {
	s, err := strconv.ParseFloat(r.URL.Query().Get(key), 64)
	if err != nil || !(s >= 0 && s < 1e9) {
		return 0, fmt.Errorf("query parameter %s must be a number of seconds before now, not %q", key, r.URL.Query().Get(key))
	}
	return time.Duration(s * float64(time.Second)), nil
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
