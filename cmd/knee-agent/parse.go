package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"gopkg.in/yaml.v3"

	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/drivers/command/parser"
	"github.com/knee-bench/knee/internal/drivers/output"
	"github.com/knee-bench/knee/internal/record"
)

// parseOptions holds the flags of `knee-agent parse`.
type parseOptions struct {
	parser, output, figures string
	unit, latencyUnit       string
	paths                   list
	clients                 int
	file                    string
}

// list is a flag that may be given several times.
type list []string

func (l *list) String() string { return strings.Join(*l, " ") }

func (l *list) Set(value string) error {
	*l = append(*l, value)
	return nil
}

// runParse parses the output of a program of the command driver. A trial parses the output in the same way.
func runParse(args []string) int {
	var o parseOptions
	flags := flag.NewFlagSet("parse", flag.ContinueOnError)
	flags.StringVar(&o.parser, "parser", "", "parser of the output, freon or json, as in spec.workload.command.parser")
	flags.StringVar(&o.output, "o", "table", "json or table")
	flags.IntVar(&o.clients, "clients", 0, "number of clients (threads) of the program, for the check of rate and latency by Little's law; 0: unknown")
	flags.StringVar(&o.figures, "figures", "", "for json: a file with the content of spec.workload.command.json, as YAML or JSON")
	flags.Var(&o.paths, "path", "for json: FIELD=PATH; may be given several times; the fields are throughput, operations, failures, seconds, latency.mean (.p50, .p90, .p99, .p999, .max) and metrics.NAME")
	flags.StringVar(&o.unit, "unit", "calls/s", "for json: the throughput's unit")
	flags.StringVar(&o.latencyUnit, "latency-unit", "ms", "for json: the latency's unit: ns, us, ms or s")
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "Usage: knee-agent parse --parser freon|json [flags] FILE (- stands for standard input)\n")
		flags.PrintDefaults()
	}
	for rest := args; ; { // flags may also follow the file name
		if err := flags.Parse(rest); err != nil {
			return 2
		}
		if flags.NArg() == 0 {
			break
		}
		if o.file != "" {
			fmt.Fprintf(flags.Output(), "give only one FILE, not %s and %s\n", o.file, flags.Arg(0))
			return 2
		}
		o.file, rest = flags.Arg(0), flags.Args()[1:]
	}
	if o.file == "" || o.parser != "freon" && o.parser != "json" || o.output != "json" && o.output != "table" {
		flags.Usage()
		return 2
	}
	if err := o.run(os.Stdin, os.Stdout); err != nil {
		return failed("parse", err)
	}
	return 0
}

