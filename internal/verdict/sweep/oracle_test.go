package sweep_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/sweep"
)

// oraclePoint is a point of a sweep in testdata/oracle.json.
type oraclePoint struct {
	Clients int32
	Docs    float64
	Verdict verdict.Verdict
}

// oracle holds expected values that hack/oracle computes without this package. A client count of 0 means that there is none.
type oracle struct {
	Curves []struct {
		Points                     []oraclePoint
		PercentOfPeak, Target      float64
		Highest, Peak, Knee        int32
		Passing                    []int32
		PeakGated, KneeAtRangeEdge bool
	}
	Shared []struct {
		Sweeps  [][]oraclePoint
		Clients int32
		Agreed  bool
	}
	USL []struct {
		Clients, Docs, Fitted []float64
		ResidualsRoot         float64
	}
}

func readOracle(t *testing.T) (o oracle) {
	t.Helper()
	text, err := os.ReadFile("testdata/oracle.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]int{"curves": len(o.Curves), "shared": len(o.Shared), "usl": len(o.USL)} {
		if n == 0 {
			t.Fatalf("testdata/oracle.json has no cases of %s", name)
		}
	}
	return o
}

func oracleCurve(points []oraclePoint, percentOfPeak float64) sweep.Curve {
	var out []sweep.Point
	for _, p := range points {
		q := sweep.Point{Clients: p.Clients, Rate: p.Docs, Verdict: p.Verdict}
		if p.Verdict == verdict.Errored {
			q.Rate = math.NaN()
		}
		out = append(out, q)
	}
	return sweep.NewCurve(out, percentOfPeak)
}

func clientsAt(p *sweep.Point) int32 {
	if p == nil {
		return 0
	}
	return p.Clients
}

func TestOracle_curves(t *testing.T) {
	for i, want := range readOracle(t).Curves {
		got := oracleCurve(want.Points, want.PercentOfPeak)
		if clientsAt(got.Peak) != want.Peak || clientsAt(got.Highest) != want.Highest || clientsAt(got.Knee) != want.Knee ||
			!slices.Equal(got.Passing, want.Passing) {
			t.Errorf("row %d: got peak %d, highest %d, knee %d, passing %v, the oracle has %d, %d, %d, %v", i,
				clientsAt(got.Peak), clientsAt(got.Highest), clientsAt(got.Knee), got.Passing, want.Peak, want.Highest, want.Knee, want.Passing)
		}
		if got.PeakGated != want.PeakGated || got.KneeAtRangeEdge != want.KneeAtRangeEdge {
			t.Errorf("row %d: got peak gated %t, knee at the edge of the range %t, the oracle has %t, %t", i,
				got.PeakGated, got.KneeAtRangeEdge, want.PeakGated, want.KneeAtRangeEdge)
		}
		if want.Peak > 0 && !(math.Abs(got.Target-want.Target) <= 1e-9*want.Target) {
			t.Errorf("row %d: got target %v, the oracle has %v", i, got.Target, want.Target)
		}
	}
}

func TestOracle_sharedClients(t *testing.T) {
	for i, want := range readOracle(t).Shared {
		var curves []sweep.Curve
		for _, points := range want.Sweeps {
			curves = append(curves, oracleCurve(points, 97))
		}
		if got := sweep.SharedClients(curves); got.Clients != want.Clients || got.Agreed != want.Agreed {
			t.Errorf("row %d: got %+v, the oracle has %d clients, agreed %t", i, got, want.Clients, want.Agreed)
		}
	}
}

// TestOracle_usl compares fits at the client counts, because alpha and beta of a noisy curve are hardly determined. The oracle
// rounds a fit to 5 digits.
func TestOracle_usl(t *testing.T) {
	for i, want := range readOracle(t).USL {
		got, err := sweep.FitUSL(want.Clients, want.Docs)
		if err != nil {
			t.Errorf("row %d: %v", i, err)
			continue
		}
		if !(math.Abs(got.ResidualsRoot-want.ResidualsRoot) <= 1e-9*want.ResidualsRoot) {
			t.Errorf("row %d: got residuals of %v docs/s, the oracle has %v", i, got.ResidualsRoot, want.ResidualsRoot)
		}
		for k, n := range want.Clients {
			if !(math.Abs(got.At(n)-want.Fitted[k]) <= 1e-4*want.Fitted[k]) {
				t.Errorf("row %d at %g clients: got %v docs/s, the oracle has %v", i, n, got.At(n), want.Fitted[k])
			}
		}
	}
}
