package probe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// Window is the answer to GET /v1/window?from=SECONDS_AGO&to=SECONDS_AGO.
type Window struct {
	Seconds     float64            `json:"seconds"` // length of what was measured
	CPU         record.CPU         `json:"cpu"`
	Pressure    *record.Pressure   `json:"pressure,omitempty"`
	Disk        *record.Disk       `json:"disk,omitempty"`
	Environment record.Environment `json:"environment"`
}

// Now is the answer to GET /v1/now: the last two seconds.
type Now struct {
	BusyPercent float64 `json:"busyPercent"` // user + sys, of all cores
	DirtyBytes  int64   `json:"dirtyBytes"`  // dirty pages and pages under writeback
	WriteMiBs   float64 `json:"writeMiBs"`
}

// nowSpan is how far /v1/now looks back.
const nowSpan = 2 * time.Second

// Handler answers from a ring of samples.
func Handler(ring *Ring, environment record.Environment) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		last, ok := ring.Last()
		if !ok || time.Since(last.At) > 10*time.Second {
			http.Error(w, "no sample in the last 10 s", http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /v1/window", func(w http.ResponseWriter, r *http.Request) {
		now := time.Now()
		from, err := ago(r, "from")
		if err == nil {
			var to time.Duration
			if to, err = ago(r, "to"); err == nil {
				window(w, ring, environment, now.Add(-from), now.Add(-to))
				return
			}
		}
		http.Error(w, err.Error(), http.StatusBadRequest)
	})
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

func window(w http.ResponseWriter, ring *Ring, environment record.Environment, from, to time.Time) {
	a, b, err := ring.Between(from, to)
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestedRangeNotSatisfiable)
		return
	}
	answer(w, Window{Seconds: b.At.Sub(a.At).Seconds(), CPU: CPU(a, b), Pressure: Pressure(a, b), Disk: Disk(a, b), Environment: environment})
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