func (o parseOptions) run(in io.Reader, out io.Writer) error {
	if o.file != "-" {
		file, err := os.Open(o.file)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	load, law, err := o.parse(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", o.file, err)
	}
	p := parsed{Load: *load}
	if o.clients > 0 {
		p.InFlight, p.Utilization = law.InFlight(), law.Utilization()
		if note := law.Note(); note != "" {
			p.Notes = append(p.Notes, note)
		}
	}
	if o.output == "json" {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(p)
	}
	return p.table(out)
}

func (o parseOptions) parse(text string) (*record.Load, output.Concurrency, error) {
	if o.parser == "freon" {
		run, err := parser.ParseFreon(text)
		if err != nil {
			return nil, output.Concurrency{}, err
		}
		return run.Load(), run.Concurrency(int32(o.clients)), nil
	}
	figures, err := o.jsonFigures()
	if err != nil {
		return nil, output.Concurrency{}, err
	}
	load, err := parser.ParseJSONFigures(text, figures)
	if err != nil {
		return nil, output.Concurrency{}, err
	}
	return load, output.ConcurrencyOf(load, 0, int32(o.clients)), nil
}

// figuresFile is the content of spec.workload.command.json.
type figuresFile struct {
	Throughput struct{ Path, Unit string }
	Operations string
	Failures   string
	Seconds    string
	Latency    map[string]string // path of each figure; the key "unit" holds the unit
	Metrics    []struct{ Name, Path, Unit string }
}

// jsonFigures returns the figures that the --figures file defines. Flags override values of the file.
func (o parseOptions) jsonFigures() (commandconfig.JSONFigures, error) {
	f := commandconfig.JSONFigures{Throughput: commandconfig.JSONMetric{Unit: o.unit}, LatencyUnit: o.latencyUnit, Latency: map[string]string{}}
	if o.figures != "" {
		file, err := os.Open(o.figures)
		if err != nil {
			return f, err
		}
		defer func() { _ = file.Close() }()
		var from figuresFile
		decoder := yaml.NewDecoder(file)
		decoder.KnownFields(true)
		if err := decoder.Decode(&from); err != nil {
			return f, fmt.Errorf("%s: %w", o.figures, err)
		}
		from.fill(&f)
	}
	for _, field := range o.paths {
		name, path, _ := strings.Cut(field, "=")
		if err := setPath(&f, name, path); err != nil {
			return f, err
		}
	}
	if f.Throughput.Path == "" {
		return f, fmt.Errorf("the json parser needs the path of the throughput: add --path throughput=PATH, or --figures FILE with throughput.path")
	}
	return f, nil
}

func (from figuresFile) fill(f *commandconfig.JSONFigures) {
	f.Throughput.Path, f.Operations, f.Failures, f.Seconds = from.Throughput.Path, from.Operations, from.Failures, from.Seconds
	if from.Throughput.Unit != "" {
		f.Throughput.Unit = from.Throughput.Unit
	}
	for name, path := range from.Latency {
		if name == "unit" {
			f.LatencyUnit = path
		} else {
			f.Latency[name] = path
		}
	}
	for _, m := range from.Metrics {
		f.Metrics = append(f.Metrics, commandconfig.JSONMetric{Name: m.Name, Path: m.Path, Unit: m.Unit})
	}
}

func setPath(f *commandconfig.JSONFigures, field, path string) error {
	if path == "" {
		return fmt.Errorf("--path %s: the value must be FIELD=PATH, such as throughput=$.rate", field)
	}
	switch group, name, _ := strings.Cut(field, "."); {
	case field == "throughput":
		f.Throughput.Path = path
	case field == "operations":
		f.Operations = path
	case field == "failures":
		f.Failures = path
	case field == "seconds":
		f.Seconds = path
	case group == "latency" && name != "":
		f.Latency[name] = path
	case group == "metrics" && name != "":
		f.Metrics = append(f.Metrics, commandconfig.JSONMetric{Name: name, Path: path})
	default:
		return fmt.Errorf("--path %s: there is no such field; use throughput, operations, failures, seconds, latency.NAME or metrics.NAME", field)
	}
	return nil
}

// parsed holds the figures that the program reports about its own load.
type parsed struct {
	record.Load
	From        *int64  `json:"from,omitempty"` // hides the field of record.Load: this command does not know when the load ran
	To          *int64  `json:"to,omitempty"`
	InFlight    float64 `json:"inFlight,omitempty"`          // mean number of concurrent calls, by Little's law
	Utilization float64 `json:"clientUtilization,omitempty"` // share of the clients' time spent waiting for answers
}

func (p parsed) table(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name string, value float64, unit string) {
		fmt.Fprintf(w, "%s\t%s\t%s\n", name, strconv.FormatFloat(value, 'f', -1, 64), unit)
	}
	row("rate", p.Rate, p.Unit)
	if p.Operations > 0 { // 0: the program did not count them
		row("operations", float64(p.Operations), "")
	}
	if !p.FailuresUncounted {
		row("failures", float64(p.Failures), "")
	}
	if p.Seconds > 0 {
		row("seconds", p.Seconds, "s")
	}
	if l := p.Latency; l != nil {
		for _, figure := range []struct {
			name  string
			value float64
		}{{"min", l.Min}, {"mean", l.Mean}, {"p50", l.P50}, {"p90", l.P90}, {"p99", l.P99}, {"p999", l.P999}, {"max", l.Max}} {
			if figure.value > 0 { // 0: not known
				row("latency "+figure.name, figure.value, "ms")
			}
		}
	}
	for _, m := range p.Metrics {
		row(m.Name, *m.Value, m.Unit)
	}
	if p.InFlight > 0 {
		row("calls in flight", p.InFlight, "")
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, note := range p.Notes {
		fmt.Fprintf(out, "note: %s\n", note)
	}
	return nil
}
