// Command bench-simulation measures the estimators of the analysis on simulated campaigns. It prints tables and one
// line of JSON. It fails if a required property does not hold.
//
//	bench-simulation adaptive   compares adaptive sweeps with full ones
//	bench-simulation coverage   compares stated confidences with the share of right statements
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench-simulation:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	name := ""
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("bench-simulation "+name, flag.ExitOnError)
	seed := flags.Uint64("seed", 20260701, "of all random numbers; nothing was tuned on the default")
	switch name {
	case "adaptive":
		curves := flags.Int("curves", 200, "curves of each shape, and sweeps of each published curve")
		_ = flags.Parse(args) // exits on errors
		return benchAdaptive(*curves, *seed)
	case "coverage":
		rounds := flags.Int("rounds", 20_000, "simulated campaigns for each row")
		curves := flags.Int("curves", 150, "curves of each shape, for the stability of knees")
		_ = flags.Parse(args) // exits on errors
		return benchCoverage(*rounds, *curves, *seed)
	}
	return fmt.Errorf("unknown command %q: want adaptive or coverage", name)
}
