package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// module is the import path of the repository.
const module = "github.com/knee-bench/knee/"

// mutant is a change of one file.
type mutant struct {
	id      string // unique: a number of the list by hand, or the package, function, kind of change and its ordinal in the function
	file    string // path in the repository
	line    int
	changes string // the change, for a reader
	source  []byte // content of the changed file
}

func (m mutant) String() string {
	return fmt.Sprintf("%-44s %s:%d %s", m.id, m.file, m.line, m.changes)
}

func (m mutant) folder() string { return path.Dir(m.file) }

// newMutant replaces the bytes from start to end of a file.
func newMutant(id, file string, source []byte, start, end int, with, changes string) mutant {
	return mutant{
		id: id, file: file, line: 1 + bytes.Count(source[:start], []byte("\n")), changes: changes,
		source: slices.Concat(source[:start], []byte(with), source[end:]),
	}
}

// change is a change by hand. The text before must occur exactly once in the file.
type change struct{ id, file, before, after, what string }

// handMade returns the mutants of the list by hand.
func handMade() ([]mutant, error) {
	var out []mutant
	var errs []string
	compiles := map[string]func(mutant) bool{}
	for _, c := range changes {
		source, err := os.ReadFile(c.file)
		if err != nil {
			return nil, err
		}
		if n := bytes.Count(source, []byte(c.before)); n != 1 {
			errs = append(errs, fmt.Sprintf("%s: the text %q occurs %d times in %s, not once: change the entry in hack/mutate/by_hand.go", c.id, c.before, n, c.file))
			continue
		}
		start := bytes.Index(source, []byte(c.before))
		m := newMutant(c.id, c.file, source, start, start+len(c.before), c.after, c.what)
		if compiles[m.folder()] == nil {
			if compiles[m.folder()], err = newChecker(m.folder()); err != nil {
				return nil, err
			}
		}
		if !compiles[m.folder()](m) {
			errs = append(errs, c.id+" does not compile: change the entry in hack/mutate/by_hand.go")
		}
		out = append(out, m)
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("%s", strings.Join(errs, "\n"))
	}
	return out, nil
}

// judges returns the packages whose tests judge a folder: first the folder itself.
func judges(folder string) []string {
	others := map[string][]string{
		"internal/decide":              {"internal/simulate"},
		"internal/verdict":             {"internal/verdict/campaign"},
		"internal/verdict/campaign":    {"internal/verdict/doubts", "internal/decide", "internal/report"},
		"internal/verdict/doubts":      {"internal/report"},
		"internal/verdict/environment": {"internal/report"},
		"internal/verdict/gates":       {"internal/verdict/campaign"},
		"internal/verdict/stats":       {"internal/verdict/sweep", "internal/verdict/campaign", "internal/offline"},
		"internal/verdict/sweep":       {"internal/verdict/campaign"},
	}
	return append([]string{folder}, others[folder]...)
}

// packagesOf returns the packages whose tests judge the mutants.
func packagesOf(mutants []mutant) []string {
	var out []string
	for _, m := range mutants {
		for _, p := range judges(m.folder()) {
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}
