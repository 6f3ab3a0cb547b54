package summary

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/report/document"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/doubts"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// Header returns the first lines of a report: the result, and whether the result can be trusted.
func Header(in view.Input) document.Header {
	s := Status(in)
	h := document.Header{Name: in.Name, Namespace: in.Namespace, Version: in.Version, Progress: s.Progress, Sentence: Sentence(in)}
	if s.StartedAt != nil {
		h.Times = s.StartedAt.UTC().Format("2006-01-02 15:04") + " to "
		if s.CompletedAt != nil {
			h.Times += s.CompletedAt.UTC().Format("2006-01-02 15:04") + " UTC"
		} else {
			h.Times += "now"
		}
	}
	ok, reason, message := doubts.Conclusive(in.Assessment)
	switch {
	case ok:
		h.Kind, h.Verdict, h.Rest = "conclusive", "Conclusive", ": "+message+"."
	case reason == v1alpha1.ReasonNotFinished:
		h.Kind, h.Verdict, h.Rest = "running", "Not finished", ": "+message+"."
	default:
		h.Kind, h.Verdict, h.Rest = "doubtful", "Not conclusive", fmt.Sprintf(" (%s):", reason)
		for _, d := range doubts.Doubts(in.Assessment) {
			h.Doubts = append(h.Doubts, document.Doubt{Reason: d.Reason, Message: d.Message})
		}
	}
	return h
}

// hasVerdict reports whether a ratio is faster, slower or equivalent.
func hasVerdict(r campaign.Ratio) bool {
	switch r.Verdict {
	case stats.Faster, stats.Slower, stats.Equivalent:
		return true
	case stats.TooNoisy:
		return false
	}
	return r.Distinguishable
}

// LookText returns how often the data of a ratio was compared, and the confidence of the interval of the latest look. It returns an
// empty text if there was one look.
func LookText(e stats.Estimate) string {
	if len(e.Looks) == 0 {
		return ""
	}
	var sizes []string
	for _, l := range e.Looks {
		sizes = append(sizes, strconv.Itoa(min(l.N, l.M)))
	}
	text := fmt.Sprintf("look %d at the data of this campaign (%s repetitions): ", len(sizes), strings.Join(sizes, ", then "))
	if !e.HasInterval() {
		return text + "no interval, because the earlier looks have used up the allowed error probability"
	}
	return text + "interval at " + format.Percent(e.Confidence, 1)
}

// RatioVerdict returns the verdict on a ratio in a few words.
func RatioVerdict(r campaign.Ratio) string {
	if look := LookText(r.Estimate); look != "" {
		return ratioVerdict(r) + "; " + look
	}
	return ratioVerdict(r)
}

func ratioVerdict(r campaign.Ratio) string {
	switch {
	case math.IsNaN(r.Ratio):
		return "no Measured repetitions"
	case !r.HasInterval() && len(r.Looks) > 0:
		return "no verdict"
	case !r.HasInterval():
		return "one repetition does not show the noise"
	case r.Verdict == stats.TooNoisy && r.Need > 0:
		return fmt.Sprintf("too noisy: needs about %d %s", r.Need, unitsOf(r))
	case r.Verdict != stats.NoVerdict:
		return string(r.Verdict)
	case !r.Distinguishable:
		return "not distinguishable"
	case r.Ratio > 1:
		return string(stats.Faster)
	}
	return string(stats.Slower)
}

// unitsOf returns the unit of a ratio's sample sizes: placements or repetitions.
func unitsOf(r campaign.Ratio) string {
	if r.Placements > 1 {
		return "placements"
	}
	return "repetitions"
}
