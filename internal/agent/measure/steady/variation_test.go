package steady

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestCVPercent(t *testing.T) {
	count := func(rates ...float64) []Sample {
		out, sum := []Sample{{at(0), 0}}, 0.0
		for i, r := range rates {
			sum += 5 * r
			out = append(out, Sample{at(float64(5 * (i + 1))), int64(sum)})
		}
		return out
	}
	whole := func(samples []Sample) Window { return Part(samples, samples[0].At, samples[len(samples)-1].At) }
	// By hand: the means 900, 1000, 1100 and 1000 have the mean 1000. Their deviations are 100, 0, 100 and 0, which
	// gives sqrt(20000/3) = 81.65.
	samples := count(900, 1000, 1100, 1000)
	if cv := CVPercent(samples, whole(samples)); !near(cv, 8.1650, 1e-4) {
		t.Errorf("%v", cv)
	}
	for name, c := range map[string][]Sample{"three means": count(900, 1000, 1100), "nothing": count(0, 0, 0, 0), "constant": count(7, 7, 7, 7, 7)} {
		if cv := CVPercent(c, whole(c)); cv != 0 {
			t.Errorf("%s: %v", name, cv)
		}
	}
	// Independent noise of 10 % per second gives a noise of 10 / sqrt(5) % in means of five seconds.
	rng, sum := rand.New(rand.NewPCG(3, 1)), 0.0
	noisy := []Sample{{at(0), 0}}
	for s := range 3000 {
		sum += 1e5 * (1 + 0.1*rng.NormFloat64())
		noisy = append(noisy, Sample{at(float64(s + 1)), int64(sum)})
	}
	if cv := CVPercent(noisy, whole(noisy)); math.Abs(cv-10/math.Sqrt(5)) > 0.4 {
		t.Errorf("noise of 10 %% a second gives %v", cv)
	}
	if cv := CVPercent(noisy, Part(noisy, at(10), at(10).Add(19*time.Second))); cv != 0 {
		t.Errorf("19 s give %v", cv)
	}
}

// TestCorpus_firstClientEnds_endsWindow checks that the window ends when the first client ends, because the other clients
// alone have a lower rate.
func TestCorpus_firstClientEnds_endsWindow(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	for range 200 {
		// All clients have the same speed but send parts of different sizes. Each client stops when it has sent its
		// part.
		clients := 2 + rng.IntN(15)
		ends, corpus, first := make([]float64, clients), 0.0, math.Inf(1)
		for i := range ends {
			ends[i] = 60 + 30*rng.Float64()
			corpus += 1000 * ends[i]
			first = min(first, ends[i])
		}
		var samples []Sample
		for s := range 95 {
			n := 0.0
			for _, end := range ends {
				n += 1000 * min(float64(s), end)
			}
			samples = append(samples, Sample{at(float64(s)), int64(n)})
		}
		w, err := Corpus(samples, int64(corpus), start.Add(time.Duration(first*float64(time.Second))))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := w.Rate(), 1000*float64(clients); math.Abs(got-want) > 0.002*want || w.To.Sub(start).Seconds() > first+1e-6 {
			t.Errorf("%d clients of which the first ends at %.1f s: %.0f docs/s, want %.0f; until %.1f s", clients, first, got, want, w.To.Sub(start).Seconds())
		}
	}
}
