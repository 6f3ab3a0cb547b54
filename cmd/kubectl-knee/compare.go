package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knee-bench/knee/internal/report"
)

func (p *plugin) compareCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two campaigns, bundles, or runs of one campaign, cell by cell",
		Long: `Compare two campaigns, bundles, or runs of one campaign, cell by cell: knees, peaks and the Finals' docs/s, each as the
ratio of B to A. Cells are matched by the names of their variant and topology.

A and B are names of campaigns or paths of bundles. NAME@TOKEN is the run that the campaign made when spec.rerun was
TOKEN (NAME@ the one without a token), which otherwise has the same spec as now.

Two campaigns are not interleaved: what differs may be the day or the machine. The command says where machines and
days differ, and lists what the nodes say that differs.`,
		Example: `  kubectl knee compare before after
  kubectl knee compare arm-vs-intel@ arm-vs-intel@second
  kubectl knee compare monday.tar.gz friday.tar.gz -o json`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: p.campaignNames(2, cobra.ShellCompDirectiveDefault),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("output", output, "", "json"); err != nil {
				return err
			}
			var sides [2]side
			for i, arg := range args {
				var err error
				if sides[i], err = p.side(cmd.Context(), arg); err != nil {
					return err
				}
			}
			if a, b := sides[0].in.Assessment.Unit, sides[1].in.Assessment.Unit; a != b {
				return fmt.Errorf("%s counts %s and %s counts %s: only campaigns of one unit can be compared", args[0], a, args[1], b)
			}
			result := compare(sides[0], sides[1])
			if output == "json" {
				return printJSON(p.streams.Out, result)
			}
			return comparisonText(p.streams.Out, result)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "json; text when unset")
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"json"}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// side is one of the two that are compared.
type side struct {
	name string // as it was asked for
	in   report.Input
}

// side finds a campaign or a bundle, or a run of one.
func (p *plugin) side(ctx context.Context, arg string) (side, error) {
	name, token, ofRun := arg, "", false
	if _, err := os.Stat(arg); err != nil {
		if at := strings.LastIndex(arg, "@"); at > 0 {
			name, token, ofRun = arg[:at], arg[at+1:], true
		}
	}
	s, err := p.fromAnywhere(ctx, name)
	if err != nil {
		return side{}, err
	}
	if ofRun {
		s.Campaign.Spec.Rerun = token
	}
	in, err := s.input()
	if err != nil {
		return side{}, err
	}
	in.Records = planned(in)
	if len(in.Records) == 0 {
		if ofRun {
			return side{}, fmt.Errorf("%s has no record of a run with spec.rerun %q that otherwise has the spec of now", s.from, token)
		}
		return side{}, errors.New(s.from + " has no record yet: no trial has ended")
	}
	return side{arg, in}, nil
}
