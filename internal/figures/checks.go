package figures

import "github.com/knee-bench/knee/internal/record"

// checkFigures lists the figures of client checks. In a client check, Knee's own loader repeats a load. The check finds out
// whether the original loader limits the rate.
var checkFigures = []Figure{
	{Name: "client_check_docs_per_second", Unit: "docs/s", Column: 144, In: CheckLoads, Help: "documents that OpenSearch accepted per second within the window when Knee's own loader repeated the load; unknown if the load was not repeated",
		Get: check(nonZero(func(c *record.ClientCheck) float64 { return c.DocsPerSecond }))},
	{Name: "client_check_whole_docs_per_second", Unit: "docs/s", Column: 145, In: CheckLoads, Help: "docs/s of the repeated load from the first to the last accepted document", Get: check(nonZero(func(c *record.ClientCheck) float64 { return c.WholeDocsPerSec }))},
	{Name: "client_check_window", Column: 146, In: CheckLoads, Help: "window of the repeated load: Whole, Steady or Corpus", Get: check(always(func(c *record.ClientCheck) string { return c.Window }))},
	{Name: "client_check_seconds", Unit: "s", Column: 147, In: CheckLoads, Help: "length of the window of the repeated load", Get: check(nonZero(func(c *record.ClientCheck) float64 { return c.Seconds }))},
	{Name: "client_check_documents", Column: 148, In: CheckLoads, Help: "documents that the primaries accepted within the window of the repeated load", Get: check(nonZero(func(c *record.ClientCheck) int64 { return c.Documents }))},
	{Name: "client_check_bulk_size", Column: 149, In: CheckLoads, Help: "documents in a bulk request of the repeated load", Get: check(nonZero(func(c *record.ClientCheck) int64 { return c.BulkSize }))},
	{Name: "client_check_rejections", Unit: "requests", Column: 150, In: CheckLoads, Help: "refused requests of the repeated load: sum of all counters of all nodes",
		Get: check(func(c *record.ClientCheck) (int64, bool) { return c.Rejections, c.Made() })},
	{Name: "client_check_client_utilization", Column: 151, In: CheckLoads, Help: "share of time (0 to 1) in which the clients of the repeated load waited for OpenSearch", Get: check(nonZero(func(c *record.ClientCheck) float64 { return c.UtilizationOfTime }))},
	{Name: "client_check_loader_cpu_seconds_per_million_documents", Unit: "s", Column: 152, In: CheckLoads, Help: "CPU time of Knee's own loader for each million documents of the repeated load, in seconds of one core", Get: check(nonZero(func(c *record.ClientCheck) float64 { return c.CPUPerMillion }))},
	{Name: "client_check_note", Column: 153, In: CheckLoads, Help: "why Knee did not repeat the load, or how the repeated load differs from the first load", Get: check(always(func(c *record.ClientCheck) string { return c.Note }))},
}

func check[T value](of func(*record.ClientCheck) (T, bool)) Getter {
	return ofRecord(within(func(r *record.Record) *record.ClientCheck { return r.ClientCheck }, of))
}
