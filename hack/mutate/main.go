// Command mutate checks the tests of the verdict. It changes the code in one place at a time, and runs the tests that should fail.
//
// A mutant is the code with one change. A mutant is killed if a test fails, and it survives if all tests pass. A test that takes
// much longer than without the mutant is a timeout, which counts as killed. The checkout is not touched: `go test -overlay` compiles
// the changed file from a temporary folder.
//
// The exit code is 1 if a survivor is not listed in survivors.txt, if a listed survivor is killed, or if too few mutants are killed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"sync"
	"syscall"
)

// leastKilled is the share of the mutants that the tests must kill.
const leastKilled = 0.95

func main() {
	only := flag.String("only", "", "test only the mutants whose id matches this regular expression; the share is then not checked")
	list := flag.Bool("list", false, "list the mutants and run no test")
	workers := flag.Int("workers", 2, "mutants that are tested at the same time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *only, *list, *workers); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only string, list bool, workers int) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	survivors, err := readSurvivors(survivorsFile)
	if err != nil {
		return err
	}
	mutants, err := allMutants()
	if err != nil {
		return err
	}
	if err := survivors.checkIDs(mutants); err != nil {
		return err
	}
	all := len(mutants)
	mutants = slices.DeleteFunc(mutants, func(m mutant) bool { return !pattern.MatchString(m.id) })
	if len(mutants) == 0 {
		return fmt.Errorf("no mutant has an id that matches %q: -list prints the ids", pattern)
	}
	if list {
		for _, m := range mutants {
			fmt.Println(m)
		}
		return nil
	}
	t, err := newTester()
	if err != nil {
		return err
	}
	defer t.close()
	for _, pkg := range packagesOf(mutants) {
		if err := t.measureClean(ctx, pkg); ctx.Err() != nil {
			return errors.New("interrupted before the first mutant")
		} else if err != nil {
			return err
		}
	}
	tested := 0
	results, err := testAll(ctx, t, mutants, workers, func(r result) {
		tested++
		fmt.Printf("[%d/%d] %s\n", tested, len(mutants), r)
	})
	printSummary(os.Stdout, results)
	return errors.Join(err, survivors.judge(results, len(results) == all))
}

// allMutants returns the mutants by hand and the generated mutants.
func allMutants() ([]mutant, error) {
	byHand, err := handMade()
	if err != nil {
		return nil, err
	}
	made, err := generate()
	return append(byHand, made...), err
}

// testAll tests the mutants and passes each result to report. It returns the results in the order of the mutants, also if it is
// interrupted or a mutant cannot be tested.
func testAll(ctx context.Context, t *tester, mutants []mutant, workers int, report func(result)) ([]result, error) {
	results := make([]result, len(mutants))
	var errs []error
	var lock sync.Mutex
	var wait sync.WaitGroup
	next := make(chan int)
	for range max(workers, 1) {
		wait.Go(func() {
			for i := range next {
				r, err := t.test(ctx, mutants[i])
				lock.Lock()
				if err == nil {
					results[i] = r
					report(r)
				}
				errs = append(errs, err)
				lock.Unlock()
			}
		})
	}
	for i := range mutants {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	wait.Wait()
	results = slices.DeleteFunc(results, func(r result) bool { return r.outcome == "" })
	if ctx.Err() != nil { // it caused the other errors
		return results, fmt.Errorf("interrupted after %d of %d mutants", len(results), len(mutants))
	}
	return results, errors.Join(errs...)
}
