package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/internal/forecast"
	"github.com/knee-bench/knee/internal/plugin/source"
	"github.com/knee-bench/knee/internal/plugin/terminal"
)

func (p *plugin) planCommand() *cobra.Command {
	var file, output, rates string
	var cv float64
	var t forecast.Timing
	cmd := &cobra.Command{
		Use:   "plan -f FILE",
		Short: "Show what a campaign would run, how long, and at what cost",
		Long: `Show the trials of a campaign, their order, the estimated time and price, and
the number of repetitions that it needs for a conclusion. No cluster is needed:
the campaign is validated against the schema and the rules of the CRD that is
built into this program, and its defaults are filled in.

The estimate is based on the length of the load (time_period and
warmup_time_period of the workload, durationSeconds of bulk), or on
--trial-time. For an official workload that sends its whole corpus, the estimate
is a range: the time to send the documents of the corpus at each of the two
rates of --docs-per-second. The output says what the estimate is based on and
what it leaves out. There is no estimate if the length of a trial is unknown.`,
		Example: `  kubectl knee plan -f campaign.yaml
  kubectl knee plan -f campaign.yaml --docs-per-second 60000,250000
  kubectl knee plan -f campaign.yaml --trial-time 25m --search-time 8m --cv 1.5
  kustomize build . | kubectl knee plan -f - -o json`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := terminal.CheckFlagValue("output", output, "", "json", "yaml"); err != nil {
				return err
			}
			if t.Trial < 0 || t.Search < 0 || t.Start < 0 || !(cv >= 0 && cv <= 100) {
				return terminal.Usagef("--trial-time, --search-time and --start-time must not be negative; --cv is in percent and must be from 0 to 100")
			}
			var err error
			if t.Low, t.High, err = parseRates(rates); err != nil {
				return err
			}
			return p.plan(cmd, file, output, t, cv)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&file, "filename", "f", "", "file of one or more campaigns, YAML or JSON; - is standard input")
	flags.StringVarP(&output, "output", "o", "", "json or yaml; unset: text")
	flags.DurationVar(&t.Trial, "trial-time", 0, "how long one trial takes, such as 25m, from the start of its pod until its result is stored, including all waits")
	flags.StringVar(&rates, "docs-per-second", defaultRates, "LOW,HIGH: two assumed rates in docs/s, to estimate the time of a load without a fixed duration, such as the load of an official corpus of opensearch-benchmark")
	flags.DurationVar(&t.Search, "search-time", 0, "how long the search tasks at the end of one Final repetition take (spec.final.search), such as 8m")
	flags.DurationVar(&t.Start, "start-time", forecast.DefaultStart, "time from the request for the nodes of a cell until its OpenSearch is green")
	flags.Float64Var(&cv, "cv", 0, "assumed coefficient of variation of docs/s between repetitions, in percent")
	terminal.PanicOnError(cmd.MarkFlagRequired("filename"))
	terminal.PanicOnError(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"json", "yaml"}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// defaultRates are typical docs/s of the official corpora on one to three nodes of 8 to 16 cores, from few clients to
// the peak.
const defaultRates = "40000,300000"

// parseRates reads LOW,HIGH.
func parseRates(text string) (low, high float64, err error) {
	a, b, found := strings.Cut(text, ",")
	if low, err = strconv.ParseFloat(strings.TrimSpace(a), 64); err == nil && found {
		high, err = strconv.ParseFloat(strings.TrimSpace(b), 64)
	}
	if err != nil || !found || !(low > 0 && low <= high && high < 1e10) {
		return 0, 0, terminal.Usagef("--docs-per-second must be LOW,HIGH: two rates above 0, the lower rate first, such as %s; the given value is %q", defaultRates, text)
	}
	return low, high, nil
}

func (p *plugin) plan(cmd *cobra.Command, file, output string, t forecast.Timing, cv float64) error {
	in, err := p.reader.Open(file)
	if err != nil {
		return terminal.AsUsageError(err)
	}
	defer in.Close()
	campaigns, others, err := source.ReadCampaigns(cmd.Context(), in)
	if err != nil {
		return terminal.Usagef("%s: %w", file, err)
	}
	for _, other := range others {
		terminal.PrintNote(p.streams.ErrOut, "%s is no campaign and was skipped", other)
	}
	var out struct {
		Campaigns []forecast.Forecast `json:"campaigns"`
	}
	for _, c := range campaigns {
		f, err := forecast.New(c, t, cv)
		if err != nil {
			return fmt.Errorf("campaign %s: %w", c.Name, err)
		}
		out.Campaigns = append(out.Campaigns, f)
	}
	switch output {
	case "json":
		return terminal.PrintJSON(p.streams.Out, out)
	case "yaml":
		text, err := yaml.Marshal(out)
		if err != nil {
			return err
		}
		_, err = p.streams.Out.Write(text)
		return err
	}
	for i, f := range out.Campaigns {
		if i > 0 {
			fmt.Fprintln(p.streams.Out)
		}
		if err := forecastText(p.streams.Out, f); err != nil {
			return err
		}
	}
	return nil
}
