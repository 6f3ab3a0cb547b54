package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

const survivorsFile = "hack/mutate/survivors.txt"

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
			return fmt.Errorf("%s lists %s, which is no mutant (any more): delete the line", survivorsFile, id)
		}
	}
	return nil
}

// judge returns an error for each survivor that is not listed and for each listed survivor that is killed. If all mutants are
// tested, it also returns an error if too few are killed.
func (k knownSurvivors) judge(results []result, complete bool) error {
	var errs []error
	for _, r := range results {
		_, listed := k[r.mutant.id]
		switch {
		case r.outcome == survived && !listed:
			errs = append(errs, fmt.Errorf("survived: %s: write a test that fails, or list the mutant with the reason in %s", r.mutant, survivorsFile))
		case r.outcome != survived && listed:
			errs = append(errs, fmt.Errorf("%s is killed by %s: delete its line in %s", r.mutant.id, r.by, survivorsFile))
		}
	}
	if n := countKilled(results); complete && float64(n) < leastKilled*float64(len(results)) {
		errs = append(errs, fmt.Errorf("%d of %d mutants are killed (%.1f %%), fewer than %g %%",
			n, len(results), 100*float64(n)/float64(len(results)), 100*leastKilled))
	}
	return errors.Join(errs...)
}
