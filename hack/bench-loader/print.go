package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/knee-bench/knee/internal/verdict/stats"
)

// printSinks prints the table and the line of JSON.
func printSinks(results []result) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, r := range results {
		fmt.Fprintf(w, "%s, documents of %s\n", r.scenario.server, r.scenario.documents.name)
		fmt.Fprintln(w, "\tmedian docs/s\tmin\tmax\tCPU s per million docs\tof the server\t")
		for _, p := range r.scenario.programs {
			f := r.figures[p.name]
			server := "-"
			if p.toSink {
				server = fmt.Sprintf("%.3f", stats.Median(f.serverPerMillion))
			}
			fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%.0f\t%.4f\t%s\t\n", p.name, stats.Median(f.docsPerSecond),
				slices.Min(f.docsPerSecond), slices.Max(f.docsPerSecond), stats.Median(f.cpuPerMillion), server)
		}
		for _, other := range []string{goElasticsearch, openSearchGo} {
			fmt.Fprintf(w, "Knee over %s:\tdocs/s %s,\tCPU per document %s less\n", other, times(r.docsRatio(knee, other)), times(r.cpuRatio(knee, other)))
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(sinksJSON(results))
}

// times prints a ratio with its interval.
func times(e stats.Estimate) string {
	digits := 1
	if e.Ratio < 10 {
		digits = 2
	}
	return fmt.Sprintf("%.*fx [%.*f, %.*f] %.1f %%", digits, e.Ratio, digits, e.Low, digits, e.High, 100*e.Confidence)
}

// sinksJSON returns the line of JSON. Keys without a suffix are for go-elasticsearch on the strict sink with small
// documents. Suffix 500 marks the larger documents, Nginx marks nginx, and OpenSearchGo marks ratios over
// opensearch-go.
func sinksJSON(results []result) map[string]any {
	out := map[string]any{"benchmark": "loader"}
	for _, r := range results {
		suffix := ""
		if r.scenario.server == nginxStatic {
			suffix = "Nginx"
		}
		if r.scenario.documents.dataset == "" {
			suffix += fmt.Sprint(largerBytes)
		}
		for _, other := range []struct{ program, suffix string }{{goElasticsearch, ""}, {openSearchGo, "OpenSearchGo"}} {
			put(out, "ratio"+other.suffix+suffix, r.docsRatio(knee, other.program))
			put(out, "cpuRatio"+other.suffix+suffix, r.cpuRatio(knee, other.program))
		}
		for _, p := range r.scenario.programs {
			f := r.figures[p.name]
			out["runs"] = len(f.docsPerSecond)
			key := map[string]string{knee: "knee", kneeFiltered: "kneeFilterPath", goElasticsearch: "goElasticsearch", openSearchGo: "openSearchGo", limit: "limit"}[p.name] + suffix
			out[key] = map[string]any{"docsPerSecond": stats.Median(f.docsPerSecond), "cpuPerMillion": stats.Median(f.cpuPerMillion)}
		}
	}
	return out
}

// put adds a ratio and its interval.
func put(out map[string]any, key string, e stats.Estimate) {
	out[key] = e.Ratio
	out[key+"Interval"] = []float64{e.Low, e.High}
	out["confidence"] = e.Confidence
}

// printReal prints the table and the line of JSON for the loads at a real OpenSearch.
func printReal(of map[string][]window, r replies, o realOptions) error {
	column := func(name string, figure func(window) float64) (out []float64) {
		for _, w := range of[name] {
			out = append(out, figure(w))
		}
		return out
	}
	docs := func(w window) float64 { return w.docsPerSecond }
	cpu := func(w window) float64 { return w.cpuPerMillion }
	whole := func(w window) float64 { return w.wholeCPU }
	fmt.Printf("OpenSearch, bulk requests of %d documents, %d clients, %d loads of %s each\n", o.bulkSize, o.clients, o.pairs, o.time)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tmedian docs/s\tmin\tmax\tCPU s per million docs, load window\tfrom start to exit\t")
	line := map[string]any{"benchmark": "loader-opensearch", "pairs": o.pairs, "bulkSize": o.bulkSize, "clients": o.clients}
	for _, side := range []struct{ name, key string }{{knee, "knee"}, {osbName, "osb"}} {
		d := column(side.name, docs)
		fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%.0f\t%.3f\t%.3f\t\n", side.name, stats.Median(d), slices.Min(d), slices.Max(d),
			stats.Median(column(side.name, cpu)), stats.Median(column(side.name, whole)))
		line[side.key] = map[string]any{"docsPerSecond": stats.Median(d), "cpuPerMillion": stats.Median(column(side.name, cpu)), "wholeCPUPerMillion": stats.Median(column(side.name, whole))}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	ratio := stats.Compare(column(knee, docs), column(osbName, docs), confidence)
	cpuRatio := stats.Compare(column(osbName, cpu), column(knee, cpu), confidence)
	fmt.Printf("Knee over %s: docs/s %s, CPU per document %s less\n", osbName, times(ratio), times(cpuRatio))
	fmt.Printf("Reply to %d documents: %d B, with filter_path %d B (%.1f %%); for one bad document the latter contains status, type and reason\n",
		r.documents, r.whole, r.filtered, 100*float64(r.filtered)/float64(r.whole))
	put(line, "ratio", ratio)
	put(line, "cpuRatio", cpuRatio)
	line["reply"] = map[string]any{"documents": r.documents, "bytes": r.whole, "filteredBytes": r.filtered, "filterPath": r.filter}
	return json.NewEncoder(os.Stdout).Encode(line)
}
