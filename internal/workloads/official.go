// Package workloads lists the official workloads of opensearch-benchmark, with the index that each workload fills and the size
// of its corpus. The figures come from opensearch-project/opensearch-benchmark-workloads, branch main, commit 255694f of
// 2026-07-01.
package workloads

import (
	"maps"
	"slices"
	"strconv"
)

// Official describes an official workload.
type Official struct {
	Index     string           // index that the workload's ingest tasks fill; a name that ends in * means several indices
	Documents int64            // number of documents of the workload's corpus
	Sizes     map[string]int64 // number of documents by the value of the parameter corpus_size, if the workload has this parameter
}

// official lists the workloads whose default test procedure fills the index with bulk tasks.
var official = map[string]Official{
	"big5": {Index: "big5", Documents: 116_000_000, Sizes: map[string]int64{
		"60": 69_223_950, "100": 116_000_000, "880": 1_020_000_000, "1000": 1_160_800_000,
	}},
	"clickbench": {Index: "clickbench", Documents: 99_997_497},
	"eventdata":  {Index: "eventdata", Documents: 20_000_000},
	"geonames":   {Index: "geonames", Documents: 11_396_503},
	"geopoint":   {Index: "osmgeopoints", Documents: 60_844_404},
	"http_logs":  {Index: "logs-*", Documents: 247_249_096},
	"nested":     {Index: "sonested", Documents: 11_203_029},
	"noaa":       {Index: "weather-data-2016", Documents: 33_659_481},
	"nyc_taxis":  {Index: "nyc_taxis", Documents: 165_346_692},
	"percolator": {Index: "queries", Documents: 2_000_000},
	"pmc":        {Index: "pmc", Documents: 574_199},
	"so":         {Index: "so", Documents: 36_062_278},
}

// Names returns the names of the official workloads.
func Names() []string { return slices.Sorted(maps.Keys(official)) }

// Index returns the index that an official workload fills. It returns false for any other workload.
func Index(workload string) (string, bool) {
	w, ok := official[workload]
	return w.Index, ok
}

// Documents returns how many documents one run of an official workload sends. The parameters corpus_size and ingest_percentage
// change the number. It returns false if the number is unknown.
func Documents(workload string, param func(name string) (string, bool)) (int64, bool) {
	w, ok := official[workload]
	if !ok {
		return 0, false
	}
	documents := w.Documents
	if size, set := param("corpus_size"); set && w.Sizes != nil {
		if documents, ok = w.Sizes[size]; !ok {
			return 0, false
		}
	}
	if text, set := param("ingest_percentage"); set {
		percent, err := strconv.ParseFloat(text, 64)
		if err != nil || !(percent > 0 && percent <= 100) {
			return 0, false
		}
		return int64(float64(documents) * percent / 100), true
	}
	return documents, true
}
