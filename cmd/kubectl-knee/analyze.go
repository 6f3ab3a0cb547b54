package main

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/offline"
	"github.com/knee-bench/knee/internal/plugin/source"
	"github.com/knee-bench/knee/internal/plugin/terminal"
	"github.com/knee-bench/knee/internal/verdict/campaign"
)

// analyzeFlags are the flags of analyze. If the file is a bundle, a flag that is not set takes its value from the bundle's campaign.
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
		Short: "Find peaks, knees and ratios in a CSV of results, or in a bundle",
		Long: `Find peaks, knees, shared clients and ratios in a CSV of results, with the same
code as the operator. No cluster is needed.
The CSV may be Knee's results.csv or one made by any script. Its header names
the columns, in any order:
  variant (required), topology, phase (Warmup, Sweep, Final), clients,
  docs_per_second, rejections, error_rate, iowait_percent, cpu_user_percent,
  cpu_system_percent, status (ok, failed, gated), repetition, placement
Other columns are ignored. A row without docs_per_second counts as failed. A row
also counts as failed if its error_rate is above 0 and its rejections do not
explain the errors, because opensearch-benchmark reports such a run as a
success. A row with the status gated is an exception.
A malformed line ends the command with exit code 2 and a message with its line
number and column. Nothing is printed on standard output then.`,
		Example: `  kubectl knee analyze -f results.csv --baseline intel
  kubectl knee analyze -f results.csv --baseline intel --max-iowait 10 -o json
  kubectl knee analyze -f arm-vs-intel.tar.gz`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return p.analyze(cmd, f) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.file, "filename", "f", "", "CSV of results, or a bundle of kubectl knee export; - is standard input")
	flags.StringVarP(&f.output, "output", "o", "", "json; unset: a table")
	flags.StringVar(&f.baseline, "baseline", "", "variant that ratios are computed against; unset: no ratios")
	flags.Float64Var(&f.percentOfPeak, "percent-of-peak", offline.Defaults().PercentOfPeak, "share of the peak, in percent, that the knee must reach")
	flags.StringVar(&f.maxIOWait, "max-iowait", "", "quality gate: highest allowed iowait, in percent of all cores; unset: no limit")
	flags.Int64Var(&f.maxRejections, "max-rejections", 0, "quality gate: how many rejected requests are allowed (default 0)")
	terminal.PanicOnError(cmd.MarkFlagRequired("filename"))
	terminal.PanicOnError(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"json"}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func (p *plugin) analyze(cmd *cobra.Command, f analyzeFlags) error {
	if err := terminal.CheckFlagValue("output", f.output, "", "json"); err != nil {
		return err
	}
	var result offline.Result
	var options offline.Options
	err := runInterruptible(cmd.Context(), func() (err error) {
		result, options, err = p.readAndAnalyze(cmd, f)
		return err
	})
	if err != nil {
		return err
	}
	for _, note := range result.Notes {
		terminal.PrintNote(p.streams.ErrOut, "%s", note)
	}
	if f.output == "json" {
		return terminal.PrintJSON(p.streams.Out, result)
	}
	return analysisTable(p.streams.Out, result, options)
}

// runInterruptible calls the function do, which may take long or wait for input. If a signal cancels ctx, runInterruptible returns before
// do has ended.
func runInterruptible(ctx context.Context, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("the command was interrupted before the result was complete: %w", context.Cause(ctx))
	}
}

// readAndAnalyze reads the file and analyzes it by the rules of its campaign and the flags.
func (p *plugin) readAndAnalyze(cmd *cobra.Command, f analyzeFlags) (result offline.Result, options offline.Options, err error) {
	in, done, isBundle, err := p.reader.OpenAndDetect(f.file)
	if err != nil {
		return result, options, err
	}
	defer func() { _ = done() }() // a close error does not matter: the input was only read
	if isBundle {
		return f.analyzeBundle(cmd, in)
	}
	if options, err = f.options(cmd, offline.Defaults()); err != nil {
		return result, options, err
	}
	rows, has, err := readCSV(f.file, in)
	if err != nil {
		return result, options, err
	}
	result, err = offline.Analyze(rows, has, options)
	return result, options, terminal.AsUsageError(err)
}

func readCSV(name string, in io.Reader) ([]offline.Row, offline.Columns, error) {
	if name == "-" {
		name = ""
	}
	rows, has, err := offline.Read(name, in)
	return rows, has, terminal.AsUsageError(err)
}

// options returns the campaign's rules, overridden by flags.
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
			return o, terminal.Usagef("--max-iowait: %w", err)
		}
		o.Gates.MaxIOWaitPercent = limit
	}
	return o, terminal.AsUsageError(o.Validate())
}

// analyzeBundle returns the result of a bundle's campaign. Without flags, it judges by the campaign's own rules, so the result equals the
// assessment in the campaign's report. If a flag sets another rule, the attempts of the campaign are judged again by that rule.
func (f analyzeFlags) analyzeBundle(cmd *cobra.Command, in io.Reader) (result offline.Result, options offline.Options, err error) {
	s, err := source.ReadBundle(f.file, in)
	if err != nil {
		return result, options, err
	}
	rules := campaignRules(s.Campaign.Spec)
	if options, err = f.options(cmd, rules); err != nil {
		return result, options, err
	}
	made, err := s.ReportInput()
	if err != nil {
		return result, options, err
	}
	a := made.Assessment
	if len(made.Records) == 0 {
		return offline.FromAssessment(campaign.Assessment{}, options), options, nil // no trial has ended yet
	}
	var variants []string
	for _, v := range made.Spec.Variants {
		variants = append(variants, string(v.Name))
	}
	if options.Baseline != "" && !slices.Contains(variants, options.Baseline) {
		return result, options, terminal.Usagef("the campaign has no variant %q for the baseline; its variants are %s", options.Baseline, strings.Join(variants, ", "))
	}
	if reflect.DeepEqual(options, rules) {
		result = offline.FromAssessment(a, options)
	} else {
		result = offline.Reassess(a, made.Spec, options)
	}
	if a.Unit != "docs/s" {
		result.Notes = append(result.Notes, "rates are in "+a.Unit)
	}
	if !a.Finished {
		result.Notes = append(result.Notes, fmt.Sprintf("%d of %d trials are done", a.Done, a.Planned))
	}
	if slices.ContainsFunc(a.Ratios, func(r campaign.Ratio) bool { return r.Named }) {
		result.Notes = append(result.Notes, "the ratios of spec.comparisons are only in the report (kubectl knee report)")
	}
	return result, options, nil
}

// campaignRules returns a campaign's own rules.
func campaignRules(spec v1alpha1.BenchmarkCampaignSpec) offline.Options {
	o := offline.Defaults()
	o.PercentOfPeak = spec.Knee.PercentOfPeak.Float(o.PercentOfPeak)
	o.SmallestDifference = spec.Final.SmallestDifferencePercent.Float(o.SmallestDifference)
	o.Gates, o.Baseline = spec.Gates, spec.Baseline
	return o
}
