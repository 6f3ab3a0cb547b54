package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/load"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/version"
)

// bulkDriver makes the load with Knee's own loader, which is the agent itself in a process of its own: what it costs is
// measured as that of any other program.
type bulkDriver struct {
	a       *attempt
	program string
	exit    int
}

func newBulk(a *attempt) loadDriver { return &bulkDriver{a: a} }

func (*bulkDriver) kind() kind { return fillsIndex }

func (d *bulkDriver) about() record.Driver {
	return record.Driver{Name: "bulk", Version: version.Version, ExitCode: d.exit}
}

// prepare finds the agent's own program, and looks at what it will be told.
func (d *bulkDriver) prepare(context.Context) (err error) {
	if d.program = d.a.Program; d.program == "" {
		if d.program, err = os.Executable(); err != nil {
			return fmt.Errorf("the agent's own program: %w", err)
		}
	}
	if d.a.Config.Trial.Phase == record.OpenLoop {
		return fail(record.ReasonAgentFailed, "spec.workload.bulk cannot hold a load to a rate: final.openLoop needs spec.workload.osb")
	}
	for _, file := range d.a.Config.Bulk.Files {
		if _, err := os.Stat(file); err != nil {
			return fail(record.ReasonDriverFailed, "spec.workload.bulk.files.names: %v", err)
		}
	}
	if err := d.config().Validate(); err != nil {
		return fail(record.ReasonDriverFailed, "spec.workload.bulk: %v", err)
	}
	return nil
}

// config is what the loader is told. Of Secrets it names the files.
func (d *bulkDriver) config() load.Config {
	c, p := d.a.Config, d.a.part
	return load.Config{
		URL: c.Endpoint, External: c.External, Index: c.Index.Name, DataStream: c.Index.DataStream,
		Bulk: *c.Bulk, Workers: int(p.clients(c.Trial.Clients)), FirstClient: int(p.first(c.Trial.Clients)), Clients: int(c.Trial.Clients),
	}
}

// indexBody is the dataset's own. Files of documents tell nothing of their index: OpenSearch maps their fields as they come.
func (d *bulkDriver) indexBody() (body []byte, from string, err error) {
	dataset := d.a.Config.Bulk.Dataset
	if dataset == "" {
		return []byte(`{}`), "spec.workload.bulk.files", nil
	}
	from = "the body of dataset " + dataset
	if body, err = load.Body(dataset); err != nil || !d.a.Config.Index.DataStream {
		return body, from, err
	}
	field, err := load.TimestampField(dataset)
	if err != nil {
		return nil, from, err
	}
	whole := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &whole); err != nil {
		return nil, from, err
	}
	whole["data_stream"] = fmt.Appendf(nil, `{"timestamp_field":{"name":%q}}`, field)
	body, err = json.Marshal(whole)
	return body, from, err
}

// Files of the loader in the scratch folder.
func (d *bulkDriver) configPath() string { return filepath.Join(d.a.Work, "load.json") }
func (d *bulkDriver) resultPath() string { return filepath.Join(d.a.Work, "load-result.json") }
func (d *bulkDriver) outputPath() string { return d.a.outputPath("load") }

