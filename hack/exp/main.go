package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/stats"
	"github.com/knee-bench/knee/internal/verdict/sweep"
	"github.com/knee-bench/knee/internal/verdict/sweep/synthetic"
)

type truth struct {
	clients []int32
	docs    []float64
	knee    int
	cv      float64
}

func (t truth) measure(rng *rand.Rand, c int32) sweep.Point {
	return sweep.Point{Clients: c, DocsPerSecond: t.docs[slices.Index(t.clients, c)] * math.Exp(t.cv*rng.NormFloat64()), Verdict: verdict.Measured}
}

func (t truth) full(rng *rand.Rand, n int) (p []sweep.Point) {
	for _, c := range t.clients {
		for range n {
			p = append(p, t.measure(rng, c))
		}
	}
	return
}

var calls int

func (t truth) adapt(rng *rand.Rand) (p []sweep.Point) {
	for {
		calls++
		next, done := sweep.AdaptiveNext(t.clients, p, 97)
		if done {
			return
		}
		p = append(p, t.measure(rng, next))
	}
}

func knee(clients []int32, p []sweep.Point) int {
	return slices.Index(clients, sweep.NewCurve(p, 97).Knee.Clients)
}

type score struct{ n, trials, exact, one float64 }

func (s *score) add(t truth, p []sweep.Point) {
	d := knee(t.clients, p) - t.knee
	s.n++
	s.trials += float64(len(p))
	if d == 0 {
		s.exact++
	}
	if d >= -1 && d <= 1 {
		s.one++
	}
}
func (s score) String() string {
	return fmt.Sprintf("%5.1f %3.0f/%3.0f", s.trials/s.n, 100*s.exact/s.n, 100*s.one/s.n)
}

type rel struct{ n, stated, right float64 }

func main() {
	curves, _ := strconv.Atoi(os.Args[1])
	start := time.Now()
	for _, irr := range []float64{0, 0.02} {
		for _, cv := range cvs(0.003, 0.01, 0.03, 0.06) {
			var sc [3]score
			var sh [4][3]score
			var bins [10]rel
			for i, shape := range synthetic.Shapes {
				shapes := rand.New(rand.NewPCG(7, uint64(i)))
				noise := rand.New(rand.NewPCG(8, uint64(i)))
				for range curves {
					c := synthetic.New(shapes, shape)
					if irr > 0 {
						c = c.Irregular(shapes, irr)
					}
					t := truth{synthetic.Clients, c.Docs, c.Knee, cv}
					one := t.full(noise, 1)
					four := t.full(noise, 4)
					ad := t.adapt(noise)
					for j, p := range [][]sweep.Point{one, four, ad} {
						sc[j].add(t, p)
						sh[i][j].add(t, p)
					}
					if len(os.Args) > 2 {
						fin := make([]float64, 5)
						for k := range fin {
							fin[k] = t.measure(noise, t.clients[0]).DocsPerSecond
						}
						s, _ := sweep.KneeStability(sweep.NewCurve(one, 97), nil, 97, stats.PooledNoise([][]float64{fin}), 1)
						b := &bins[min(int(s*10), 9)]
						b.n++
						b.stated += s
						if knee(t.clients, one) == t.knee {
							b.right++
						}
					}
				}
			}
			fmt.Printf("irr %.1f cv %.1f: one %v  four %v  adaptive %v |", irr*100, cv*100, sc[0], sc[1], sc[2])
			for i := range sh {
				fmt.Printf(" %s %3.0f->%v", synthetic.Shapes[i][:4], 100*sh[i][0].exact/sh[i][0].n, sh[i][2])
			}
			fmt.Println()
			if len(os.Args) > 2 {
				a := rel{}
				for _, b := range bins {
					fmt.Printf(" %2.0f/%2.0f(%.0f)", 100*b.stated/b.n, 100*b.right/b.n, b.n)
					a.n += b.n
					a.stated += b.stated
					a.right += b.right
				}
				fmt.Printf(" all %.1f/%.1f\n", 100*a.stated/a.n, 100*a.right/a.n)
			}
		}
	}
	pub := []truth{
		{[]int32{12, 16, 20, 24, 32, 40, 48}, []float64{336527, 345964, 335456, 341191, 349156, 342395, 341377}, 1, 0},
		{[]int32{12, 16, 20, 32, 40, 48}, []float64{239130, 236746, 242232, 238201, 232926, 243044}, 0, 0},
	}
	for i, t := range pub {
		for _, cv := range cvs(0.003, 0.01, 0.03, 0.06) {
			t.cv = cv
			noise := rand.New(rand.NewPCG(9, uint64(i)))
			var sc [3]score
			for range curves * 2 {
				for j, p := range [][]sweep.Point{t.full(noise, 1), t.full(noise, 4), t.adapt(noise)} {
					sc[j].add(t, p)
				}
			}
			fmt.Printf("published %d cv %.1f: one %v four %v adaptive %v\n", i, cv*100, sc[0], sc[1], sc[2])
		}
	}
	fmt.Println(time.Since(start)/time.Duration(calls), calls)
}

func cvs(all ...float64) []float64 {
	if v, err := strconv.ParseFloat(os.Getenv("CV"), 64); err == nil {
		return []float64{v}
	}
	return all
}
