package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/offline"
	"github.com/knee-bench/knee/internal/report"
)

// analyzeFlags are those of analyze; what a bundle's campaign says itself holds where no flag does.
type analyzeFlags struct {
	file, output, baseline string
	percentOfPeak          float64
	maxIOWait              string
	maxRejections          int64
}

func (p *plugin) analyzeCommand() *cobra.Command {
	var f analyzeFlags
	cmd := &cobra.Command{
		Use:   "analyze -f FILE",
		Short: "Find peaks, knees, shared clients and ratios in a CSV of results, or in a bundle",
		Long: `Find peaks, knees, shared clients and ratios in a CSV of results, by the operator's own code; no cluster is needed.
The CSV may be Knee's results.csv or one made by any script. Its header names the columns, in any order:
  variant (required), topology, phase (Warmup, Sweep, Final), clients, docs_per_second, rejections, error_rate,
  iowait_percent, cpu_user_percent, cpu_system_percent, status (ok, failed, gated), repetition, placement
Other columns are ignored. A row without docs_per_second is failed; so is one with an error_rate above 0 that no rejections
explain, whatever its status says but gated: opensearch-benchmark calls such runs a success. A malformed line ends the command with exit code 2,
its number and column, and nothing on standard output.`,
		Example: `  kubectl knee analyze -f results.csv --baseline intel
  kubectl knee analyze -f results.csv --baseline intel --percent-of-peak 95 --max-iowait 10 -o json
  kubectl knee analyze -f arm-vs-intel.tar.gz`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return p.analyze(cmd, f) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.file, "filename", "f", "", "CSV of results, or a bundle of kubectl knee export; - is standard input")
	flags.StringVarP(&f.output, "output", "o", "", "json; a table when unset")
	flags.StringVar(&f.baseline, "baseline", "", "variant that ratios are computed against; none when unset")
	flags.Float64Var(&f.percentOfPeak, "percent-of-peak", offline.Defaults().PercentOfPeak, "share of the peak, in percent, that the knee must reach")
	flags.StringVar(&f.maxIOWait, "max-iowait", "", "gate: highest iowait, in percent of all cores; unset: none")
	flags.Int64Var(&f.maxRejections, "max-rejections", 0, "gate: how many rejected requests are allowed (default 0)")
	must(cmd.MarkFlagRequired("filename"))
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"json"}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func (p *plugin) analyze(cmd *cobra.Command, f analyzeFlags) error {
	if err := oneOf("output", f.output, "", "json"); err != nil {
		return err
	}
	var result offline.Result
	var options offline.Options
	err := interruptible(cmd.Context(), func() (err error) {
		result, options, err = p.analyzed(cmd, f)
		return err
	})
	if err != nil {
		return err
	}
	for _, note := range result.Notes {
		p.note("%s", note)
	}
	if f.output == "json" {
		return printJSON(p.streams.Out, result)
	}
	return analysisTable(p.streams.Out, result, options)
}

// interruptible does what may wait for its input, or take long, until a signal ends the command.
func interruptible(ctx context.Context, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("interrupted before there was a result: %w", context.Cause(ctx))
	}
}

// analyzed reads the file and analyzes it, by the rules that hold for it.
func (p *plugin) analyzed(cmd *cobra.Command, f analyzeFlags) (result offline.Result, options offline.Options, err error) {
	in, done, isBundle, err := p.openSniffed(f.file)
	if err != nil {
		return result, options, err
	}
	defer func() { _ = done() }() // it was read to its end, or not used
	var rows []offline.Row
	var has offline.Columns
	if isBundle {
		rows, has, options, err = f.ofBundle(cmd, in)
	} else if options, err = f.options(cmd, offline.Defaults()); err == nil {
		rows, has, err = readCSV(f.file, in)
	}
	if err != nil {
		return result, options, err
	}
	result, err = offline.Analyze(rows, has, options)
	return result, options, usage(err)
}

func readCSV(name string, in io.Reader) ([]offline.Row, offline.Columns, error) {
	if name == "-" {
		name = ""
	}
	rows, has, err := offline.Read(name, in)
	return rows, has, usage(err)
}

// options are the campaign's rules, where flags do not say otherwise.
func (f analyzeFlags) options(cmd *cobra.Command, o offline.Options) (offline.Options, error) {
	set := cmd.Flags().Changed
	if set("percent-of-peak") {
		o.PercentOfPeak = f.percentOfPeak
	}
	if set("max-rejections") {
		o.Gates.MaxRejections = &f.maxRejections
	}
	if set("baseline") {
		o.Baseline = f.baseline
	}
	if set("max-iowait") {
		limit, err := offline.Percent(f.maxIOWait)
		if err != nil {
			return o, usagef("--max-iowait: %w", err)
		}
		o.Gates.MaxIOWaitPercent = limit
	}
	return o, usage(o.Validate())
}

// ofBundle judges the bundle's records anew, by the campaign's own rules where no flag says otherwise, and reads the
// results that its report would have.
func (f analyzeFlags) ofBundle(cmd *cobra.Command, in io.Reader) ([]offline.Row, offline.Columns, offline.Options, error) {
	none := func(err error) ([]offline.Row, offline.Columns, offline.Options, error) {
		return nil, nil, offline.Options{}, err
	}
	s, err := readBundle(f.file, in)
	if err != nil {
		return none(err)
	}
	o, err := f.options(cmd, rulesOf(s.Campaign.Spec))
	if err != nil {
		return none(err)
	}
	s.Campaign.Spec.Gates = o.Gates
	made, err := s.input()
	if err != nil {
		return none(err)
	}
	if len(made.Records) == 0 {
		// Nothing was measured yet, which is no malformed file; there is nothing to hold against a rule either.
		return nil, offline.Columns{}, offline.Defaults(), nil
	}
	var rows []offline.Row
	has := offline.Columns{}
	files := report.Files(made)
	for _, name := range resultFiles(files) {
		part, columns, err := offline.Read(name, stringReader(files[name]))
		if err != nil {
			return none(err)
		}
		rows = append(rows, part...)
		has = columns
	}
	o.Gates = v1alpha1.Gates{MaxRejections: o.Gates.MaxRejections} // the verdicts in the results are by all of them
	return rows, has, o, nil
}

// rulesOf are a campaign's own.
func rulesOf(spec v1alpha1.BenchmarkCampaignSpec) offline.Options {
	o := offline.Defaults()
	o.PercentOfPeak = spec.Knee.PercentOfPeak.Float(o.PercentOfPeak)
	o.SmallestDifference = spec.Final.SmallestDifferencePercent.Float(o.SmallestDifference)
	o.Gates, o.Baseline = spec.Gates, spec.Baseline
	if spec.Seed != nil {
		o.Seed = uint64(*spec.Seed)
	}
	return o
}

// resultFiles are results.csv and its further parts, in order.
func resultFiles(files map[string]string) []string {
	var out []string
	for name := range files {
		if isResults(name) {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b) // results.csv comes before results-002.csv
		}
		return compareText(a, b)
	})
	return out
}

func printJSON(out io.Writer, v any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}
