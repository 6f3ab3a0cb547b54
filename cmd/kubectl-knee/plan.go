package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

func (p *plugin) planCommand() *cobra.Command {
	var file, output, rates string
	var cv float64
	var t timing
	cmd := &cobra.Command{
		Use:   "plan -f FILE",
		Short: "Show what a campaign would run, for how long and at what price, before a node is paid for",
		Long: `Show the trials of a campaign, their order, the estimated time and price, and the repetitions that it takes to be
able to conclude. No cluster is needed: the campaign is held against the schema and the rules of the CRD that this
program was built with, and its defaults are filled in.

The estimate rests on the load's own length (time_period and warmup_time_period of the workload, durationSeconds of bulk), or
on --trial-time. For an official workload whose corpus is sent whole it is a range: the documents of the corpus at the two rates
of --docs-per-second. It says what it rests on and what is not in it. Where nothing tells how long a trial takes, there is no
estimate.`,
		Example: `  kubectl knee plan -f campaign.yaml
  kubectl knee plan -f campaign.yaml --docs-per-second 60000,250000
  kubectl knee plan -f campaign.yaml --trial-time 25m --search-time 8m --cv 1.5
  kustomize build . | kubectl knee plan -f - -o json`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("output", output, "", "json", "yaml"); err != nil {
				return err
			}
			if t.trial < 0 || t.search < 0 || t.start < 0 || !(cv >= 0 && cv <= 100) {
				return usagef("--trial-time, --search-time and --start-time must not be negative, and --cv is in percent from 0 to 100")
			}
			var err error
			if t.low, t.high, err = parseRates(rates); err != nil {
				return err
			}
			return p.plan(cmd, file, output, t, cv)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&file, "filename", "f", "", "file of one or more campaigns, YAML or JSON; - is standard input")
	flags.StringVarP(&output, "output", "o", "", "json or yaml; text when unset")
	flags.DurationVar(&t.trial, "trial-time", 0, "how long one trial takes with its waiting, from its pod's start to its record, such as 25m")
	flags.StringVar(&rates, "docs-per-second", defaultRates, "LOW,HIGH: rates between which to reckon a load of an official corpus, where nothing else tells how long it takes")
	flags.DurationVar(&t.search, "search-time", 0, "how long the search tasks of one Final take, such as 8m")
	flags.DurationVar(&t.start, "start-time", jvmStart, "from asking for a cell's nodes until its OpenSearch is green")
	flags.Float64Var(&cv, "cv", 0, "coefficient of variation of docs/s between repetitions to reckon with, in percent")
	must(cmd.MarkFlagRequired("filename"))
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"json", "yaml"}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func (p *plugin) plan(cmd *cobra.Command, file, output string, t timing, cv float64) error {
	in, err := p.open(file)
	if err != nil {
		return usage(err)
	}
	defer in.Close()
	campaigns, others, err := readCampaigns(cmd.Context(), in)
	if err != nil {
		return usagef("%s: %w", file, err)
	}
	for _, other := range others {
		p.note("%s is no campaign and left out", other)
	}
	var out struct {
		Campaigns []forecast `json:"campaigns"`
	}
	for _, c := range campaigns {
		out.Campaigns = append(out.Campaigns, forecastOf(c, t, cv))
	}
	switch output {
	case "json":
		return printJSON(p.streams.Out, out)
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

// clock prints a time from the campaign's start, or a length, to the second.
func clock(seconds *float64) string {
	if seconds == nil {
		return ""
	}
	return time.Duration(*seconds * float64(time.Second)).Round(time.Second).String()
}
