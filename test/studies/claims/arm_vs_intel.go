package claims

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// sweep is the table of one machine's client sweep in document 000.
type sweep struct {
	c       *checker
	machine string
	counts  []int // client counts that have a measurement, ascending
}

func newSweep(c *checker, machine string) sweep {
	s := sweep{c: c, machine: machine}
	for key := range c.figures {
		parts := strings.Split(key, ".")
		if len(parts) == 3 && parts[0] == machine && parts[2] == "docs_per_second" {
			n, _ := strconv.Atoi(parts[1])
			s.counts = append(s.counts, n)
		}
	}
	slices.Sort(s.counts)
	return s
}

func (s sweep) key(clients int, column string) string {
	return fmt.Sprintf("%s.%d.%s", s.machine, clients, column)
}
func (s sweep) docs(clients int) float64 { return s.c.count(s.key(clients, "docs_per_second")) }
func (s sweep) user(clients int) span    { return s.c.of(s.key(clients, "cpu_user_percent")) }
func (s sweep) busy(clients int) span {
	return s.user(clients).plus(s.c.of(s.key(clients, "cpu_sys_percent")))
}

func (s sweep) peak() (clients int) {
	return slices.MaxFunc(s.counts, func(a, b int) int { return int(s.docs(a) - s.docs(b)) })
}

func (s sweep) percentOfPeak(clients int) float64 { return 100 * s.docs(clients) / s.docs(s.peak()) }

// knee returns the smallest client count that reaches the percentage of the peak, or 0 if no count does.
func (s sweep) knee(percent float64) int {
	i := slices.IndexFunc(s.counts, func(n int) bool { return s.percentOfPeak(n) >= percent })
	if i < 0 {
		return 0
	}
	return s.counts[i]
}

// lowest returns the lowest docs/s, in percent of the peak, of all client counts in a range. The range includes both
// ends.
func (s sweep) lowest(from, to int) (percent float64) {
	percent = 100
	for _, n := range s.counts {
		if n >= from && n <= to {
			percent = min(percent, s.percentOfPeak(n))
		}
	}
	return percent
}

// across returns the range of a column over all client counts.
func (s sweep) across(column func(int) span) span {
	all := column(s.counts[0])
	for _, n := range s.counts {
		all = all.to(column(n))
	}
	return all
}

func checkArmVsIntel(c *checker) {
	arm, intel := newSweep(c, "arm"), newSweep(c, "intel")
	for _, s := range []sweep{arm, intel} {
		checkSweep(c, s)
	}
	checkArmVsIntelText(c, arm, intel)
	checkComparisonTable(c, arm, intel)
}

func checkSweep(c *checker, s sweep) {
	m, peak, percent := s.machine, s.peak(), c.count("method.percent")
	for _, n := range s.counts {
		total := s.busy(n).plus(c.of(s.key(n, "iowait_percent")))
		c.holds(s.key(n, "cpu_user_percent"), total.low <= 100, "user + sys + iowait "+total.show(1), Agrees, "shares of one whole are at most 100 %")
		c.holds(s.key(n, "iowait_percent"), c.count(s.key(n, "iowait_percent")) <= c.count("method.iowait"), "at most "+c.text("method.iowait"), Agrees, "gate on iowait")
	}
	c.agrees(m+".peak", exactly(s.docs(peak)), "highest docs/s of the table")
	c.agrees(m+".peak.clients", exactly(float64(peak)), "count of the highest docs/s")
	c.agrees(m+".chosen", exactly(float64(s.knee(percent))), "smallest count that reaches 97 % of the peak")
	chosen := int(c.count(m + ".chosen"))
	share := exactly(s.percentOfPeak(chosen))
	if m == "arm" {
		c.agrees(m+".percent", share, "docs/s at the chosen count over the peak")
	} else {
		c.contradicts(m+".percent", share, "97 % is the threshold, and what 16 clients reach; 12 clients reach more")
	}
	worst := s.across(func(n int) span { return c.of(s.key(n, "iowait_percent")) })
	c.contradicts(m+".gate", c.of("method.iowait"), fmt.Sprintf("the gate is 10 %% in section 15; %s is the highest measured iowait", c.text(m+".gate")))
	c.agrees(m+".gate", exactly(worst.high).minus(span{0, 0.1}), "highest iowait of the table")
	note := "user alone; user + sys, which is the total, is " + s.across(s.busy).show(1)
	c.contradicts(m+".cpu.low", s.across(s.busy), note)
	c.contradicts(m+".cpu.high", s.across(s.busy), note)
}

