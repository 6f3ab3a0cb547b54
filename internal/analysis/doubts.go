package analysis

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// The doubts about what was measured. Those about the ratios are in doubts_ratios.go, those about the environment in
// environment.go.

func (a Assessment) kneesNotFound() []Doubt {
	if a.Fixed {
		return nil
	}
	var cells []string
	for _, c := range a.Cells {
		if c.Curve.Knee == nil {
			cells = append(cells, a.cellName(c))
		}
	}
	return each(v1alpha1.ReasonKneeNotFound, cells,
		"no client count of %s was Measured: see why in the report, then mend the cause or loosen spec.gates")
}

func (a Assessment) notShared() []Doubt {
	if a.Fixed {
		return nil
	}
	var out []Doubt
	for _, t := range a.topologies {
		s := a.Shared[t]
		advice := "add client counts to spec.sweep, or lower spec.knee.percentOfPeak"
		if s.Clients == 0 {
			advice = "mend what failed, or loosen spec.gates"
		}
		if !s.Agreed {
			out = append(out, Doubt{v1alpha1.ReasonNoSharedClients, fmt.Sprintf("%s%s: %s", a.of(t), s.Why, advice)})
		}
	}
	return out
}

// unit is what rates are counted in, for a format.
func (a Assessment) unit() string {
	return strings.ReplaceAll(cmp.Or(a.Unit, "docs/s"), "%", "%%")
}

func (a Assessment) clientBounds() []Doubt {
	return each(v1alpha1.ReasonClientBound, a.boundCells(a.ClientBound),
		"the loader was the limit in %s, so that "+a.unit()+" is its own rather than OpenSearch's: give it more CPU (spec.loader.resources) or a machine that has more (spec.loader.nodePool)")
}

func (a Assessment) diskBounds() []Doubt {
	return each(v1alpha1.ReasonDiskBound, a.boundCells(a.DiskBound),
		"the disk may have been the limit in %s: provision more of it (spec.opensearch.storage), or correct diskLimits, against which the traffic of all disks of the machine is held")
}

// boundCells names each cell that has bounds once, with where they are and what the first of them is.
func (a Assessment) boundCells(bounds []Bound) []string {
	var out []string
	for _, c := range a.Cells {
		var points []string
		finals, message := 0, ""
		for _, b := range bounds {
			if b.Variant != c.Variant || b.Topology != c.Topology {
				continue
			}
			if message == "" {
				message = b.Message
			}
			if strings.HasPrefix(b.Where, string(record.Final)) {
				finals++
			} else if len(points) == 0 || points[len(points)-1] != b.Where { // repeats of a point are one
				points = append(points, b.Where)
			}
		}
		if finals > 0 {
			points = append(points, fmt.Sprintf("%d of %d Finals", finals, len(c.Finals)))
		}
		if message != "" {
			out = append(out, fmt.Sprintf("%s (%s: %s)", a.cellName(c), strings.Join(points, ", "), message))
		}
	}
	return out
}

// ordersConfounded tells of one topology in a trend's own words, which say what to do, and names the others.
func (a Assessment) ordersConfounded() []Doubt {
	message := ""
	var others []string
	for _, t := range a.Trends {
		switch {
		case !t.Confounded:
		case message == "":
			message = t.Message
		default:
			others = append(others, t.Topology)
		}
	}
	if message == "" {
		return nil
	}
	if len(others) > 0 {
		message += " (the same of " + atMost(others, maxNamed) + ")"
	}
	return []Doubt{{v1alpha1.ReasonOrderConfounded, message}}
}

func (a Assessment) peaksGated() []Doubt {
	var cells []string
	for _, c := range a.Cells {
		if c.Curve.PeakGated && c.Curve.Peak != nil {
			cells = append(cells, fmt.Sprintf("%s (%d clients)", a.cellName(c), c.Curve.Highest.Clients))
		}
	}
	return each(v1alpha1.ReasonPeakGated, cells,
		"the highest "+a.unit()+" of %s failed a gate, so that the peak lies below it: mend what the gate found, or change spec.gates")
}

func (a Assessment) peaksAtEdge() []Doubt {
	var cells []string
	for _, c := range a.Cells {
		if c.Curve.PeakAtRangeEdge {
			cells = append(cells, fmt.Sprintf("%s (%d clients)", a.cellName(c), c.Curve.Peak.Clients))
		}
	}
	return each(v1alpha1.ReasonPeakAtRangeEdge, cells,
		"the peak of %s is at the highest client count observed and may lie beyond it: add higher counts to spec.sweep")
}

func (a Assessment) trialsFailed() []Doubt {
	var failed []string
	for _, c := range a.Cells {
		for _, p := range c.Curve.Points {
			if p.Verdict == Errored {
				failed = append(failed, fmt.Sprintf("%s Sweep %d clients", a.cellName(c), p.Clients))
			}
		}
		failed = append(failed, a.finalsThat(c, func(o Outcome) bool { return o.Failed })...)
		if c.OpenLoop != nil && c.OpenLoop.Failed {
			failed = append(failed, a.cellName(c)+" OpenLoop")
		}
	}
	return each(v1alpha1.ReasonTrialsFailed, failed,
		"no valid measurement of %s: mend the cause that the report names, then set a new spec.rerun or raise spec.retries")
}

// trialsGated finds the Finals and the OpenLoop trials that a ratio goes without. A Gated point of a sweep is no doubt: past the knee,
// rejections are what is to be expected, and peaksGated tells of one above the peak.
func (a Assessment) trialsGated() []Doubt {
	var gated []string
	for _, c := range a.Cells {
		gated = append(gated, a.finalsThat(c, func(o Outcome) bool { return o.Done && o.Judgement.Verdict == Gated })...)
		if c.OpenLoop != nil && c.OpenLoop.Done && c.OpenLoop.Judgement.Verdict == Gated {
			gated = append(gated, a.cellName(c)+" OpenLoop")
		}
	}
	return each(v1alpha1.ReasonTrialsGated, gated,
		"a gate failed in %s, so that the ratios go without: mend what the gate found, or change spec.gates")
}

// finalsThat names a cell's Finals that something is true of.
func (a Assessment) finalsThat(c Cell, is func(Outcome) bool) []string {
	var out []string
	for _, o := range c.Finals {
		if !is(o) {
			continue
		}
		name := a.cellName(c) + " " + finalName(o.Trial)
		if a.Fixed {
			name += fmt.Sprintf(" at %d clients", o.Trial.Clients)
		}
		out = append(out, name)
	}
	return out
}

func (a Assessment) sharedLoader() []Doubt {
	if !a.loaderShared {
		return nil
	}
	return []Doubt{{v1alpha1.ReasonLoaderShared,
		"the loader may share a node with OpenSearch and take its CPU: set spec.loader.placement to Dedicated"}}
}
