package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// allowed are the licences, by SPDX identifier, whose terms are met by giving their texts along with the programs.
// None of them asks for the source of what is linked with it. OFL-1.1 is that of fonts, which the reports embed.
var allowed = []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "OFL-1.1", "Unlicense"}

// wanted is the least share of a licence file, in percent of its words, that has to be known text: the rest is the
// copyright line and a sentence or two.
const wanted = 75

var (
	licenceFile = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying)`)
	noticeFile  = regexp.MustCompile(`(?i)^(notice|patents)`)
)

// licence is what a module's files say.
type licence struct {
	ids     []string // sorted
	texts   []string // with those of notices
	problem error    // what keeps the module from being shipped
}

// read takes in one file.
func (l *licence) read(m module, file string) error {
	name := filepath.Base(file)
	isLicence := licenceFile.MatchString(name)
	if strings.HasSuffix(name, ".go") || !isLicence && !noticeFile.MatchString(name) {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	l.texts = append(l.texts, strings.TrimSpace(string(text)))
	if !isLicence {
		return nil
	}
	if r, known := reviewOf(text); known {
		l.ids = append(l.ids, r.id)
		if r.also == "" {
			return nil
		}
		text, err = os.ReadFile(filepath.Join(filepath.Dir(file), r.also))
		l.texts = append(l.texts, strings.TrimSpace(string(text)))
		return err
	}
	ids, err := identify(text)
	l.ids = append(l.ids, ids...)
	if err != nil {
		relative, _ := filepath.Rel(m.dir, file)
		l.problem = errors.Join(l.problem, fmt.Errorf("%s %s: %s: %w", m.path, m.version, relative, err))
	}
	return nil
}

// licenceOf reads the licence files that bind a module's packages.
func licenceOf(m module) (licence, error) {
	var l licence
	for _, folder := range m.folders() {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return l, err
		}
		for _, entry := range entries {
			if entry.IsDir() {
				continue
			}
			if err := l.read(m, filepath.Join(folder, entry.Name())); err != nil {
				return l, err
			}
		}
	}
	if len(l.ids) == 0 && l.problem == nil {
		l.problem = fmt.Errorf("%s %s: there is no licence file", m.path, m.version)
	}
	slices.Sort(l.ids)
	l.ids = slices.Compact(l.ids)
	return l, nil
}

// identify names the licences in a text; the error tells why they do not do.
func identify(text []byte) ([]string, error) {
	coverage := licensecheck.Scan(text)
	var ids []string
	var refused []string
	for _, match := range coverage.Match {
		if match.IsURL {
			continue // a reference to a licence, whose text counts
		}
		ids = append(ids, match.ID)
		if !slices.Contains(allowed, match.ID) {
			refused = append(refused, match.ID)
		}
	}
	switch {
	case len(refused) > 0:
		return ids, fmt.Errorf("licence %s is not among the allowed ones (%s)", strings.Join(refused, ", "), strings.Join(allowed, ", "))
	case len(ids) == 0 || coverage.Percent < wanted:
		return ids, fmt.Errorf("only %.0f %% of it is the text of a known licence, %d %% is wanted: read it", coverage.Percent, wanted)
	}
	return ids, nil
}

// checkLicences fails when a module that the packages are built from has no allowed licence.
func checkLicences(packages []string) error {
	modules, err := modulesOf(packages)
	if err != nil {
		return err
	}
	counts := map[string]int{}
	var problems []error
	for _, m := range modules {
		l, err := licenceOf(m)
		if err != nil {
			return err
		}
		counts[strings.Join(l.ids, " and ")]++
		problems = append(problems, l.problem)
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	fmt.Printf("licences of %d modules, the Go standard library among them:", len(modules))
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = fmt.Sprintf(" %s: %d", name, counts[name])
	}
	fmt.Println(strings.Join(names, ","))
	return nil
}
