package doubts_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// TestDoubts_unequalNoise_isReported checks that a doubt names two cells whose noise is very different, and that there is no doubt about
// equal noise or a ratio of 2.
func TestDoubts_unequalNoise_isReported(t *testing.T) {
	for _, tt := range []struct {
		noise float64 // CV of b; the CV of a is 0.5 %
		want  string
	}{
		{0.005, ""}, {0.01, ""}, {0.08, "the noise of the Final repetitions differs too much between the two cells of these comparisons: b against a (CV 5.6 % and 0.5 %); "},
	} {
		c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
		c.Spec.Final.Repetitions = new(int32(8))
		_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
			r := plainly(t)
			cv := 0.005
			if t.Variant == "b" {
				cv = tt.noise
			}
			draw := rand.New(rand.NewPCG(uint64(t.Repetition), uint64(t.Variant[0])))
			if t.Phase == record.Final {
				r = campaigntest.Measured(t, r.Ingest.DocsPerSecond*math.Exp(cv*draw.NormFloat64()))
			}
			return r
		})
		message := doubt(a, v1alpha1.ReasonNoiseUnequal)
		if !strings.Contains(message, tt.want) || (message == "") != (tt.want == "") {
			t.Errorf("CV %g: %q, want %q", tt.noise, message, tt.want)
		}
	}
}
