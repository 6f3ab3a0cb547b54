package claims

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Result holds the checks of all documents.
type Result struct {
	Checks  []Check
	figures map[string]Figures
}

// RunAll makes the checks of the five documents with the published figures.
func RunAll() (*Result, error) {
	r := &Result{figures: map[string]Figures{}}
	for _, d := range Documents() {
		f, err := Load(d)
		if err != nil {
			return nil, err
		}
		made, _, err := Run(d, f)
		if err != nil {
			return nil, err
		}
		r.Checks = append(r.Checks, made...)
		r.figures[d] = f
	}
	return r, nil
}

// Failed returns the checks whose verdict is not the expected one.
func (r *Result) Failed() []Check {
	return slices.DeleteFunc(slices.Clone(r.Checks), Check.OK)
}

// Summary returns a text with the number of checks, the contradictions, and the verdicts that are not as expected.
func (r *Result) Summary() string {
	var b strings.Builder
	b.WriteString("# The figures of the five documents against each other\n\n| document | checks | agree within rounding | contradict | not as expected |\n| --- | ---: | ---: | ---: | ---: |\n")
	for _, d := range Documents() {
		var n, agree, contradict, failed int
		for _, c := range r.Checks {
			if c.Document != d {
				continue
			}
			n++
			if c.Verdict == Agrees {
				agree++
			} else {
				contradict++
			}
			if !c.OK() {
				failed++
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", d, n, agree, contradict, failed)
	}
	b.WriteString("\n## Contradictions\n\n")
	writeTable(&b, slices.DeleteFunc(slices.Clone(r.Checks), func(c Check) bool { return c.Verdict == Agrees && c.OK() }))
	b.WriteString("\n## Figures that nothing in their document bears on\n\n| document | place | printed | reason |\n| --- | --- | ---: | --- |\n")
	for _, d := range Documents() {
		reasons := Unchecked(d)
		keys := make([]string, 0, len(reasons))
		for key := range reasons {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			f := r.figures[d][key]
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", d, f.Place, f.Printed, reasons[key])
		}
	}
	return b.String()
}

func writeTable(b *strings.Builder, checks []Check) {
	b.WriteString("| document | place | printed | recomputed | verdict | from |\n| --- | --- | ---: | ---: | --- | --- |\n")
	for _, c := range checks {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", c.Document, c.Place, c.Printed, c.Recomputed, c.shownVerdict(), c.Note)
	}
}

// shownVerdict returns the verdict as text. It is marked if it is not the expected one.
func (c Check) shownVerdict() string {
	if c.OK() {
		return string(c.Verdict)
	}
	return fmt.Sprintf("**%s, expected: %s**", c.Verdict, c.Expected)
}

// Write writes two files into a folder: documents.md with the summary and all checks, and documents.csv.
func (r *Result) Write(dir string) error {
	var all strings.Builder
	all.WriteString(r.Summary() + "\n## All checks\n\n")
	writeTable(&all, r.Checks)
	var table bytes.Buffer
	w := csv.NewWriter(&table)
	lines := [][]string{{"document", "key", "place", "printed", "recomputed", "verdict", "expected", "note"}}
	for _, c := range r.Checks {
		lines = append(lines, []string{c.Document, c.Key, c.Place, c.Printed, c.Recomputed, string(c.Verdict), string(c.Expected), c.Note})
	}
	if err := w.WriteAll(lines); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "documents.md"), []byte(all.String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "documents.csv"), table.Bytes(), 0o644)
}
