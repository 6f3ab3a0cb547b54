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

// allowed are the SPDX identifiers of licences that require only that their text is shipped with the programs. None of
// them requires shipping the source code. OFL-1.1 is the licence of fonts in the reports.
var allowed = []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "OFL-1.1", "Unlicense"}

// leastKnown is the smallest share of known licence text in a licence file, in percent of the words. The rest may be
// the copyright line and a few sentences.
const leastKnown = 75

var (
	licenceFile = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying)`)
	noticeFile  = regexp.MustCompile(`(?i)^(notice|patents)`)
)

// licence is the content of the licence files of a module.
type licence struct {
	ids     []string // sorted
	texts   []string // of licence and notice files
	problem error    // why the module must not be shipped; nil if it may
}

// read adds one file if it is a licence or a notice.
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

// licenceOf reads the licence files that apply to the packages of a module.
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

// identify returns the licences in a text. If a licence is not acceptable, the error contains the reason.
func identify(text []byte) ([]string, error) {
	coverage := licensecheck.Scan(text)
	var ids []string
	var refused []string
	for _, match := range coverage.Match {
		if match.IsURL {
			continue // only a link to a licence; the licence text itself counts
		}
		ids = append(ids, match.ID)
		if !slices.Contains(allowed, match.ID) {
			refused = append(refused, match.ID)
		}
	}
	switch {
	case len(refused) > 0:
		return ids, fmt.Errorf("licence %s is not among the allowed ones (%s)", strings.Join(refused, ", "), strings.Join(allowed, ", "))
	case len(ids) == 0 || coverage.Percent < leastKnown:
		return ids, fmt.Errorf("only %.0f %% is the text of a known licence, less than %d %%: read the file and add it to reviewed.go", coverage.Percent, leastKnown)
	}
	return ids, nil
}

// checkLicences fails if any module in the packages has no allowed licence.
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
	fmt.Printf("licences of %d modules, including the Go standard library:", len(modules))
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
