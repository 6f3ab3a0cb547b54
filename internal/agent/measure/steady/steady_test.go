package steady

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// series returns n samples: a level with random noise. The first w samples are a warm-up, which rises or falls
// linearly to the level. The warm-up begins at the value start * level.
func series(n, w int, start, level, noise float64, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := make([]float64, n)
	for i := range out {
		x := level
		if i < w {
			x = level * (start + (1-start)*float64(i)/float64(w))
		}
		out[i] = x * (1 + noise*rng.NormFloat64())
	}
	return out
}

func TestMSER5(t *testing.T) {
	stall := series(200, 0, 1, 1000, 0.02, 5)
	for i := 190; i < 200; i++ {
		stall[i] = 10
	}
	rising := make([]float64, 100)
	for i := range rising {
		rising[i] = float64(i)
	}
	step := append(series(130, 0, 1, 100, 0.01, 1), series(70, 0, 1, 1000, 0.01, 1)...)
	for name, c := range map[string]struct {
		samples  []float64
		from, to int // range in which the cut may be
		err      string
	}{
		"constant":               {series(100, 0, 1, 1000, 0, 1), 0, 0, ""},
		"steady with noise":      {series(300, 0, 1, 1000, 0.02, 2), 0, 60, ""},
		"a warm-up of 20 s":      {series(120, 20, 0.1, 1000, 0.02, 3), 15, 25, ""},
		"a step after 15 s":      {append(make([]float64, 15), series(85, 0, 1, 1000, 0.01, 4)...), 15, 20, ""},
		"a stall at the end":     {stall, 0, 40, ""},
		"too few":                {series(49, 0, 1, 1000, 0.02, 6), 0, 0, "49 samples (one per second) are too few to find the steady part of the load: increase the duration of the load to get at least 50 samples"},
		"ten batches":            {series(54, 0, 1, 1000, 0, 7), 0, 0, ""},
		"rising to the end":      {rising, 0, 0, "not steady"},
		"steady in its last 70":  {step, 0, 0, "not steady"},
		"too little is left":     {append(make([]float64, 30), series(40, 0, 1, 1000, 0.01, 8)...), 0, 0, "not steady"},
		"nothing to be measured": {nil, 0, 0, "0 samples (one per second) are too few"},
	} {
		t.Run(name, func(t *testing.T) {
			cut, err := MSER5(c.samples)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("cut %d, error %v, want %q", cut, err, c.err)
				}
				return
			}
			if err != nil || cut < c.from || cut > c.to {
				t.Fatalf("cut %d, %v, want %d to %d", cut, err, c.from, c.to)
			}
		})
	}
}

// TestMSER5_steadyNoise_isAcceptedUnbiased checks that a steady load is accepted most of the time, and that the choice of the cut does not
// bias the mean after the cut.
func TestMSER5_steadyNoise_isAcceptedUnbiased(t *testing.T) {
	const runs = 2000
	refused, sum := 0, 0.0
	for seed := range uint64(runs) {
		x := series(150, 0, 1, 1000, 0.05, seed)
		cut, err := MSER5(x)
		if err != nil {
			refused++
			continue
		}
		mean := 0.0
		for _, v := range x[cut:] {
			mean += v / float64(len(x)-cut)
		}
		sum += mean
	}
	if share := float64(refused) / runs; share > 0.12 {
		t.Errorf("%.1f %% of steady loads of 150 s are refused", 100*share)
	}
	if mean := sum / float64(runs-refused); math.Abs(mean-1000) > 1 {
		t.Errorf("the mean of steady loads is %.2f, not 1000", mean)
	}
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }

// load returns samples of the document counter, one every "interval" seconds up to the time "until". Between the times
// "from" and "to", the counter grows by "rate" documents per second. All times are in seconds.
func load(from, to, rate, interval, until float64) []Sample {
	var out []Sample
	for s := 0.0; s <= until+1e-9; s += interval {
		out = append(out, Sample{at(s), int64(math.Round(rate * math.Max(0, math.Min(s, to)-from)))})
	}
	return out
}

func near(a, b, share float64) bool { return math.Abs(a-b) <= share*math.Abs(b) }

