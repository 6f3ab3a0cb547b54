package claims

import (
	"fmt"
	"math"
)

// freonQuantiles are the names of freon's latencies. share is the share of calls that are faster.
var freonQuantiles = []struct {
	name  string
	share float64
}{{"min", 0}, {"median", 0.5}, {"75%", 0.75}, {"95%", 0.95}, {"98%", 0.98}, {"99%", 0.99}, {"99.9%", 0.999}, {"max", 1}}

func checkOzone(c *checker) {
	for _, flow := range []string{"new", "old"} {
		checkFreon(c, func(name string) string { return flow + "." + name })
	}
	c.agrees("new.Failures", exactly(c.count("new.count")-c.count("new.Successful executions")), "count less successful executions")
	c.agrees("new.Successful executions", exactly(c.count("n")), "-n")
	for _, name := range []string{"Failures", "Successful executions"} {
		if _, there := c.figures["old."+name]; there {
			c.problems = append(c.problems, "the old flow prints no "+name)
		}
	}
	seconds := c.count("old.Total execution time (sec)")
	c.agrees("old.minutes", exactly(math.Floor(seconds/60)), "1,693 s")
	c.contradicts("old.seconds", exactly(seconds-60*math.Floor(seconds/60)), "1,693 s are 28 min 13 s; 28 min 29 s would be 1,709 s")
	c.holds("r", c.count("r") < c.count("n"), fmt.Sprintf("each key is written %.0f times in the mean", c.count("n")/c.count("r")), Agrees, "the scope includes overwrites: -r is below -n")
	c.agrees("memory", exactly(c.count("dimm")*c.count("dimms")), "modules x size")
	checkOzoneTable(c)
}

func checkFreon(c *checker, of func(string) string) {
	count, threads := c.count(of("count")), c.count("t")
	c.agrees(of("count"), exactly(c.count("n")), "-n")
	rate, mean := c.of(of("mean rate")), c.of(of("mean"))
	c.contradicts(of("mean rate"), exactly(count).over(c.of(of("Total execution time (sec)"))),
		"count over total execution time, which contains freon's start and end: "+exactly(count).over(rate).show(1)+" s by the rate")

	inFlight := rate.times(mean).by(0.001)
	agrees, note := Agrees, "Little's law: rate x mean latency is at most the number of threads"
	if of("") == "old." {
		agrees, note = Contradicts, note+": more calls in flight than threads, so that the mean of freon's sample of calls is not the mean of all calls, or there were more threads than the command has"
	}
	c.holds(of("mean"), inFlight.low <= threads, inFlight.show(1)+" calls in flight, -t "+c.text("t"), agrees, note)

	var keys []string
	var low, high, lowSquares, highSquares float64
	for i, q := range freonQuantiles {
		keys = append(keys, of(q.name))
		if i == 0 {
			continue
		}
		from, to, weight := c.of(keys[i-1]).low, c.of(keys[i]).high, q.share-freonQuantiles[i-1].share
		low, high = low+weight*from, high+weight*to
		lowSquares, highSquares = lowSquares+weight*from*from, highSquares+weight*to*to
	}
	c.rising(keys...)
	c.agrees(of("mean"), span{low, high}, "lowest and highest mean that the percentiles allow")
	variance := span{lowSquares - mean.high*mean.high, highSquares - mean.low*mean.low}
	c.agrees(of("stddev"), span{math.Sqrt(math.Max(0, variance.low)), math.Sqrt(variance.high)}, "lowest and highest that the percentiles and the mean allow")
	var rates []float64
	for _, minutes := range []string{"1", "5", "15"} {
		rates = append(rates, c.count(of(minutes+"-minute rate")))
	}
	c.holds(of("15-minute rate"), math.Min(rates[0], rates[1]) >= rates[2], "below the 1-minute and 5-minute rates", Agrees, "a rate that rises from the start")
	for i, minutes := range []string{"1", "5"} {
		ratio := rates[i] / rate.middle()
		c.holds(of(minutes+"-minute rate"), ratio > 0.9 && ratio < 1.1, fmt.Sprintf("%.3f of the mean rate", ratio), Agrees, "a steady load: within 10 %")
	}
}

func checkOzoneTable(c *checker) {
	commits := map[string]float64{"old": c.count("old.mean rate"), "new": c.count("new.mean rate")}
	c.agrees("old.commits", exactly(commits["old"]), "mean rate of the one freon printed")
	c.contradicts("new.commits", exactly(commits["new"]), "one freon made 19,565.78; more than 20K is said of several at once, of which no output is printed")
	c.agrees("new.commits", c.of("multiple"), "several freon at once")
	c.contradicts("old.operations", exactly(2*commits["old"]), "an operation is a create or a commit, two to a key: 11.8K")
	c.agrees("new.operations", c.of("new.commits").by(2), "a create and a commit for each key")
	c.agrees("commits.ratio", exactly(commits["new"]/commits["old"]), "mean rate of the new flow over the old one")
	row := exactly(c.count("new.commits") / c.count("old.commits"))
	c.contradicts("commits.ratio", row, "20K over 5.9K in its own row; 3.3 is the ratio of the two single runs of freon")
	c.agrees("commits.ratio", exactly(c.count("new.operations")/c.count("old.operations")), "40K over 12K in the row above")
	for _, base := range []struct {
		key  string
		want Verdict
	}{{"multiple", Agrees}, {"new.mean rate", Contradicts}} {
		ratio := c.count("mocked") / c.count(base.key)
		c.holds("mocked.almost", ratio < c.count("mocked.almost"), fmt.Sprintf("%.2f times the %s of %s", ratio, c.text(base.key), c.figures[base.key].Place), base.want,
			"almost double is less than double: true of several freon at once, not of the run that is printed")
	}
	c.holds("improved", c.count("improved") <= c.count("mocked"), "at most "+c.text("mocked"), Agrees, "the expectation is founded on what mocks reached")
	c.contradicts("comparison.rows", exactly(c.count("comparison.filled")), "row 5 has a number and nothing else; the three metrics at the end have no figures either")
}
