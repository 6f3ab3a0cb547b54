// Package compare compares two campaigns, bundles, or runs of one campaign, for kubectl knee compare.
package compare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/knee-bench/knee/internal/plugin/source"
	"github.com/knee-bench/knee/internal/plugin/terminal"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report/view"
)

// Command returns the subcommand compare.
func Command(streams genericiooptions.IOStreams, reader source.Reader) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two campaigns, bundles, or runs of one campaign",
		Long: `Compare two campaigns, bundles, or runs of one campaign, cell by cell: knees,
peaks and the Finals' docs/s, each as the ratio of B to A. Cells are matched by
the names of their variant and topology.

A and B are names of campaigns or paths of bundles. NAME@TOKEN is the run that
the campaign made while spec.rerun was TOKEN. The rest of the spec must have
been the same as now. NAME@ is the run without a token.

The trials of two campaigns are not interleaved: a difference may come from the
day or the machine. The command reports different machines and days, and lists
the differences between what the nodes report.`,
		Example: `  kubectl knee compare before after
  kubectl knee compare arm-vs-intel@ arm-vs-intel@second
  kubectl knee compare monday.tar.gz friday.tar.gz -o json`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: reader.CampaignNames(2, cobra.ShellCompDirectiveDefault),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := terminal.CheckFlagValue("output", output, "", "json"); err != nil {
				return err
			}
			var sides [2]side
			for i, arg := range args {
				var err error
				if sides[i], err = findSide(cmd.Context(), reader, arg); err != nil {
					return err
				}
			}
			if a, b := sides[0].in.Assessment.Unit, sides[1].in.Assessment.Unit; a != b {
				return fmt.Errorf("the rate of %s is in %s, but the rate of %s is in %s: only campaigns with the same unit can be compared", args[0], a, args[1], b)
			}
			result := compare(sides[0], sides[1])
			if output == "json" {
				return terminal.PrintJSON(streams.Out, result)
			}
			return comparisonText(streams.Out, result)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "output format: json; unset: text")
	terminal.PanicOnError(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"json"}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// side is one of the two compared campaigns or runs.
type side struct {
	name string // name as the user wrote it
	in   view.Input
}

// findSide finds a campaign or a bundle. The argument may also name one run (a rerun token) of the campaign or the bundle.
func findSide(ctx context.Context, reader source.Reader, arg string) (side, error) {
	name, token, ofRun := arg, "", false
	if _, err := os.Stat(arg); err != nil {
		if at := strings.LastIndex(arg, "@"); at > 0 {
			name, token, ofRun = arg[:at], arg[at+1:], true
		}
	}
	s, err := reader.Read(ctx, name)
	if err != nil {
		return side{}, err
	}
	if ofRun {
		s.Campaign.Spec.Rerun = token
	}
	in, err := s.ReportInput()
	if err != nil {
		return side{}, err
	}
	in.Records = plannedRecords(in)
	if len(in.Records) == 0 {
		if ofRun {
			return side{}, fmt.Errorf("%s has no record of a run with spec.rerun %q: check the text after @, and whether other spec fields have changed since that run", s.From, token)
		}
		return side{}, errors.New(s.From + ": no trial has ended yet, so there is nothing to compare")
	}
	return side{arg, in}, nil
}

// plannedRecords returns the records of the plan's cells. It leaves out the records of other runs.
func plannedRecords(in view.Input) []record.Record {
	cells := map[string]bool{}
	for _, c := range in.Plan.Cells {
		cells[c.Hash] = true
	}
	return slices.DeleteFunc(slices.Clone(in.Records), func(r record.Record) bool {
		return !cells[r.Attempt.Cell] || r.Attempt.Campaign != string(in.Plan.Campaign)
	})
}
