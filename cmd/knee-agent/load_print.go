package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/knee-bench/knee/internal/load"
	"github.com/knee-bench/knee/internal/load/documents"
)

// printer prints a row for each run, and at the end a summary.
type printer struct {
	to      io.Writer
	options loadOptions
	rates   []float64 // docs/s of the runs that count: no warm-up runs, and no runs that ended early
	total   summary   // sums over the runs in rates; the fields that are no sums are not set
	added   bool      // rates counts added documents instead of acknowledged documents, because the server acknowledges none
	rows    int
	nothing error // the error of the first run in which no document was acknowledged
}

func newPrinter(to io.Writer, o loadOptions) *printer { return &printer{to: to, options: o} }

// runRow is the JSON output of one run.
type runRow struct {
	Run           int         `json:"run"` // from 1; a warm-up run has a number of 0 or below
	Warmup        bool        `json:"warmup,omitempty"`
	DocsPerSecond float64     `json:"docsPerSecond"` // acknowledged documents
	AddedPerSec   float64     `json:"addedPerSecond"`
	MiBs          float64     `json:"mibs"`
	Seconds       float64     `json:"seconds"`
	P50           float64     `json:"p50Milliseconds"` // time of one bulk request
	P99           float64     `json:"p99Milliseconds"`
	CPUPerMillion float64     `json:"cpuSecondsPerMillionDocuments"`
	Waiting       float64     `json:"waiting"`        // share of the workers' time spent in requests
	CPUShare      float64     `json:"cpuShare"`       // CPU time as a share of the cores that the loader may use
	Note          string      `json:"note,omitempty"` //
	Result        load.Result `json:"result"`
}

// run prints the row of one run.
func (p *printer) run(n int, r load.Result) error {
	h, err := r.Histogram()
	if err != nil {
		return err
	}
	row := runRow{
		Run: n, Warmup: n < 1, DocsPerSecond: r.DocsPerSecond(), AddedPerSec: r.AddedPerSecond(), MiBs: r.MiBs(), Seconds: r.Seconds(),
		P50: float64(h.ValueAtQuantile(50)) / 1000, P99: float64(h.ValueAtQuantile(99)) / 1000,
		CPUPerMillion: r.CPUPerMillion(), Waiting: r.Waiting(), CPUShare: r.CPUShare(), Note: note(r), Result: r,
	}
	label := p.label(n)
	if p.nothing == nil {
		p.nothing = nothingAcknowledged(label, r)
	}
	rate := row.DocsPerSecond
	if isUnheard(r) {
		rate, p.added = row.AddedPerSec, true
	}
	if n >= 1 && r.Ended == "" {
		p.rates = append(p.rates, rate)
		p.total.Added += r.Documents.Added
		p.total.Flushed += r.Documents.Acknowledged
		p.total.Requests += r.Requests
		p.total.Seconds += r.Seconds()
	}
	if p.options.output == "json" {
		return json.NewEncoder(p.to).Encode(row)
	}
	p.header()
	fmt.Fprintf(p.to, "%4s  %12s %12s %9s %9s %8d %9s %11s %9.1f %9.2f %9.2f %8.3f %8.1f %6.1f", label,
		thousands(r.Documents.Added), thousands(r.Documents.Acknowledged), thousands(r.Documents.Rejected), thousands(r.Documents.Failed), r.Requests,
		fmt.Sprintf("%.3fs", r.Seconds()), thousands(int64(math.Round(rate))), row.MiBs, row.P50, row.P99, row.CPUPerMillion, row.Waiting*100, row.CPUShare*100)
	if row.Note != "" {
		fmt.Fprintf(p.to, "  %s", row.Note)
	}
	_, err = fmt.Fprintln(p.to)
	return err
}

// label returns the name of a run in the table. Warm-up runs are named w1, w2 and so on.
func (p *printer) label(n int) string {
	if n < 1 {
		return fmt.Sprintf("w%d", n+p.options.warmup)
	}
	return strconv.Itoa(n)
}

// header prints the description of the load and the column names before the first row.
func (p *printer) header() {
	if p.rows++; p.rows > 1 {
		return
	}
	c := p.options.config
	what := "dataset " + c.Bulk.Dataset
	if c.Bulk.Dataset == "" {
		what = "files " + strings.Join(c.Bulk.Files, " ")
	}
	full := fmt.Sprintf("%d documents", c.Bulk.FlushDocuments)
	if c.Bulk.FlushDocuments == 0 {
		size := c.Bulk.FlushBytes
		if size == 0 {
			size = documents.DefaultFlushBytes
		}
		full = fmt.Sprintf("%.4g MB", float64(size)/1e6)
	}
	where := c.URL + "/" + c.Index
	if p.options.mock {
		where = "a mock server in this process (the CPU figures include the mock server)"
	}
	fmt.Fprintf(p.to, "%s: %d measured runs after %d warm-up runs; %d workers send bulk requests of %s to %s\n", what, p.options.runs, p.options.warmup, c.Workers, full, where)
	fmt.Fprintf(p.to, "%4s  %12s %12s %9s %9s %8s %9s %11s %9s %9s %9s %8s %8s %6s\n", "run", "added", "flushed", "rejected", "failed", "requests", "duration", "docs/s", "MiB/s", "p50 ms", "p99 ms", "CPU s/M", "waiting%", "CPU%")
}

