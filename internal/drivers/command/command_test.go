package command

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/record"
)

func TestOutcome_severalPods(t *testing.T) {
	share := func(rate float64, seconds, inFlight float64, notes ...string) json.RawMessage {
		one := 3.5
		data, err := json.Marshal(commandShare{InFlight: inFlight, Load: &record.Load{Rate: rate, Unit: "calls/s", Seconds: seconds,
			Operations: int64(rate * seconds), Failures: 1, Latency: &record.Latency{Mean: 1}, Metrics: []record.Metric{{Name: "p75", Value: &one, Unit: "ms"}}, Notes: notes}})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	d := &Driver{session: &driver.Session{Config: record.Config{Attempt: record.Attempt{Trial: record.Trial{Clients: 10, Placement: 1}}}}}
	out, err := d.Outcome([]json.RawMessage{share(100, 10, 5, "odd"), share(50, 12, 4, "odd", "odder")})
	if err != nil {
		t.Fatal(err)
	}
	l := out.Load
	if l.FailuresUncounted {
		t.Error("both pods counted their failures")
	}
	if l.Rate != 150 || l.Operations != 1600 || l.Failures != 2 || l.Seconds != 12 || l.Latency != nil || math.Abs(out.ClientUtilization-0.9) > 1e-9 {
		t.Errorf("%+v, %v", l, out.ClientUtilization)
	}
	if len(l.Notes) != 3 || !slices.Contains(l.Notes, "odder") || !strings.Contains(l.Notes[2], "lasted between 10.0 and 12.0 s") {
		t.Errorf("%q", l.Notes)
	}
	if m := l.Metrics; len(m) != 1 || m[0].Name != "p75" || m[0].Unit != "ms" || m[0].Value != nil || !strings.Contains(m[0].Note, "2 loader pods") {
		t.Errorf("%+v", m)
	}
	if out, err = d.Outcome([]json.RawMessage{share(100, 10, 0)}); err != nil || out.Load.Latency == nil || out.ClientUtilization != 0 || *out.Load.Metrics[0].Value != 3.5 {
		t.Errorf("%+v, %v", out, err)
	}
	uncounted := json.RawMessage(`{"load": {"rate": 5, "unit": "calls/s", "failuresUncounted": true}}`)
	if out, err = d.Outcome([]json.RawMessage{share(100, 10, 0), uncounted}); err != nil || !out.Load.FailuresUncounted {
		t.Errorf("a pod that counted no failures leaves their sum unknown: %+v, %v", out, err)
	}
	pod := &Driver{session: &driver.Session{Part: driver.Part{Index: 2, Of: 3},
		Config: record.Config{Attempt: record.Attempt{Trial: record.Trial{Cell: "abc", Phase: record.Final, Clients: 10, Repetition: 2, Placement: 2}, N: 1}}}}
	if v := pod.values(); v["KNEE_CLIENTS"] != "3" || v["KNEE_TRIAL"] != "knee-abc-final-c10-r2-a1-p2-l2" {
		t.Errorf("%v", v)
	}
	if _, known := pod.values()["KNEE_ENDPOINT"]; known {
		t.Error("there is no endpoint")
	}
}

func TestPrometheus_evaluate(t *testing.T) {
	answers := map[string]string{
		"sum(rate(cpu[3s]))": `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1.5,"2.25"]}]}}`,
		"scalar(x)":          `{"status":"success","data":{"resultType":"scalar","result":[1.5,"7"]}}`,
		"none":               `{"status":"success","data":{"resultType":"vector","result":[]}}`,
		"two":                `{"status":"success","data":{"resultType":"vector","result":[{"value":[1,"1"]},{"value":[1,"2"]}]}}`,
		"0/0":                `{"status":"success","data":{"resultType":"vector","result":[{"value":[1,"NaN"]}]}}`,
		"x[5m]":              `{"status":"success","data":{"resultType":"matrix","result":[]}}`,
		"(":                  `{"status":"error","errorType":"bad_data","error":"unclosed left parenthesis"}`,
		"page":               `<html>not found</html>`,
		"broken":             `{"status":"success","data":{"resultType":"scalar","result":[1]}}`,
	}
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.FormValue("query")
		asked[query]++
		if r.URL.Path != "/prefix/api/v1/query" || r.FormValue("time") != "1795219762.841" {
			t.Errorf("%s of %s at %q", r.Method, r.URL, r.FormValue("time"))
		}
		if strings.HasPrefix(answers[query], `{"status":"error"`) {
			w.WriteHeader(http.StatusBadRequest)
		}
		fmt.Fprint(w, answers[query])
	}))
	defer server.Close()
	a := prometheus{http: http.DefaultClient, say: t.Logf}
	config := commandconfig.Prometheus{URL: server.URL + "/prefix/"}
	notes := map[string]string{"none": "0 series", "two": "2 series", "0/0": "NaN", "x[5m]": "a matrix", "(": "status 400: unclosed left parenthesis", "page": "is not in the format of Prometheus", "broken": "a sample has 1 elements"}
	for query := range answers {
		config.Queries = append(config.Queries, commandconfig.PrometheusQuery{Name: query, Query: strings.NewReplacer("3s", "$(KNEE_WINDOW)", "cpu", "$(service)").Replace(query), Unit: "cores"})
	}
	for _, m := range a.evaluate(t.Context(), config, map[string]string{"service": "cpu"}, time.UnixMilli(1795219762841), 2100*time.Millisecond) {
		if want, absent := notes[m.Name]; absent {
			if m.Value != nil || !strings.Contains(m.Note, want) {
				t.Errorf("%+v, want a note with %q", m, want)
			}
			continue
		}
		if m.Value == nil || m.Note != "" || m.Unit != "cores" || *m.Value != map[string]float64{"scalar(x)": 7, "sum(rate(cpu[3s]))": 2.25}[m.Name] {
			t.Errorf("%+v", m)
		}
		if asked[m.Name] != 1 {
			t.Errorf("%s was asked %d times", m.Name, asked[m.Name])
		}
	}
	config = commandconfig.Prometheus{URL: "http://127.0.0.1:1", Queries: []commandconfig.PrometheusQuery{{Name: "cpu", Query: "up"}}}
	if m := a.evaluate(t.Context(), config, map[string]string{}, time.Now(), time.Second); len(m) != 1 || m[0].Value != nil || !strings.Contains(m[0].Note, "refused") {
		t.Errorf("no server answers: %+v", m)
	}
}

// TestRead_withoutSeconds checks that the duration of the load is the run time of the program if there is no path for
// the seconds.
func TestRead_withoutSeconds(t *testing.T) {
	config := commandconfig.Config{JSON: &commandconfig.Figures{
		Throughput: commandconfig.Figure{Selector: "$.mibs", Unit: "MiB/s"}, Operations: "$.ops", LatencyUnit: "ms", Latency: map[string]string{"mean": "$.lat"}}}
	d := &Driver{session: &driver.Session{Config: record.Config{Attempt: record.Attempt{Trial: record.Trial{Clients: 16, Placement: 1}}}}, config: config}
	share, err := d.read(`{"mibs": 250, "ops": 256000, "sec": 64, "lat": 4}`, 64*time.Second)
	if err != nil || share.InFlight != 16 || share.Load.Seconds != 64 || len(share.Load.Notes) != 0 {
		t.Errorf("%+v, %+v, %v", share, share.Load, err)
	}
}
