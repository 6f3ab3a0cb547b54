// Package assert judges whether a finished campaign shows a regression, for kubectl knee assert.
package assert

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plugin/source"
	"github.com/knee-bench/knee/internal/plugin/terminal"
	"github.com/knee-bench/knee/internal/plugin/wait"
	"github.com/knee-bench/knee/internal/plugin/watch"
)

// summaryVariable is the environment variable with which GitHub Actions passes the file of a step's summary.
const summaryVariable = "GITHUB_STEP_SUMMARY"

// outputs are the values of --output.
var outputs = []string{"", "json", "junit"}

// flags are the flags of assert.
type flags struct {
	maxRegression     float64
	variants          []string
	allowInconclusive bool
	wait              bool
	timeout           time.Duration
	output            string
	summary           string
}

// Command returns the subcommand assert.
func Command(streams genericiooptions.IOStreams, reader source.Reader) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:        "assert NAME",
		SuggestFor: []string{"gate", "check", "verdict"},
		Short:      "Fail if a finished campaign shows a regression, for pipelines",
		Long: `Judge the ratio of each variant to the baseline on the same topology, and end
with an exit code that a pipeline can act on. The ratios and their intervals
come from the status of the campaign. Comparisons of spec.comparisons are not
judged, because their cells may be meant to differ.

With --max-regression 3 the limit is a ratio of 0.97. The results are:
  Regression    The whole interval of the ratio is below the limit: the
                measurements exclude every ratio that is allowed. An estimate
                below the limit is no Regression if the interval contains the
                limit.
  Passed        The whole interval is at or above the limit: the measurements
                exclude every larger regression. An estimate above the limit
                is not enough.
  Inconclusive  The interval contains the limit, is missing, or has a lower
                confidence than all comparisons together require. Or it is at
                or above the limit, but the condition Conclusive names a doubt
                other than TooFewRepetitions and NotDistinguishable, which
                the interval itself shows.
  NotMeasured   There is no ratio: a cell has no valid measurement.
The intervals of all comparisons of a campaign hold together at 95 %.

An inconclusive comparison fails, because otherwise a noisy measurement would
let a regression pass. --allow-inconclusive accepts it. It accepts neither
Regression nor NotMeasured.

Exit codes:
  0  each comparison is Passed, or Inconclusive and accepted
  1  the request failed, or the command was interrupted
  2  wrong usage, or the campaign compares nothing with a baseline
  3  the campaign is stalled: a user must act
  4  the campaign is not finished, or not within the timeout
  5  the campaign does not exist, or was deleted
  6  a comparison is Inconclusive
  7  a comparison is NotMeasured
  8  a comparison is a Regression
If several results occur, it is the highest of their codes.`,
		Example: `  kubectl knee assert next-release --wait --timeout 12h --max-regression 3
  kubectl knee assert next-release -o junit > knee.xml
  kubectl knee assert next-release --github-step-summary`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: reader.CampaignNames(1, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, streams, reader, args[0])
		},
	}
	set := cmd.Flags()
	set.Float64Var(&f.maxRegression, "max-regression", 0, "largest allowed regression in `PERCENT` of the baseline; unset: spec.final.smallestDifferencePercent")
	set.StringSliceVar(&f.variants, "variant", nil, "judge only these variants; unset: all except the baseline")
	set.BoolVar(&f.allowInconclusive, "allow-inconclusive", false, "an Inconclusive comparison does not fail")
	set.BoolVar(&f.wait, "wait", false, "wait until the campaign is finished, like kubectl knee wait")
	set.DurationVar(&f.timeout, "timeout", 0, "with --wait: stop waiting after this time, such as 12h; 0: wait without limit")
	set.StringVarP(&f.output, "output", "o", "", "json, or junit for JUnit XML; unset: a table")
	set.StringVar(&f.summary, "github-step-summary", "", "append the result as Markdown to this `FILE`; without a value: to the file in $"+summaryVariable)
	set.Lookup("github-step-summary").NoOptDefVal = "$" + summaryVariable
	terminal.PanicOnError(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(outputs[1:], cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func (f flags) run(cmd *cobra.Command, streams genericiooptions.IOStreams, reader source.Reader, name string) error {
	maxRegression, err := f.check(cmd.Flags().Changed)
	if err != nil {
		return err
	}
	finished, err := f.finishedCampaign(cmd.Context(), streams, reader, name)
	if err != nil {
		return err
	}
	report, err := Judge(finished, maxRegression, f.variants)
	if err != nil {
		return err
	}
	if err := f.print(streams.Out, report); err != nil {
		return err
	}
	if f.summary != "" {
		if err := appendFile(f.summary, Markdown(report, f.allowInconclusive)); err != nil {
			return fmt.Errorf("--github-step-summary: %w", err)
		}
	}
	return report.failure(f.allowInconclusive)
}

// check checks the flags before anything is waited for. It replaces the summary by the name of its file, and returns the largest allowed
// regression, or nil if the flag is not set.
func (f *flags) check(changed func(flag string) bool) (maxRegression *float64, err error) {
	if err := terminal.CheckFlagValue("output", f.output, outputs...); err != nil {
		return nil, err
	}
	if f.timeout != 0 && !f.wait {
		return nil, terminal.Usagef("--timeout requires --wait")
	}
	if f.summary == "$"+summaryVariable {
		if f.summary = os.Getenv(summaryVariable); f.summary == "" {
			return nil, terminal.Usagef("--github-step-summary: the environment variable %s is not set, because this is no step of GitHub Actions; name a file with --github-step-summary=FILE", summaryVariable)
		}
	}
	if !changed("max-regression") {
		return nil, nil
	}
	if !(f.maxRegression >= 0 && f.maxRegression < 100) { // also refuses NaN
		return nil, terminal.Usagef("--max-regression is in percent, from 0 to less than 100, not %g", f.maxRegression)
	}
	return &f.maxRegression, nil
}

// finishedCampaign returns the campaign when it is finished. Without --wait it returns an error if the campaign is not finished now.
func (f flags) finishedCampaign(ctx context.Context, streams genericiooptions.IOStreams, reader source.Reader, name string) (*v1alpha1.BenchmarkCampaign, error) {
	c, namespace, err := reader.Connect()
	if err != nil {
		return nil, err
	}
	key := client.ObjectKey{Namespace: namespace, Name: name}
	if f.wait {
		return wait.ForOne(ctx, streams, c, key, f.timeout)
	}
	var now v1alpha1.BenchmarkCampaign
	if err := c.Get(ctx, key, &now); err != nil {
		if client.IgnoreNotFound(err) == nil {
			err = &terminal.ExitError{Code: terminal.ExitNotFound, Err: err}
		}
		return nil, err
	}
	switch over, err := watch.Outcome(&now); {
	case over && err != nil:
		return nil, &terminal.ExitError{Code: terminal.ExitStalled, Err: err}
	case !over:
		return nil, &terminal.ExitError{Code: terminal.ExitNotFinished, Err: fmt.Errorf("campaign %s is not finished: %s; wait for it with --wait",
			key, watch.ProgressLine(now.Status, time.Time{}))}
	}
	return &now, nil
}

func (f flags) print(out io.Writer, r Report) error {
	switch f.output {
	case "json":
		return terminal.PrintJSON(out, r)
	case "junit":
		text, err := JUnit(r, f.allowInconclusive)
		if err != nil {
			return err
		}
		_, err = out.Write(text)
		return err
	}
	return printTable(out, r)
}

// failure returns an error with the exit code of the report. It returns nil if the report does not fail.
func (r Report) failure(allowInconclusive bool) error {
	code, parts := 0, []string(nil)
	for _, kind := range []struct {
		result Result
		code   int
	}{{Regression, terminal.ExitRegression}, {NotMeasured, terminal.ExitNotMeasured}, {Inconclusive, terminal.ExitInconclusive}} {
		n := r.count(kind.result)
		if n == 0 || kind.result == Inconclusive && allowInconclusive {
			continue
		}
		code = max(code, kind.code)
		parts = append(parts, fmt.Sprintf("%d %s", n, kind.result))
	}
	if code == 0 {
		return nil
	}
	return &terminal.ExitError{Code: code, Err: fmt.Errorf("campaign %s/%s: %s of %s with a largest allowed regression of %s %%",
		r.Namespace, r.Campaign, strings.Join(parts, ", "), terminal.FormatCount(len(r.Comparisons), "comparison"), format(r.MaxRegressionPercent))}
}

// appendFile appends a text to a file. The steps of a job may share the file.
func appendFile(path, text string) (err error) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}
