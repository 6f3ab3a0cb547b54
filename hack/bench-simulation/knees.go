package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/knee-bench/knee/internal/verdict/stats"
	"github.com/knee-bench/knee/internal/verdict/sweep"
	"github.com/knee-bench/knee/internal/verdict/sweep/synthetic"
)

// Bounds of the stability of knees: three standard errors and an allowance, in percentage points, because the model of the curves is not
// the curve.
const (
	rowAllowance    = 1.0
	decileAllowance = 5.0
	leastKnees      = 30 // in a decile that has a bound
)

// finalTrials is the number of Finals of each cell.
const finalTrials = 4

// stability compares the stated stability of knees with the share of right knees.
type stability struct {
	Sweep      string        `json:"sweep"`
	Setting    setting       `json:"setting"`
	OtherCV    float64       `json:"otherCV"` // noise of the other cell
	All        reliability   `json:"all"`
	Deciles    []reliability `json:"deciles"`
	AsExpected bool          `json:"asExpected"`
	measure    func(cell) []sweep.Point
}

// reliability holds the mean stated stability and the share of right knees, in percent.
type reliability struct {
	Stated float64 `json:"statedPercent"`
	Right  float64 `json:"rightPercent"`
	Knees  float64 `json:"knees"`
}

func (r *reliability) add(stated float64, right bool) {
	r.Stated += (100*stated - r.Stated) / (r.Knees + 1)
	share := 0.0
	if right {
		share = 100
	}
	r.Right += (share - r.Right) / (r.Knees + 1)
	r.Knees++
}

// excess returns by how many points the difference exceeds three standard errors.
func (r reliability) excess() float64 {
	return math.Abs(r.Stated-r.Right) - 300*standardError(r.Stated/100, int(r.Knees))
}

// excess returns the largest excess of the deciles that have a bound.
func (s stability) excess() float64 {
	most := math.Inf(-1)
	for _, d := range s.Deciles {
		if d.Knees >= leastKnees {
			most = max(most, d.excess())
		}
	}
	return most
}

// stabilities simulates campaigns of two cells with a sweep and Finals. An adaptive sweep takes much longer than a full one, so that
// adaptive sweeps measure fewer curves.
func stabilities(curves int, seed uint64) []stability {
	const adaptiveShare = 0.4
	var out []stability
	for _, irregularity := range []float64{0, 0.02} {
		for _, cvs := range [][2]float64{{0.003, 0.003}, {0.01, 0.01}, {0.03, 0.03}, {0.06, 0.06}, {0.01, 0.05}, {0.05, 0.01}} {
			for _, w := range []way{fullOnce, {name: "full n=2", sweep: full(2)}, fullFour, adaptively} {
				out = append(out, stability{Sweep: w.name, Setting: setting{CV: cvs[0], Irregularity: irregularity}, OtherCV: cvs[1], measure: w.sweep})
			}
		}
	}
	progress := newProgress("rows of stabilities", len(out))
	inParallel(len(out), func(i int) {
		n := curves
		if out[i].Sweep == adaptively.name {
			n = int(adaptiveShare * float64(curves))
		}
		out[i].simulate(n, seed)
		progress.add()
	})
	return out
}

func (s *stability) simulate(curves int, seed uint64) {
	s.Deciles = make([]reliability, 10)
	for _, shape := range synthetic.Shapes {
		rng := newRand(seed, "stability", s.Setting.String(), s.OtherCV, shape)
		for _, c := range s.Setting.cells(seed, shape, curves) {
			points := s.measure(c)
			own := append(groupRepeats(points), scaled(1, independent(s.Setting.CV)(rng, finalTrials)))
			other := [][]float64{scaled(1, independent(s.OtherCV)(rng, finalTrials))}
			noise := stats.PooledNoise(own).ShrinkTowards(stats.PooledNoise(other))
			curve := newCurve(points)
			skipped := slices.DeleteFunc(slices.Clone(c.clients), func(n int32) bool { return curve.At(n) != nil })
			stated, ok := sweep.KneeStability(curve, skipped, synthetic.PercentOfPeak, noise)
			if !ok {
				continue
			}
			right := curve.Knee.Clients == c.clients[c.knee]
			s.All.add(stated, right)
			s.Deciles[min(int(10*stated), 9)].add(stated, right)
		}
	}
	s.AsExpected = s.All.excess() <= rowAllowance && s.excess() <= decileAllowance
}

// groupRepeats returns the docs/s of the points: one list for each client count.
func groupRepeats(points []sweep.Point) [][]float64 {
	var out [][]float64
	for len(points) > 0 {
		clients := points[0].Clients
		var group []float64
		for _, p := range points {
			if p.Clients == clients {
				group = append(group, p.Rate)
			}
		}
		out = append(out, group)
		points = slices.DeleteFunc(slices.Clone(points), func(p sweep.Point) bool { return p.Clients == clients })
	}
	return out
}

func printStability(rows []stability) error {
	fmt.Printf("Stability of knees, in deciles: stated / right, in percent (knees). Excess: difference beyond 3 standard errors, in points; at most %g over all knees\n", rowAllowance)
	fmt.Printf("and %g in a decile of at least %d knees. Each of two cells has %d Finals.\n", decileAllowance, leastKnees, finalTrials)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "irregularity %\tnoise %\tother cell %\tsweep\tall\texcess\tdeciles\t")
	for i := range 10 {
		fmt.Fprintf(w, "%d to %d\t", 10*i, 10*i+10)
	}
	fmt.Fprintln(w, "expected\t")
	for _, s := range rows {
		fmt.Fprintf(w, "%g\t%g\t%g\t%s\t%.1f / %.1f\t%.1f\t%.1f\t", 100*s.Setting.Irregularity, 100*s.Setting.CV, 100*s.OtherCV, s.Sweep,
			s.All.Stated, s.All.Right, max(s.All.excess(), 0), max(s.excess(), 0))
		for _, d := range s.Deciles {
			if d.Knees == 0 {
				fmt.Fprint(w, "-\t")
				continue
			}
			fmt.Fprintf(w, "%.0f / %.0f (%.0f)\t", d.Stated, d.Right, d.Knees)
		}
		ok := "as expected"
		if !s.AsExpected {
			ok = "NOT as expected"
		}
		fmt.Fprintf(w, "%s\t\n", ok)
	}
	return w.Flush()
}