// load has the loader get ready and, when all loader pods are, send.
func (d *bulkDriver) load(ctx context.Context, start func(context.Context) error) (json.RawMessage, error) {
	data, err := json.Marshal(d.config())
	if err == nil {
		err = os.WriteFile(d.configPath(), data, 0o644)
	}
	if err != nil {
		return nil, fmt.Errorf("the loader's configuration: %w", err)
	}
	if err := os.Remove(d.resultPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	gate, err := newGate(filepath.Join(d.a.Work, "load-start"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = gate.close() }() // the program is gone
	var output driver.Output
	exit, err := d.a.runGated(ctx, program{
		name: "the loader", path: d.program, args: []string{"load", "--config", d.configPath(), "--result", d.resultPath(), "--start", gate.path},
		output: &output, watch: d.a.watch,
	}, gate, start)
	d.exit = exit
	if err := os.WriteFile(d.outputPath(), []byte(output.Text()), 0o644); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	if exit != 0 {
		return nil, fail(record.ReasonDriverFailed, "the loader %s: %s", ending(exit), output.LastWords(maxMessage))
	}
	return d.share()
}

// share is the loader's result, its times in milliseconds since the load began. Where one of several pods could not load on,
// the others would do so for nothing: there it is an error at once.
func (d *bulkDriver) share() (json.RawMessage, error) {
	data, err := os.ReadFile(d.resultPath())
	if err != nil {
		return nil, fail(record.ReasonDriverIncomplete, "the loader left no result: %v", err)
	}
	var r load.Result
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fail(record.ReasonDriverIncomplete, "the loader's result: %v", err)
	}
	if early := endedEarly(r); early != nil && d.a.part.of > 1 {
		return nil, early
	}
	began := d.a.clock.wallAt.UnixMilli()
	r.From, r.To, r.FirstEnd = r.From-began, r.To-began, r.FirstEnd-began
	return json.Marshal(r)
}

// outcome is what the loaders' results come to: merged, so that a percentile is one of all requests.
func (d *bulkDriver) outcome(shares []json.RawMessage) (outcome, error) {
	all, err := decodeShares[load.Result](shares)
	if err != nil {
		return outcome{}, err
	}
	r, err := load.Merge(all)
	if err != nil {
		return outcome{}, fail(record.ReasonDriverIncomplete, "the loaders' results: %v", err)
	}
	latency, err := latencyOf(r)
	if err != nil {
		return outcome{}, fail(record.ReasonDriverIncomplete, "%v", err)
	}
	n, c := r.Documents, d.a.Config.Bulk
	out := outcome{
		timed: c.DurationSeconds > 0, firstEnd: max(0, time.Duration(r.FirstEnd)*time.Millisecond), clientUtilization: r.Waiting(),
		accepted: &accepted{documents: n.Acknowledged, again: sentAgain(r.Refused)},
		failures: failures{rejected: n.Rejected, refused: refusedOnce(r.Refused), other: n.Failed + n.Uncertain, lines: refusalLines(r.Refused)},
		tasks:    []record.Task{{Name: "bulk", Unit: "docs/s", Throughput: r.DocsPerSecond(), Latency: latency, ServiceTime: latency}},
	}
	if n.Added > 0 {
		out.tasks[0].ErrorRate = float64(n.Added-n.Acknowledged) / float64(n.Added)
	}
	out.requests = r.Requests
	if sendings := float64(n.Added + n.Retried); r.Requests > 0 {
		out.bulkSize = int64(math.Round(sendings / float64(r.Requests)))
		out.documentBytes = float64(r.Bytes) / sendings
	}
	if !out.timed {
		out.corpus = max(c.Documents, n.Added)
	}
	out.output = strings.Join(out.failures.lines, "; ")
	out.missing = d.incomplete(r)
	return out, nil
}

func endedEarly(r load.Result) error {
	if r.Ended == "" {
		return nil
	}
	return fail(record.ReasonRequestsFailed, "the load ended before its time: %s", r.Ended)
}

// incomplete is what is wrong with the loaders' counts; nil when nothing is.
func (d *bulkDriver) incomplete(r load.Result) error {
	n, c, early := r.Documents, d.a.Config.Bulk, endedEarly(r)
	switch {
	case early != nil:
		return early
	case n.Added != n.Acknowledged+n.Rejected+n.Failed+n.Uncertain:
		return fail(record.ReasonDriverIncomplete, "the loader sent %d documents, but knows of %d acknowledged, %d rejected, %d failed and %d of which nothing was heard",
			n.Added, n.Acknowledged, n.Rejected, n.Failed, n.Uncertain)
	case c.Documents > 0 && n.Added != c.Documents:
		return fail(record.ReasonDriverIncomplete, "the loader sent %d documents of %d", n.Added, c.Documents)
	}
	return nil
}

// latencyOf is the distribution of the time of one bulk request, in ms; nil when there was none.
func latencyOf(r load.Result) (*record.Latency, error) {
	h, err := r.Histogram()
	if err != nil || h.TotalCount() == 0 {
		return nil, err
	}
	ms := func(us int64) float64 { return float64(us) / 1000 }
	return &record.Latency{Mean: h.Mean() / 1000, P50: ms(h.ValueAtQuantile(50)), P90: ms(h.ValueAtQuantile(90)), P99: ms(h.ValueAtQuantile(99)),
		P999: ms(h.ValueAtQuantile(99.9)), Max: ms(h.Max())}, nil
}

const tooManyRequests = 429

// refusalLines tell why documents were not accepted, those of no rejection first.
func refusalLines(refused []load.Refusal) (lines []string) {
	for _, rejection := range []bool{false, true} {
		for _, f := range refused {
			if (f.Status == tooManyRequests) != rejection {
				continue
			}
			line := fmt.Sprintf("%d documents: %s", f.Documents, f.Type)
			if f.Status > 0 {
				line = fmt.Sprintf("%d documents: status %d, %s", f.Documents, f.Status, f.Type)
			}
			if f.Reason != "" {
				line += ": " + f.Reason
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// refusedOnce counts the documents that were refused with 429 at any sending.
func refusedOnce(refused []load.Refusal) (n int64) {
	for _, f := range refused {
		if f.Status == tooManyRequests {
			n += f.Documents
		}
	}
	return n
}

// sentAgain counts the documents that were sent again after an answer that does not tell what became of them.
func sentAgain(refused []load.Refusal) (n int64) {
	for _, f := range refused {
		if f.Status >= 500 || f.Status == 408 {
			n += f.Documents
		}
	}
	return n
}

func (d *bulkDriver) artifacts() []artifact {
	return []artifact{
		{"load.json", "what Knee's loader was told", copyOf(d.configPath())},
		{"load-result.json", "its result; latency is an HdrHistogram in microseconds, V2, compressed, base64", copyOf(d.resultPath())},
		{"load-output.txt", "what it printed", copyOf(d.outputPath())},
	}
}