func checkArmVsIntelText(c *checker, arm, intel sweep) {
	peaks := exactly(arm.docs(arm.peak()) / intel.docs(intel.peak()))
	shared := int(c.count("decision.clients"))
	c.contradicts("summary.ratio", peaks, "the ratio of the peaks is 1.4366, and the study truncated it instead of rounding it; the ratio at the shared 16 clients is "+
		fmt.Sprintf("%.3f", arm.docs(shared)/intel.docs(shared)))
	for _, key := range []string{"summary.percent", "method.percent"} {
		c.agrees(key, c.of("method.target").percent(), "the factor 0.97 of section 15")
	}
	c.agrees("summary.iowait", exactly(c.count("method.iowait")), "gate of section 15")
	c.agrees("summary.clients", exactly(float64(max(arm.knee(97), intel.knee(97)))), "the higher of the two knees")
	for _, s := range []sweep{arm, intel} {
		reached := s.percentOfPeak(shared)
		c.holds("decision.clients", reached >= c.count("method.percent"), fmt.Sprintf("%.2f %% of the peak of %s", reached, s.machine), Agrees, "the shared count passes on both machines")
	}
	var missing []string
	for _, n := range strings.Fields(c.text("method.counts")) {
		if _, measured := c.figures["arm."+n+".docs_per_second"]; !measured {
			missing = append(missing, n)
		}
	}
	c.holds("method.counts", len(missing) == 0, "no row for "+strings.Join(missing, ", ")+" clients", Contradicts, "named as an example of the counts; the tables begin at 12")
	c.holds("sections", consecutive(c.text("sections")), "6 and 8 to 13 are missing, 14 comes last", Contradicts,
		"section 14 stands in the middle of a sentence of 16.2, whose second half follows the section")
	c.contradicts("arm.flat.to", exactly(float64(lastFlat(arm, int(c.count("arm.flat.from"))))), fmt.Sprintf(
		"20 clients are %.2f %% of the peak, below the threshold of 97 %%", arm.percentOfPeak(20)))
	c.holds("arm.flat.from", arm.lowest(int(c.count("arm.flat.from")), int(c.count("arm.flat.to"))) >= 97, "down to 96.08 % of the peak", Contradicts, "the same, from 16 clients on")
	for _, key := range []string{"intel.flat.from", "intel.peaks.from"} {
		from := int(c.count(key))
		low := intel.lowest(from, 48)
		c.holds(key, low >= 97, fmt.Sprintf("down to %.2f %% of the peak", low), Contradicts, "40 clients are below the threshold of 97 %")
	}
	c.agrees("direct", c.of("heap").by(0.5), "OpenSearch's default: half of the heap")
	c.agrees("gain.high", exactly(100*(arm.docs(16)/intel.docs(12)-1)), "own knees: 16 clients against 12")
	c.contradicts("gain.low", peaks.gain(), "peaks: 32 clients against 48, cut off instead of rounded")
	c.contradicts("gain.high", exactly(100*(arm.docs(shared)/intel.docs(shared)-1)), "said of equivalent concurrency: at 16 clients each, the only shared count, it is more")
	c.contradicts("gain.utilization", arm.busy(shared).over(intel.busy(shared)).percent(), "user + sys at 16 clients: Intel's CPU is busier")
	failed := 0.0
	for _, key := range []string{"intel.20.remark", "intel.24.remark"} {
		if c.text(key) == "failed" {
			failed++
		}
	}
	c.contradicts("compare.intel.unclean", exactly(failed), "stability is called clean on both machines, but 24 clients failed on Intel")
	c.holds("intel.20.remark", c.text("intel.20.remark") == "manual", "the one point measured again by hand", Agrees, "stated in the table's notes")
}

// lastFlat returns the last client count n for which all client counts from the start to n reach 97 % of the peak. The
// range includes the start. If no such n is above the start, lastFlat returns the start.
func lastFlat(s sweep, from int) int {
	last := from
	for _, n := range s.counts {
		if n > from && s.lowest(from, n) >= 97 {
			last = n
		}
	}
	return last
}

func consecutive(list string) bool {
	for i, word := range strings.Fields(list) {
		if word != strconv.Itoa(i+1) {
			return false
		}
	}
	return true
}

func checkComparisonTable(c *checker, arm, intel sweep) {
	for _, s := range []sweep{arm, intel} {
		m := s.machine
		knee := s.knee(97)
		c.agrees("compare."+m+".peak", exactly(s.docs(s.peak())), "highest docs/s of the table")
		c.agrees("compare."+m+".knee", exactly(float64(knee)), "knee by the rule of section 15")
		c.agrees("compare."+m+".at_knee", exactly(s.docs(knee)), "docs/s at the knee")
		c.agrees("compare."+m+".cpu", s.user(knee), "user at the knee")
		c.contradicts("compare."+m+".cpu", s.busy(knee), "user alone: user + sys is the utilization")
		c.agrees("compare."+m+".iowait", c.of(s.key(knee, "iowait_percent")), "iowait at the knee")
		efficiency := "compare." + m + ".efficiency"
		c.contradicts(efficiency, exactly(s.docs(knee)).over(s.user(knee)), "docs/s at the knee over user at the knee")
		c.contradicts(efficiency, exactly(s.docs(knee)).over(s.busy(knee)), "docs/s at the knee over user + sys")
		c.contradicts(efficiency, exactly(s.docs(s.peak())).over(s.user(s.peak())), "docs/s at the peak over user at the peak")
		c.agrees(efficiency, exactly(c.count("compare."+m+".peak")/c.count("compare."+m+".cpu")), "how it came about: rounded docs/s of the peak over rounded CPU of the knee")
	}
	peaks := exactly(arm.docs(arm.peak()) / intel.docs(intel.peak()))
	c.contradicts("compare.peak.ratio", peaks, "cut off instead of rounded")
	c.agrees("compare.knee.ratio", exactly(arm.docs(16)/intel.docs(12)), "docs/s at the own knees")
	c.agrees("compare.efficiency.ratio", c.of("compare.arm.efficiency").over(c.of("compare.intel.efficiency")), "of the two printed efficiencies")
	c.agrees("compare.efficiency.ratio", exactly(arm.docs(16)).over(arm.busy(16)).over(exactly(intel.docs(16)).over(intel.busy(16))), "docs/s over user + sys at 16 clients each")
	c.agrees("decision.arm.maximum", exactly(float64(arm.peak())), "count of the highest docs/s")
	c.contradicts("decision.intel.maximum", exactly(float64(intel.peak())), "the table has its highest docs/s at 48 clients, and section 16.2 says so twice")
}
