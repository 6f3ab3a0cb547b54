package probe

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/agent/probe/gclog"
	"github.com/knee-bench/knee/internal/record"
)

// TestClockSteps checks a clock that is set while a window is measured. The figures stay the same, because the
// window is given in seconds before now. The garbage collector logs its pauses with times of this clock. So the answer
// then contains an error text instead of the pauses.
func TestClockSteps(t *testing.T) {
	log := filepath.Join(t.TempDir(), "gc.log")
	if err := os.WriteFile(log, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		steps [4]time.Duration // steps of the clock at the samples, which are one second apart
		want  string
	}{
		"not at all":         {[4]time.Duration{0, 0, 0, 0}, ""},
		"long before":        {[4]time.Duration{-time.Hour, 0, 0, 0}, ""},
		"a little":           {[4]time.Duration{0, 0, 300 * time.Millisecond, 300 * time.Millisecond}, ""},
		"within the window":  {[4]time.Duration{0, 0, 5 * time.Second, 5 * time.Second}, "adjusted by +5.0 s"},
		"after it":           {[4]time.Duration{0, 0, 0, -2 * time.Second}, "adjusted by -2.0 s"},
		"and set right soon": {[4]time.Duration{0, 0, 9 * time.Second, 0}, "adjusted by -9.0 s"},
	} {
		ring := NewRing(10)
		now := time.Now()
		for i, step := range c.steps {
			ring.Add(Sample{At: now.Add(time.Duration(i-len(c.steps)+1) * time.Second), User: float64(i), Idle: float64(i), Cores: 2, ClockStep: step})
		}
		answer := httptest.NewRecorder()
		Handler(ring, gclog.NewFollower(log), record.Environment{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/v1/window?from=1.9&to=0.5", nil))
		var w Window
		if err := json.Unmarshal(answer.Body.Bytes(), &w); err != nil {
			t.Fatalf("%s: %v: %s", name, err, answer.Body)
		}
		if c.want == "" && w.PausesError != "" || !strings.Contains(w.PausesError, c.want) || (w.Pauses == nil) != (c.want != "") {
			t.Errorf("%s: %q and pauses %v, want %q", name, w.PausesError, w.Pauses, c.want)
		}
		if w.CPU.User < 49 || w.CPU.User > 51 || w.Clock < now.UnixMilli() {
			t.Errorf("%s: %+v", name, w)
		}
	}
}
