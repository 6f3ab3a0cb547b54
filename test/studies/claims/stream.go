package claims

import "math"

// quantiles are the names of the reply's latencies. share is the share of requests that are faster.
var quantiles = []struct {
	name  string
	share float64
}{{"min", 0}, {"p5", 0.05}, {"p10", 0.10}, {"p20", 0.20}, {"p25", 0.25}, {"p35", 0.35}, {"p50", 0.50}, {"p75", 0.75}, {"p90", 0.90}, {"p99", 0.99}, {"max", 1}}

func checkStream(c *checker) {
	rows, requests := c.count("rows"), c.count("total_requests")
	for _, transport := range []string{"stream", "regular"} {
		of := func(name string) string { return transport + "." + name }
		milliseconds := c.count(of("duration_ms"))
		bytes := c.count(of("total_bytes"))
		c.agrees(of("total_rows"), exactly(rows*requests), "rows x total_requests")
		c.agrees(of("total_size_bytes"), exactly(bytes), "total_bytes")
		c.agreesTruncated(of("total_size"), exactly(bytes/(1<<30)), "GiB; cut off after one digit, as OpenSearch prints sizes")
		c.contradicts(of("total_bytes"), exactly(rows*requests*c.count("columns")*c.count("avg_column_length")),
			"10 columns of 100 bytes in the mean are 1,000 bytes a row; the replies have 966.17")
		c.agrees(of("parallel_requests"), exactly(c.count("parallel_requests")), "parameter of the request")
		c.holds(of("used_stream_transport"), (c.text(of("used_stream_transport")) == "true") == (transport == "stream"), "use_stream_transport of the request", Agrees, "")

		perSecond, mib := exactly(1000*rows*requests/milliseconds), exactly(1000*bytes/(1<<20)/milliseconds)
		if transport == "stream" {
			c.agrees(of("throughput_rows_per_sec"), perSecond, "total_rows over duration_ms")
			c.agrees(of("throughput_mb_per_sec"), mib, "MiB of total_bytes over duration_ms")
		} else {
			c.contradicts(of("throughput_rows_per_sec"), perSecond, "total_rows over duration_ms; the reply of the stream transport agrees to the last digit")
			c.contradicts(of("throughput_mb_per_sec"), mib, "MiB of total_bytes over duration_ms")
			fromRows := exactly(1000 * rows * requests).over(c.of(of("throughput_rows_per_sec")))
			fromMiB := exactly(1000 * bytes / (1 << 20)).over(c.of(of("throughput_mb_per_sec")))
			c.contradicts(of("duration_ms"), fromMiB, "duration that throughput_mb_per_sec comes from")
			c.agrees(of("duration_ms"), fromRows, "duration that throughput_rows_per_sec comes from, to the millisecond")
		}
		c.contradicts(of("throughput_mb_per_sec"), exactly(1000*bytes/c.count("unit")/milliseconds), "MB of 1,000,000 bytes, as the field's description says: the figure is in MiB/s")
		checkLatencies(c, of)
		inFlight := requests / milliseconds * c.count(of("latency_ms.avg"))
		c.holds("in_flight", math.Ceil(inFlight) == c.count("in_flight")*c.count("parallel_requests"), exactly(inFlight).show(2)+" in flight, "+transport, Agrees,
			"Little's law: requests over duration x mean latency, of twice parallel_requests; slightly fewer at the end")
	}
}

func checkLatencies(c *checker, of func(string) string) {
	var keys []string
	var low, high float64
	for i, q := range quantiles {
		keys = append(keys, of("latency_ms."+q.name))
		if i > 0 {
			weight := q.share - quantiles[i-1].share
			low += weight * c.count(keys[i-1])
			high += weight * c.count(keys[i])
		}
	}
	c.rising(keys...)
	c.agrees(of("latency_ms.avg"), span{low, high}, "lowest and highest mean that the percentiles allow")
	c.holds(of("latency_ms.max"), c.count(of("latency_ms.max")) <= c.count(of("duration_ms")), "at most duration_ms", Agrees, "")
}