// summary holds the figures over all counted runs, in docs/s.
type summary struct {
	Runs   int      `json:"runs"`
	Of     string   `json:"of"` // which documents the figures count: "acknowledged", or "added" if the server acknowledges none
	Min    float64  `json:"min"`
	Max    float64  `json:"max"`
	Mean   float64  `json:"mean"`
	Median float64  `json:"median"`
	CV     *float64 `json:"cvPercent,omitempty"` // coefficient of variation; nil for a single run or a mean of 0

	// Sums over the counted runs.
	Added       int64   `json:"added"`          // documents that were sent
	Flushed     int64   `json:"flushed"`        // documents that the server acknowledged; 0 for a mock server
	Requests    int64   `json:"requests"`       // bulk requests
	Seconds     float64 `json:"seconds"`        //
	AddedPerSec float64 `json:"addedPerSecond"` // Added / Seconds
}

// summarize computes the figures over all counted runs.
func summarize(rates []float64, added bool) summary {
	sorted := slices.Sorted(slices.Values(rates))
	n := len(sorted)
	out := summary{Runs: n, Of: "acknowledged", Min: sorted[0], Max: sorted[n-1], Median: (sorted[(n-1)/2] + sorted[n/2]) / 2}
	if added {
		out.Of = "added"
	}
	var sd float64
	out.Mean, sd = stat.MeanStdDev(sorted, nil)
	if n > 1 && out.Mean > 0 {
		cv := sd / out.Mean * 100
		out.CV = &cv
	}
	return out
}

// end prints the summary. It returns an error if the server acknowledged no document in one of the runs.
func (p *printer) end() error {
	if len(p.rates) == 0 {
		return p.nothing
	}
	s := summarize(p.rates, p.added)
	s.Added, s.Flushed, s.Requests, s.Seconds = p.total.Added, p.total.Flushed, p.total.Requests, p.total.Seconds
	if s.Seconds > 0 {
		s.AddedPerSec = float64(s.Added) / s.Seconds
	}
	if p.options.output == "json" {
		return errors.Join(json.NewEncoder(p.to).Encode(map[string]summary{"docsPerSecond": s}), p.nothing)
	}
	whole := func(x float64) string { return thousands(int64(math.Round(x))) }
	line := fmt.Sprintf("docs/s %s: min %s, max %s, mean %s, median %s", s.Of, whole(s.Min), whole(s.Max), whole(s.Mean), whole(s.Median))
	if s.CV != nil {
		line += fmt.Sprintf(", CV %.2f %%", *s.CV)
	}
	_, err := fmt.Fprintln(p.to, line)
	return errors.Join(err, p.nothing)
}

// isUnheard reports whether the server's answers mention none of the documents. A server that sends a static reply gives such
// answers.
func isUnheard(r load.Result) bool {
	return r.Requests > 0 && r.Documents.Added > 0 && r.Documents.Uncertain == r.Documents.Added
}

// nothingAcknowledged returns an error if the server answered but acknowledged no document. It returns nil if isUnheard is
// true.
func nothingAcknowledged(run string, r load.Result) error {
	if r.Documents.Added == 0 || r.Documents.Acknowledged > 0 || isUnheard(r) {
		return nil
	}
	why := "the server gave no reason"
	if len(r.Refused) > 0 {
		why = refusal(r.Refused[0])
	}
	return fmt.Errorf("run %s: the server acknowledged none of the %s documents that were sent: %s", run, thousands(r.Documents.Added), why)
}

// refusal formats the status, type and reason of documents that the server did not accept.
func refusal(f load.Refusal) string {
	return strings.TrimSpace(fmt.Sprintf("status %d %s: %s", f.Status, f.Type, f.Reason))
}

// note returns the remarks that a reader needs to interpret the figures of a run.
func note(r load.Result) string {
	var out []string
	d := r.Documents
	switch {
	case isUnheard(r):
		out = append(out, "flushed 0: the server acknowledges no document, so docs/s counts the added documents")
	case d.Uncertain > 0:
		out = append(out, thousands(d.Uncertain)+" documents with unknown result")
	}
	if d.Retried > 0 {
		out = append(out, thousands(d.Retried)+" documents sent again")
	}
	if len(r.Refused) > 0 && d.Rejected+d.Failed > 0 {
		out = append(out, refusal(r.Refused[0]))
	}
	if r.Ended != "" {
		out = append(out, r.Ended)
	}
	return strings.Join(out, "; ")
}

// describe formats a result as one line.
func describe(r load.Result) string {
	d := r.Documents
	out := fmt.Sprintf("%s documents added, %s acknowledged, %s rejected (status 429), %s failed, %s with unknown result, %s sent again; %d requests in %.3f s, %s docs/s, %.3f CPU s per million documents, workers spent %.1f %% of their time in requests",
		thousands(d.Added), thousands(d.Acknowledged), thousands(d.Rejected), thousands(d.Failed), thousands(d.Uncertain), thousands(d.Retried), r.Requests, r.Seconds(), thousands(int64(r.DocsPerSecond())), r.CPUPerMillion(), r.Waiting()*100)
	if text := note(r); text != "" {
		out += "; " + text
	}
	return out
}

// thousands formats a number with commas between groups of three digits.
func thousands(n int64) string {
	if n < 0 {
		return "-" + thousands(-n)
	}
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
