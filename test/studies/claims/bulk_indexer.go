package claims

import (
	"fmt"
	"slices"
)

const bulkRuns = 10

func checkBulkIndexer(c *checker) {
	for _, runs := range []string{"small", "httplog", "mock"} {
		checkRuns(c, runs)
		c.agrees("vcpus.client", exactly(c.count("workers."+runs)), "workers of "+runs+": the program's default is the number of CPUs")
		c.contradicts("help.workers", exactly(c.count("workers."+runs)), "no command sets --workers, so the default applies: the help text was printed on another machine")
	}
	c.agrees("shards.mock", exactly(c.count("help.shards")), "default: the command sets no --shards")
	c.agrees("runs.small", exactly(c.count("help.runs")), "default: the command sets no --runs")
	c.agrees("wait.small", exactly(c.count("help.wait")), "default: the command sets no --wait")

	// A worker sends a request each time its buffer reaches the flush size. When the worker ends, it sends the rest of
	// the buffer as one smaller request. So bytes / flush size is between requests - workers and requests.
	sizes := map[string]span{}
	for _, runs := range []string{"small", "httplog", "mock"} {
		requests, workers := c.count(runs+".1.requests"), c.count("workers."+runs)
		flush := span{c.count("flush." + runs), c.count("flush."+runs) * (1 << 20) / 1e6} // the unit of the flush size may be MB or MiB
		sizes[runs] = span{requests - workers, requests}.times(flush).over(exactly(c.count("count")))
	}
	note := "bytes a document, with its action line, that the requests of the runs and the flush size allow (MB or MiB)"
	c.contradicts("document.small", sizes["small"], "small: "+note)
	c.contradicts("document.small", sizes["mock"], "mock: "+note)
	c.contradicts("document.httplog", sizes["httplog"], note+": 2.5 KB would be at least 795 requests")
	c.holds("mock.1.requests", sizes["small"].overlaps(sizes["mock"]), sizes["mock"].show(0)+" B a document, "+sizes["small"].show(0)+" B by 52 requests", Agrees,
		"the same dataset and flush size: 52 and 56 requests differ by how the documents fell to the workers")
}

func checkRuns(c *checker, runs string) {
	var rates []float64
	for i := range bulkRuns {
		key := func(column string) string { return fmt.Sprintf("%s.%d.%s", runs, i+1, column) }
		rate := c.of(key("docs_per_second"))
		rates = append(rates, c.count(key("docs_per_second")))
		c.agrees(key("added"), exactly(c.count("count")), "--count")
		c.agreesTruncated(key("seconds"), exactly(c.count("count")).over(rate), "documents over docs/s; cut off after two digits")
		if i > 0 {
			c.agrees(key("requests"), exactly(c.count(runs+".1.requests")), "requests of run 1: the same documents in every run")
		}
		flushed := c.count("count")
		if runs == "mock" {
			flushed = 0
		}
		c.agrees(key("flushed"), exactly(flushed), "documents added, or none against the mock server")
		c.agrees(key("failed"), exactly(flushed-c.count(key("flushed"))), "documents to be flushed less those flushed")
	}
	c.agrees(runs+".min", exactly(slices.Min(rates)), "lowest run")
	c.agrees(runs+".max", exactly(slices.Max(rates)), "highest run")
	total := 0.0
	for _, r := range rates {
		total += r
	}
	c.contradicts(runs+".mean", exactly(total/bulkRuns), "mean of the runs: the median is printed as mean")
	slices.Sort(rates)
	c.agrees(runs+".mean", exactly((rates[bulkRuns/2-1]+rates[bulkRuns/2])/2), "median of the runs")
}
