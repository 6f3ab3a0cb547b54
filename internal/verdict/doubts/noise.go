package doubts

import (
	"fmt"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// Limits of noiseUnequal. Both must be exceeded. A ratio of CVs of 3 and less costs the exact interval at most 2 points of its
// confidence (95.1 % instead of 97.1 % at a CV of 1 against 3 %), so it is no doubt. The level is small, because two cells with equal
// noise must not make an answer doubtful. It is divided by the number of comparisons (Bonferroni).
const (
	mostNoiseRatio = 3.0
	noiseLevel     = 0.01
)

// noiseUnequal finds compared cells whose Finals have very different noise.
func noiseUnequal(a campaign.Assessment) []Doubt {
	var ratios []string
	for _, r := range a.Ratios {
		x, y := finalNoise(a, r.Variant, r.Topology, r.Clients), finalNoise(a, r.Baseline, r.BaselineTopology, r.BaselineClients)
		ratio, p, ok := stats.CompareNoise(x, y)
		if ok && ratio > mostNoiseRatio && p <= noiseLevel/float64(max(a.Comparisons, 1)) {
			ratios = append(ratios, fmt.Sprintf("%s (CV %.2g %% and %.2g %%)", a.RatioName(r), 100*x.CV, 100*y.CV))
		}
	}
	return doubtAbout(v1alpha1.ReasonNoiseUnequal, ratios,
		"the noise of the Final repetitions differs too much between the two cells of these comparisons: %s; find what disturbs the noisier cell, or raise spec.final.repetitions and set a new spec.rerun")
}

// finalNoise returns the noise of a cell's Finals at a client count, pooled within placements.
func finalNoise(a campaign.Assessment, variant, topology string, clients int32) stats.Noise {
	return stats.PooledNoise(a.Cell(variant, topology).FinalsAt(clients))
}