func TestWhole(t *testing.T) {
	// The load begins and ends between two samples. Whole computes both times from the rate of the neighbouring
	// interval.
	w, err := Whole(load(2.3, 62.7, 1000, 1, 70))
	if err != nil || !near(w.Rate(), 1000, 1e-6) || !near(w.Seconds(), 60.4, 1e-6) || w.Documents != 60400 {
		t.Errorf("%+v, %v, rate %f", w, err, w.Rate())
	}
	// This load is too short to compute a rate. So its begin and its end are the times of two samples.
	if w, err := Whole([]Sample{{at(0), 0}, {at(1), 500}, {at(2), 900}, {at(3), 900}}); err != nil || w.Seconds() != 2 || w.Documents != 900 {
		t.Errorf("%+v, %v", w, err)
	}
	// A stall in the middle is part of the load.
	stalled := append(load(0, 10, 100, 1, 20), Sample{at(21), 1100}, Sample{at(22), 1200}, Sample{at(23), 1200})
	if w, err := Whole(stalled); err != nil || !near(w.Seconds(), 22, 1e-6) || w.Documents != 1200 {
		t.Errorf("%+v, %v", w, err)
	}
	// The clients end one after the other. The end of the load must not be later than the sample that shows the last
	// documents.
	if w, err := Whole(append(load(0, 10, 1000, 1, 10), Sample{at(11), 10010}, Sample{at(12), 10010})); err != nil || w.To.After(at(11)) || w.To.Before(at(10)) {
		t.Errorf("%+v, %v", w, err)
	}
	for _, samples := range [][]Sample{nil, {{at(0), 5}}, {{at(0), 0}, {at(1), 0}}} {
		if w, err := Whole(samples); err == nil {
			t.Errorf("%v gives %+v", samples, w)
		}
	}
}

func TestSteady(t *testing.T) {
	// 20 s at a fifth of the rate, then 80 s at 1000 docs/s. The samples are taken at growing intervals, as the
	// recorder takes them.
	var samples []Sample
	for s := 0.0; s < 105; s += math.Min(1, math.Max(0.1, s/50)) {
		// the rate varies by 3 % with a period of 7 s
		count := 200*math.Min(s, 20) + 1000*math.Max(0, math.Min(s, 100)-20) + 30*math.Sin(math.Min(s, 100)*2*math.Pi/7)
		samples = append(samples, Sample{at(s), int64(count)})
	}
	w, err := Steady(samples, 0)
	if err != nil || !near(w.Rate(), 1000, 0.002) || w.From.Before(at(19)) || w.To.After(at(100)) {
		t.Errorf("%+v, %v, rate %f", w, err, w.Rate())
	}
	// The window must consist of complete periods of 30 s.
	if w, err := Steady(samples, 30*time.Second); err != nil || w.Seconds() != 60 || !near(w.Rate(), 1000, 0.002) {
		t.Errorf("%+v, %v", w, err)
	}
	if w, err := Steady(samples, 45*time.Second); err == nil || !strings.Contains(err.Error(), "refresh") {
		t.Errorf("%+v, %v", w, err)
	}
	if w, err := Steady(load(0, 30, 1000, 1, 35), 0); err == nil {
		t.Errorf("a load of 30 s gives %+v", w)
	}
}

func TestCorpus(t *testing.T) {
	// 100,000 documents. The first tenth is slow, and the last tenth is even slower.
	samples := []Sample{{at(0), 0}, {at(10), 10_000}, {at(50), 90_000}, {at(60), 96_000}, {at(80), 100_000}, {at(81), 100_000}}
	w, err := Corpus(samples, 100_000, time.Time{})
	if err != nil || w.Documents != 80_000 {
		t.Fatalf("%+v, %v", w, err)
	}
	// 15,000 documents are reached at 12.5 s, and 95,000 at 58.33 s.
	if !near(w.From.Sub(start).Seconds(), 12.5, 1e-9) || !near(w.To.Sub(start).Seconds(), 50+10.0*5/6, 1e-9) {
		t.Errorf("from %v to %v", w.From.Sub(start), w.To.Sub(start))
	}
	// The first client ends at 40 s, so the window covers 15,000 to 70,000 documents. If the first client ends after
	// 95 %, its end does not matter. If it ends before 15 %, there is no window.
	if w, err := Corpus(samples, 100_000, at(40)); err != nil || !near(w.Documents, 55_000, 1e-6) || !w.To.Equal(at(40)) {
		t.Errorf("%+v, %v", w, err)
	}
	if late, err := Corpus(samples, 100_000, at(60)); err != nil || late != w {
		t.Errorf("%+v, %v", late, err)
	}
	if w, err := Corpus(samples, 100_000, at(12)); err == nil {
		t.Errorf("a client that ends at once gives %+v", w)
	}
	if w, err := Corpus(samples, 200_000, time.Time{}); err == nil {
		t.Errorf("half a corpus gives %+v", w)
	}
	if w, err := Corpus(nil, 10, time.Time{}); err == nil {
		t.Errorf("nothing gives %+v", w)
	}
}
