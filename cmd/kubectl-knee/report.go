package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knee-bench/knee/internal/plugin/source"
	"github.com/knee-bench/knee/internal/plugin/terminal"
	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/version"
)

// reportFlags are the flags of report.
type reportFlags struct {
	bundle, dir          string
	md, html             bool
	csv, files           []string
	open, verify, remake bool
}

func (p *plugin) reportCommand() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report (NAME | --from-bundle FILE)",
		Short: "Show a campaign's report, in the terminal or in a browser",
		Long: `Read a campaign's report. Without a flag, a summary is shown. --md, --html and
--csv print files of the report, -o writes all files into a folder, and --open
shows the report in a browser.

For a campaign on the cluster, these are the files that the operator wrote. With
--remake, or for a bundle, the command makes the files from the records.
--verify makes all files from the records and compares each file with the stored
file. The exit code is 1 if a file differs.`,
		Example: `  kubectl knee report arm-vs-intel
  kubectl knee report arm-vs-intel --md > report.md
  kubectl knee report arm-vs-intel --csv results.csv
  kubectl knee report arm-vs-intel --open
  kubectl knee report --from-bundle arm-vs-intel.tar.gz --verify`,
		Args: func(_ *cobra.Command, args []string) error {
			if (f.bundle == "") != (len(args) == 1) || len(args) > 1 {
				return errors.New("give either the name of one campaign or a bundle (--from-bundle FILE)")
			}
			return nil
		},
		ValidArgsFunction: p.reader.CampaignNames(1, cobra.ShellCompDirectiveNoFileComp),
		RunE:              func(cmd *cobra.Command, args []string) error { return p.report(cmd.Context(), f, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.bundle, "from-bundle", "", "bundle of kubectl knee export to read instead of the cluster; - is standard input")
	flags.BoolVar(&f.md, "md", false, "print report.md")
	flags.BoolVar(&f.html, "html", false, "print report.html")
	flags.StringSliceVar(&f.csv, "csv", nil, "print CSV files of the report by name, one after the other, such as results.csv")
	flags.StringSliceVar(&f.files, "file", nil, "print files of the report by name")
	flags.StringVarP(&f.dir, "output-dir", "o", "", "folder for all files of the report; it is created if it does not exist")
	flags.BoolVar(&f.open, "open", false, "show report.html in a browser")
	flags.BoolVar(&f.remake, "remake", false, "make the report from the records instead of reading the files that the operator wrote")
	flags.BoolVar(&f.verify, "verify", false, "make the report from the records, and compare it with the stored files")
	cmd.MarkFlagsMutuallyExclusive("md", "html", "csv", "file", "open", "verify", "output-dir")
	return cmd
}

func (p *plugin) report(ctx context.Context, f reportFlags, args []string) error {
	s, err := p.reportSource(ctx, f.bundle, args)
	if err != nil {
		return err
	}
	if !f.remake && f.bundle == "" || f.verify {
		if err := s.CheckHasReport(); err != nil {
			return err
		}
	}
	in, err := s.ReportInput()
	if err != nil {
		return err
	}
	if f.verify {
		return p.verify(s, report.Files(in))
	}
	files := s.Report
	if f.remake || f.bundle != "" {
		files = report.Files(in)
	}
	switch {
	case f.dir != "":
		return writeFiles(f.dir, files)
	case f.open:
		return p.show(ctx, in.Name, files)
	}
	wanted := slices.Concat(f.csv, f.files)
	if f.md {
		wanted = append(wanted, "report.md")
	}
	if f.html {
		wanted = append(wanted, "report.html")
	}
	if len(wanted) > 0 {
		return p.print(s.From, files, wanted)
	}
	return printSummary(p.streams.Out, s, in)
}

func (p *plugin) reportSource(ctx context.Context, bundle string, args []string) (source.Source, error) {
	if bundle != "" {
		return p.reader.ReadFromBundle(bundle)
	}
	return p.reader.ReadFromCluster(ctx, args[0])
}

// print prints files of a report. If one of the wanted files is missing, print prints nothing.
func (p *plugin) print(from string, files map[string]string, wanted []string) error {
	for _, name := range wanted {
		if _, there := files[name]; !there {
			return fmt.Errorf("the report of %s has no file %q; its files are %s", from, name, strings.Join(slices.Sorted(maps.Keys(files)), ", "))
		}
	}
	for _, name := range wanted {
		if _, err := fmt.Fprint(p.streams.Out, files[name]); err != nil {
			return err
		}
	}
	return nil
}

func writeFiles(dir string, files map[string]string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name != filepath.Base(name) {
			return terminal.Usagef("the report has a file with the name %q, which is not a plain file name", name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(files[name]), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// verify compares a stored report with the report that the records give now.
func (p *plugin) verify(s source.Source, made map[string]string) error {
	differ := 0
	say := func(name, what string) { fmt.Fprintf(p.streams.Out, "%s  %s\n", what, terminal.Printable(name)) }
	all := maps.Clone(made)
	maps.Copy(all, s.Report)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		was, stored := s.Report[name]
		is, again := made[name]
		switch {
		case was == is && stored && again:
			say(name, "equal  ")
			continue
		case !again:
			say(name, "only stored")
		case !stored:
			say(name, "only regenerated")
		default:
			say(name, "differs")
			line, old, now := firstDifference(was, is)
			fmt.Fprintf(p.streams.Out, "  line %d stored:      %s\n  line %d regenerated: %s\n", line, excerpt(old), line, excerpt(now))
		}
		differ++
	}
	if differ > 0 {
		return fmt.Errorf("%d of %d files in the stored report of %s differ from the files made from the records now; Knee %s wrote the report, and Knee %s on %s made the new files"+
			"; the last digits of figures may differ between amd64 and arm64",
			differ, len(all), s.From, terminal.OrDash(s.Versions.Knee), version.Version, runtime.GOARCH)
	}
	return nil
}

// firstDifference returns the first line, counted from 1, in which two texts differ.
func firstDifference(a, b string) (line int, inA, inB string) {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(x), len(y)) {
		if inA, inB = lineAt(x, i), lineAt(y, i); inA != inB {
			return i + 1, inA, inB
		}
	}
	return 0, "", ""
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

func excerpt(s string) string { return terminal.Printable(terminal.Shorten(s, 200)) }
