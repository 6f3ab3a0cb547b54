package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"gopkg.in/yaml.v3"

	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/drivers/command/parser"
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
	flags.StringVar(&o.parser, "parser", "", "how the output is read: json, text, or the preset freon, as in spec.workload.command")
	flags.StringVar(&o.output, "o", "table", "json or table")
	flags.IntVar(&o.clients, "clients", 0, "number of clients (threads) of the program, for the check of rate and latency by Little's law; 0: unknown")
	flags.StringVar(&o.figures, "figures", "", "for json and text: a file with the content of spec.workload.command.json or text, as YAML or JSON")
	flags.Var(&o.paths, "path", "for json and text: FIELD=PATH or FIELD=PATTERN; may be given several times; the fields are throughput, operations, failures, seconds, latency.mean (.min, .p50, .p90, .p99, .p999, .max) and metrics.NAME")
	flags.StringVar(&o.unit, "unit", "calls/s", "for json and text: the throughput's unit")
	flags.StringVar(&o.latencyUnit, "latency-unit", "ms", "for json and text: the latency's unit: ns, us, ms or s")
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "Usage: knee-agent parse --parser json|text|freon [flags] FILE (- stands for standard input)\n")
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
	if o.file == "" || !slices.Contains([]string{"json", "text", "freon"}, o.parser) || o.output != "json" && o.output != "table" {
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
	config, err := o.config()
	if err != nil {
		return fmt.Errorf("%s: %w", o.file, err)
	}
	got, err := parser.Parse(string(text), config)
	if err != nil {
		return fmt.Errorf("%s: %w", o.file, err)
	}
	p, law := parsed{Load: *got.Load}, got.Concurrency(0, int32(o.clients))
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

// config returns the configuration of the parser.
func (o parseOptions) config() (commandconfig.Config, error) {
	if o.parser == "freon" {
		return commandconfig.Config{Preset: o.parser}, nil
	}
	text, err := o.figuresOf()
	if err != nil {
		return commandconfig.Config{}, err
	}
	if o.parser == "json" {
		return commandconfig.Config{JSON: &text.Figures}, nil
	}
	return commandconfig.Config{Text: &text}, nil
}

// figuresFile is the content of spec.workload.command.json or text.
type figuresFile struct {
	Throughput                 struct{ Path, Pattern, Unit string }
	ThroughputIncludesFailures bool `yaml:"throughputIncludesFailures"`
	Operations                 string
	Failures                   string
	OptionalCounts             bool `yaml:"optionalCounts"`
	Seconds                    string
	Latency                    map[string]string // selector of each figure; the key "unit" holds the unit
	Metrics                    []struct{ Name, Path, Pattern, Unit string }
	After                      string
	SingleMatch                bool `yaml:"singleMatch"`
}

// figuresOf returns the figures that the --figures file defines. Flags override values of the file.
func (o parseOptions) figuresOf() (commandconfig.Text, error) {
	f := commandconfig.Text{Figures: commandconfig.Figures{Throughput: commandconfig.Figure{Unit: o.unit}, LatencyUnit: o.latencyUnit, Latency: map[string]string{}}}
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
		if err := setPath(&f.Figures, name, path); err != nil {
			return f, err
		}
	}
	if f.Throughput.Selector == "" {
		return f, fmt.Errorf("the %s parser has nothing that selects the throughput: add --path throughput=PATH, or --figures FILE with throughput.path (json) or throughput.pattern (text)", o.parser)
	}
	return f, nil
}

func (from figuresFile) fill(f *commandconfig.Text) {
	f.Throughput.Selector, f.Operations, f.Failures, f.Seconds = cmp.Or(from.Throughput.Path, from.Throughput.Pattern), from.Operations, from.Failures, from.Seconds
	f.IncludesFailures, f.OptionalCounts, f.SingleMatch, f.After = from.ThroughputIncludesFailures, from.OptionalCounts, from.SingleMatch, from.After
	if from.Throughput.Unit != "" {
		f.Throughput.Unit = from.Throughput.Unit
	}
	for name, selector := range from.Latency {
		if name == "unit" {
			f.LatencyUnit = selector
		} else {
			f.Latency[name] = selector
		}
	}
	for _, m := range from.Metrics {
		f.Metrics = append(f.Metrics, commandconfig.Figure{Name: m.Name, Selector: cmp.Or(m.Path, m.Pattern), Unit: m.Unit})
	}
}

func setPath(f *commandconfig.Figures, field, path string) error {
	if path == "" {
		return fmt.Errorf("--path %s: the value must be FIELD=PATH, such as throughput=$.rate", field)
	}
	switch group, name, _ := strings.Cut(field, "."); {
	case field == "throughput":
		f.Throughput.Selector = path
	case field == "operations":
		f.Operations = path
	case field == "failures":
		f.Failures = path
	case field == "seconds":
		f.Seconds = path
	case group == "latency" && name != "":
		f.Latency[name] = path
	case group == "metrics" && name != "":
		f.Metrics = append(f.Metrics, commandconfig.Figure{Name: name, Selector: path})
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
