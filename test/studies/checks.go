package studies

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// where selects a row of comparison.csv.
type where struct{ variant, at, figure string }

// figure checks that a published figure equals the figure in the report, rounded to the given number of decimals. A
// record keeps six significant digits, so figure ignores further digits.
func (r *Result) figure(name string, published, got float64, decimals int) {
	tolerance := 0.5 * math.Pow10(-decimals)
	if published != 0 {
		tolerance = math.Max(tolerance, 0.5*math.Pow10(int(math.Floor(math.Log10(math.Abs(published))))-5))
	}
	r.Checks = append(r.Checks, Check{
		Figure: name, Published: strconv.FormatFloat(published, 'f', decimals, 64), Reproduced: shown(got, decimals),
		OK: math.Abs(got-published) <= tolerance*(1+1e-9),
	})
}

// derived is like figure, for a figure that the study does not print but that follows from its printed figures.
func (r *Result) derived(name string, worked, got float64, decimals int) {
	r.figure(name, worked, got, decimals)
	r.Checks[len(r.Checks)-1].Derived = true
}

// within checks that a published figure lies between two limits. The limits follow from published ranges.
func (r *Result) within(name string, published, low, high float64, decimals int) {
	r.Checks = append(r.Checks, Check{
		Figure: name, Published: shown(published, decimals), Reproduced: fmt.Sprintf("%s to %s", shown(low, decimals+1), shown(high, decimals+1)),
		OK: published >= low && published <= high,
	})
}

// word checks a published word.
func (r *Result) word(name, published, got string) {
	r.Checks = append(r.Checks, Check{Figure: name, Published: published, Reproduced: got, OK: got == published})
}

// says checks that the report contains a text. The study does not print this text.
func (r *Result) says(name, text string) {
	got := "not in report.md"
	if strings.Contains(r.Files["report.md"], text) {
		got = text
	}
	r.word(name, text, got)
	r.Checks[len(r.Checks)-1].Derived = true
}

func (r *Result) correct(says, comes string, args ...any) {
	r.Corrections = append(r.Corrections, Correction{says, fmt.Sprintf(comes, args...)})
}

func shown(f float64, decimals int) string {
	if math.IsNaN(f) {
		return "none"
	}
	return strconv.FormatFloat(f, 'f', decimals, 64)
}

// compared returns a figure of comparison.csv: the variant's, the baseline's, or their ratio, depending on the column.
func (r *Result) compared(at where, column string) float64 {
	return r.cell("comparison.csv", column, map[string]string{"variant": at.variant, "at": at.at, "figure": at.figure})
}

// cell returns a figure of a CSV file of the report. The file must have exactly one row with the values in has;
// otherwise cell returns NaN.
func (r *Result) cell(file, column string, has map[string]string) float64 {
	text := r.text(file, column, has)
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return f
}

func (r *Result) text(file, column string, has map[string]string) string {
	all, err := rows(r.Files[file])
	if err != nil {
		return err.Error()
	}
	found, text := 0, "no such row"
	for _, row := range all {
		matches := true
		for name, want := range has {
			matches = matches && row[name] == want
		}
		if got, there := row[column]; matches && there {
			found++
			text = got
		}
	}
	if found > 1 {
		return fmt.Sprintf("%d such rows", found)
	}
	return text
}
