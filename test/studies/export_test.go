package studies

// Recheck repeats the checks of a result with another comparison.csv.
func (s Study) Recheck(r *Result, comparison string) (*Result, error) {
	again := &Result{Study: s, input: r.input, Files: map[string]string{}}
	for name, text := range r.Files {
		again.Files[name] = text
	}
	again.Files["comparison.csv"] = comparison
	return again, s.checks(again)
}
