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
	"strconv"
	"strings"
	"time"
)

// tester runs the tests of mutants.
type tester struct {
	checkout string
	folder   string             // temporary: the changed files, the test binaries, and the temporary files of all child processes
	groups   map[string][]group // by package: first the fast tests, then the slow tests
}

// group is a part of the tests of a package. The tests of a group run in one process.
type group struct {
	run, skip string        // patterns of the tests, for -test.run and -test.skip
	clean     time.Duration // the sum of the times of the tests in the clean run
	limit     time.Duration // the tests of a mutant that take longer are a timeout
}

const (
	// limitMultiple is the limit of a group as a multiple of its clean run.
	limitMultiple = 10
	// leastLimit bounds the limit from below, because the times of the clean run are rounded and the machine may be busy.
	leastLimit = 15 * time.Second
	// slowTest is the time in the clean run from which a test is slow.
	slowTest = 200 * time.Millisecond
	// skipped matches the tests that never run, because they only bound the size and the time of the largest campaign.
	skipped = "_largest"
)

func newTester() (*tester, error) {
	checkout, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "mutate-")
	return &tester{checkout: checkout, folder: folder, groups: map[string][]group{}}, err
}

func (t *tester) close() { os.RemoveAll(t.folder) }

// measureClean runs the tests of a package without a mutant, which must pass, and groups the tests by their times.
func (t *tester) measureClean(ctx context.Context, pkg string) error {
	binary := filepath.Join(t.folder, "clean.test")
	if err := t.build(ctx, pkg, "", binary); err != nil {
		return err
	}
	output, err := t.run(ctx, pkg, binary, "-test.v", "-test.skip="+skipped)
	if err != nil {
		return fmt.Errorf("the tests of %s fail without a mutant (%w): %s: run go test -short ./%s", pkg, err, findKiller(output), pkg)
	}
	t.groups[pkg] = groupTests(output)
	return nil
}

var passedTest = regexp.MustCompile(`(?m)^--- PASS: (\S+) \(([0-9.]+)s\)`)

// groupTests returns the groups of the tests of a package. output is that of a clean run.
func groupTests(output string) []group {
	fast := group{skip: skipped}
	slow := group{skip: skipped}
	var names []string
	for _, found := range passedTest.FindAllStringSubmatch(output, -1) {
		seconds, _ := strconv.ParseFloat(found[2], 64) // the pattern permits only numbers
		if took := time.Duration(seconds * float64(time.Second)); took < slowTest {
			fast.clean += took
		} else {
			slow.clean += took
			names = append(names, found[1])
		}
	}
	fast.limit = max(limitMultiple*fast.clean, leastLimit)
	slow.limit = max(limitMultiple*slow.clean, leastLimit)
	if names == nil {
		return []group{fast}
	}
	slow.run = "^(" + strings.Join(names, "|") + ")$"
	fast.skip += "|" + slow.run
	return []group{fast, slow}
}

// test runs the tests that judge a mutant, up to the first group with a failure.
func (t *tester) test(ctx context.Context, m mutant) (result, error) {
	start := time.Now()
	r := result{mutant: m, outcome: survived}
	folder, err := os.MkdirTemp(t.folder, "mutant-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(folder)
	changed, overlay, binary := filepath.Join(folder, "changed.go"), filepath.Join(folder, "overlay.json"), filepath.Join(folder, "mutant.test")
	text, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(t.checkout, m.file): changed}})
	if err = errors.Join(err, os.WriteFile(changed, m.source, 0o600), os.WriteFile(overlay, text, 0o600)); err != nil {
		return r, err
	}
	for _, pkg := range judges(m.folder()) {
		if err := t.build(ctx, pkg, overlay, binary); err != nil {
			return r, fmt.Errorf("%s: %w", m.id, err)
		}
		for _, g := range t.groups[pkg] {
			if r.outcome, r.by, err = t.runGroup(ctx, pkg, binary, g); err != nil {
				return r, fmt.Errorf("%s: %w", m.id, err)
			}
			if r.outcome != survived {
				r.took = time.Since(start)
				return r, nil
			}
		}
	}
	r.took = time.Since(start)
	return r, nil
}

// build compiles the tests of a package. Without debug information the linker needs half the time.
func (t *tester) build(ctx context.Context, pkg, overlay, binary string) error {
	text, err := t.command(ctx, "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay="+overlay, "-o="+binary, "./"+pkg).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go test -c ./%s: %w\n%s", pkg, err, text)
	}
	return nil
}

// runGroup runs the tests of a group. by names the test that failed or did not end. A process that a signal ended says nothing
// about the mutant: it is an error.
func (t *tester) runGroup(ctx context.Context, pkg, binary string, g group) (found outcome, by string, err error) {
	output, err := t.run(ctx, pkg, binary, "-test.failfast", "-test.run="+g.run, "-test.skip="+g.skip, "-test.timeout="+g.limit.String())
	var exit *exec.ExitError
	switch {
	case err == nil:
		return survived, "", nil
	case !errors.As(err, &exit) || exit.ExitCode() < 0:
		return "", "", fmt.Errorf("tests of %s: %w\n%s", pkg, err, output)
	}
	if running := timedOutTest.FindStringSubmatch(output); running != nil {
		return timedOut, fmt.Sprintf("%s %s: limit %.0f s, %.2g s in the clean run", pkg, running[1], g.limit.Seconds(), g.clean.Seconds()), nil
	}
	return killed, pkg + " " + findKiller(output), nil
}

// run runs a test binary in the folder of its package, as `go test` does.
func (t *tester) run(ctx context.Context, pkg, binary string, arguments ...string) (output string, err error) {
	command := t.command(ctx, binary, append(arguments, "-test.short", "-test.paniconexit0")...)
	command.Dir = filepath.Join(t.checkout, pkg)
	text, err := command.CombinedOutput()
	return string(text), err
}

// command returns a child process. When ctx ends, the process is interrupted, and killed if it continues.
func (t *tester) command(ctx context.Context, name string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, name, arguments...)
	command.Env = append(os.Environ(), "TMPDIR="+t.folder)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 10 * time.Second
	return command
}

var (
	failedTest   = regexp.MustCompile(`--- FAIL: (\S+)`)
	timedOutTest = regexp.MustCompile(`panic: test timed out after \S+(?:\s+running tests:\s+(\S+))?`)
)

// findKiller returns the name of the test that failed. It prefers the name of a row to that of its table.
func findKiller(output string) string {
	killer := "output without a name of a test"
	for i, found := range failedTest.FindAllStringSubmatch(output, 2) {
		if i == 0 || len(found[1]) > len(killer) && found[1][:len(killer)] == killer {
			killer = found[1]
		}
	}
	return killer
}
