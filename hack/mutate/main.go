// Command mutate checks the tests of the verdict. It changes the code in one place at a time, and runs the tests that should fail.
//
// A mutant is the code with one change. A mutant is killed if a test fails, and it survives if all tests pass. The checkout is not
// touched: `go test -overlay` compiles the changed file from a temporary folder.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"sync"
)

// leastKilled is the share of the mutants that the tests must kill.
const leastKilled = 0.95

func main() {
	only := flag.String("only", "", "test only the mutants whose id matches this regular expression; the unchanged code and the share are then not checked")
	list := flag.Bool("list", false, "list the mutants and run no test")
	workers := flag.Int("workers", 2, "mutants that are tested at the same time")
	flag.Parse()
	if err := run(*only, *list, *workers); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(only string, list bool, workers int) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	survivors, err := readSurvivors("hack/mutate/survivors.txt")
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
	complete := len(mutants) == all
	if complete {
		if err := t.testUnchanged(packagesOf(mutants)); err != nil {
			return err
		}
	}
	results, err := testAll(t, mutants, workers)
	if err != nil {
		return err
	}
	printSummary(results)
	return survivors.judge(results, complete)
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

// testAll tests the mutants and prints a line for each. The results are in the order of the mutants.
func testAll(t *tester, mutants []mutant, workers int) ([]result, error) {
	results := make([]result, len(mutants))
	errs := make([]error, len(mutants))
	var wait sync.WaitGroup
	var print sync.Mutex
	next := make(chan int)
	done := 0
	for range max(workers, 1) {
		wait.Go(func() {
			for i := range next {
				results[i], errs[i] = t.test(mutants[i])
				print.Lock()
				done++
				if errs[i] != nil {
					fmt.Println(errs[i])
				} else {
					fmt.Printf("[%d/%d] %s\n", done, len(mutants), results[i])
				}
				print.Unlock()
			}
		})
	}
	for i := range mutants {
		next <- i
	}
	close(next)
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}
