package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// knownSurvivors holds the reason why each mutant of the file of survivors survives.
type knownSurvivors map[string]string

// readSurvivors reads lines of the form "id: reason". It ignores empty lines and lines that start with #.
func readSurvivors(file string) (knownSurvivors, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	out := knownSurvivors{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		id, reason, ok := strings.Cut(line, ": ")
		if !ok || out[id] != "" {
			return nil, fmt.Errorf("%s: the line %q has no reason, or its id is listed twice", file, line)
		}
		out[id] = reason
	}
	return out, nil
}

// checkIDs returns an error if a listed survivor is no mutant.
func (k knownSurvivors) checkIDs(mutants []mutant) error {
	for _, id := range slices.Sorted(maps.Keys(k)) {
		if !slices.ContainsFunc(mutants, func(m mutant) bool { return m.id == id }) {
			return fmt.Errorf("hack/mutate/survivors.txt lists %s, which is no mutant (any more): delete the line", id)
		}
	}
	return nil
}

// judge returns an error if the tests kill a listed survivor, or if they kill too few mutants.
func (k knownSurvivors) judge(results []result, complete bool) error {
	var errs []error
	killed := 0
	for _, r := range results {
		reason, listed := k[r.mutant.id]
		switch {
		case r.killer != "" && listed:
			errs = append(errs, fmt.Errorf("%s is killed by %s: delete its line in hack/mutate/survivors.txt", r.mutant.id, r.killer))
		case r.killer == "" && !listed:
			fmt.Printf("survived, not listed: %s\n", r.mutant)
		case r.killer == "":
			fmt.Printf("survived, listed: %s: %s\n", r.mutant, reason)
		}
		if r.killer != "" {
			killed++
		}
	}
	if share := float64(killed) / float64(len(results)); complete && share < leastKilled {
		errs = append(errs, fmt.Errorf("%d of %d mutants are killed (%.1f %%), fewer than %g %%", killed, len(results), 100*share, 100*leastKilled))
	}
	return errors.Join(errs...)
}

// printSummary prints the numbers of mutants by package.
func printSummary(results []result) {
	type counts struct{ all, killed int }
	by := map[string]counts{}
	total := counts{}
	for _, r := range results {
		c := by[r.mutant.folder()]
		c.all++
		total.all++
		if r.killer != "" {
			c.killed++
			total.killed++
		}
		by[r.mutant.folder()] = c
	}
	fmt.Printf("\n%-30s %7s %7s %8s\n", "package", "mutants", "killed", "survived")
	for _, folder := range slices.Sorted(maps.Keys(by)) {
		c := by[folder]
		fmt.Printf("%-30s %7d %7d %8d\n", folder, c.all, c.killed, c.all-c.killed)
	}
	fmt.Printf("%-30s %7d %7d %8d\n\n", "all", total.all, total.killed, total.all-total.killed)
}
