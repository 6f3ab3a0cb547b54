package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// result is what the tests found about a mutant.
type result struct {
	mutant mutant
	killer string // the test that failed; empty: the mutant survived
	took   time.Duration
}

func (r result) String() string {
	if r.killer == "" {
		return fmt.Sprintf("SURVIVED %s (%.0f s)", r.mutant, r.took.Seconds())
	}
	return fmt.Sprintf("killed %s by %s (%.0f s)", r.mutant, r.killer, r.took.Seconds())
}

// tester runs the tests of mutants.
type tester struct{ folder, checkout string }

func newTester() (*tester, error) {
	checkout, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "mutate-")
	return &tester{folder, checkout}, err
}

func (t *tester) close() { os.RemoveAll(t.folder) }

// timeout is how long the tests of one package may take. A test that does not end notices the mutant.
const timeout = 100 * time.Second

// slow matches the tests that only bound the size and the time of the largest campaign.
const slow = "_largest"

// testUnchanged runs the tests of the unchanged code, which must pass.
func (t *tester) testUnchanged(packages []string) error {
	for _, p := range packages {
		if failed, output, err := goTest(p, ""); err != nil || failed {
			return errors.Join(fmt.Errorf("the tests of %s fail without a mutant:\n%s", p, output), err)
		}
	}
	return nil
}

// test runs the tests that judge a mutant, up to the first package with a failure.
func (t *tester) test(m mutant) (result, error) {
	start := time.Now()
	r := result{mutant: m}
	name := regexp.MustCompile(`\W`).ReplaceAllString(m.id, "-")
	changed, overlay := filepath.Join(t.folder, name+".go"), filepath.Join(t.folder, name+".json")
	text, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(t.checkout, m.file): changed}})
	if err = errors.Join(err, os.WriteFile(changed, m.source, 0o600), os.WriteFile(overlay, text, 0o600)); err != nil {
		return r, err
	}
	for _, p := range judges(m.folder()) {
		failed, output, err := goTest(p, overlay)
		if err != nil {
			return r, fmt.Errorf("%s: %w\n%s", m.id, err, output)
		}
		if failed {
			r.killer = p + " " + findKiller(output)
			break
		}
	}
	r.took = time.Since(start)
	return r, nil
}

// goTest runs the tests of a package. failed is true if a test failed or did not end. Code that does not compile is an error.
func goTest(pkg, overlay string) (failed bool, output string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout+time.Minute) // compiling takes time, too
	defer cancel()
	command := exec.CommandContext(ctx, "go", "test", "-short", "-failfast", "-count=1", "-vet=off", "-skip="+slow, "-timeout="+timeout.String(), "-overlay="+overlay, "./"+pkg)
	text, err := command.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false, "", nil
	case notCompiled.Match(text) || !errors.As(err, &exit):
		return false, string(text), fmt.Errorf("go test %s: %w", pkg, err)
	}
	return true, string(text), nil
}

var (
	notCompiled = regexp.MustCompile(`\[(build|setup) failed\]|(?m)^overlay`)
	failedTest  = regexp.MustCompile(`--- FAIL: (\S+)`)
	timedOut    = regexp.MustCompile(`(?s)panic: test timed out.*?running tests:\s*(\S+)`)
)

// findKiller returns the name of the test that failed. It prefers the name of a row to that of its table.
func findKiller(output string) string {
	if found := timedOut.FindStringSubmatch(output); found != nil {
		return found[1] + ", which did not end"
	}
	killer := "output without a name of a test"
	for i, found := range failedTest.FindAllStringSubmatch(output, 2) {
		if i == 0 || len(found[1]) > len(killer) && found[1][:len(killer)] == killer {
			killer = found[1]
		}
	}
	return killer
}
