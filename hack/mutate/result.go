package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// outcome is what the tests found about a mutant.
type outcome string

const (
	killed   outcome = "killed"   // a test failed
	timedOut outcome = "TIMEOUT"  // a test exceeded its limit: counts as killed, because the mutant may never end
	survived outcome = "SURVIVED" // all tests passed
)

// result is the outcome of one mutant.
type result struct {
	mutant  mutant
	outcome outcome
	by      string // the test that failed or did not end
	took    time.Duration
}

func (r result) String() string {
	by := ""
	if r.by != "" {
		by = " by " + r.by
	}
	return fmt.Sprintf("%s %s%s (%.0f s)", r.outcome, r.mutant, by, r.took.Seconds())
}

// countKilled returns the number of the mutants that did not survive.
func countKilled(results []result) int {
	n := 0
	for _, r := range results {
		if r.outcome != survived {
			n++
		}
	}
	return n
}

// printSummary prints the numbers of mutants by package, and then the timeouts.
func printSummary(out io.Writer, results []result) {
	byFolder, all := map[string]map[outcome]int{}, map[outcome]int{}
	for _, r := range results {
		folder := r.mutant.folder()
		if byFolder[folder] == nil {
			byFolder[folder] = map[outcome]int{}
		}
		byFolder[folder][r.outcome]++
		all[r.outcome]++
	}
	fmt.Fprintf(out, "\n%-30s %7s %7s %7s %8s\n", "package", "mutants", "killed", "timeout", "survived")
	printRow := func(name string, n map[outcome]int) {
		fmt.Fprintf(out, "%-30s %7d %7d %7d %8d\n", name, n[killed]+n[timedOut]+n[survived], n[killed], n[timedOut], n[survived])
	}
	for _, folder := range slices.Sorted(maps.Keys(byFolder)) {
		printRow(folder, byFolder[folder])
	}
	printRow("all", all)
	fmt.Fprintln(out)
	for _, r := range results {
		if r.outcome == timedOut {
			fmt.Fprintf(out, "timeout, counted as killed: %s by %s\n", r.mutant, r.by)
		}
	}
}
