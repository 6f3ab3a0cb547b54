package campaigntest

import (
	"math"
	"math/rand/v2"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// Randomly returns a measure function with random noise. The parameter cv is the standard deviation of the logarithm of docs/s. The
// parameter failures is a share: this share of the attempts is Errored, and the same share fails a gate. The rates have three
// decimals, as in results.csv.
func Randomly(seed uint64, cv, failures float64) func(record.Trial) record.Record {
	rng := rand.New(rand.NewPCG(seed, 1))
	return func(t record.Trial) record.Record {
		docs := 1000 * float64(t.Clients) / (float64(t.Clients) + 6) * math.Exp(cv*rng.NormFloat64())
		if t.Variant != "a" {
			docs *= 1.05
		}
		r := Measured(t, math.Round(docs*1000)/1000)
		switch u := rng.Float64(); {
		case u < failures:
			return Errored(t, record.ReasonDriverFailed, "exit code 64")
		case u < 2*failures:
			r.Rejections.WritePool = 3
		}
		return r
	}
}

// RandomCampaigns returns one campaign for each way to compare Finals. Each campaign has three variants and two topologies.
// Randomly can make their records.
func RandomCampaigns() map[string]*v1alpha1.BenchmarkCampaign {
	out := map[string]*v1alpha1.BenchmarkCampaign{}
	for name, change := range map[string]func(*v1alpha1.BenchmarkCampaignSpec){
		"one stage": func(s *v1alpha1.BenchmarkCampaignSpec) { s.Final.Repetitions = new(int32(5)) },
		"two stages": func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Final.Repetitions, s.Final.MaxRepetitions = new(int32(4)), new(int32(12))
		},
		"placements": func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Final.Repetitions, s.Final.Placements = new(int32(2)), new(int32(5))
		},
		"adaptive": func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Sweep.Strategy, s.Sweep.Clients = v1alpha1.SweepAdaptive, []int32{4, 6, 8, 12, 16, 24, 32}
		},
		"fixed": func(s *v1alpha1.BenchmarkCampaignSpec) { s.Sweep.Mode = v1alpha1.SweepFixed },
		"named": func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Comparisons = []v1alpha1.Comparison{{
				Cell: v1alpha1.CellName{Variant: "b", Topology: "u"}, Baseline: v1alpha1.CellName{Variant: "a", Topology: "t"},
			}}
		},
	} {
		c := Campaign([]string{"a", "b", "c"}, []string{"t", "u"}, 4, 8, 16)
		c.Spec.OpenSearch.Version = "3.1.0"
		c.Spec.Gates = v1alpha1.Gates{}
		c.Spec.Retries = new(int32(1))
		change(&c.Spec)
		out[name] = c
	}
	return out
}
