package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/knee-bench/knee/internal/agent/probe"
	"github.com/knee-bench/knee/internal/record"
)

// runPreflight checks what OpenSearch requires of its machine and its pod. If OpenSearch would refuse to start, the exit code
// is 1 and the termination message lists the findings.
func runPreflight(args []string) int {
	flags := flag.NewFlagSet("preflight", flag.ContinueOnError)
	var needs probe.Needs
	flags.BoolVar(&needs.SingleNode, "single-node", false, "OpenSearch runs with discovery.type single-node, which does not enforce the bootstrap checks")
	flags.BoolVar(&needs.MemoryLock, "memory-lock", false, "bootstrap.memory_lock is true")
	flags.StringVar(&needs.Data, "data", "", "data folder that must be writable")
	out := flags.String("message", record.TerminationPath, "file to write fatal findings to")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	var fatal []string
	for _, f := range probe.Preflight("/proc", needs) {
		fmt.Println(f)
		if f.Fatal {
			fatal = append(fatal, f.Text+": "+f.Remedy)
		}
	}
	if len(fatal) == 0 {
		return 0
	}
	if err := os.WriteFile(*out, []byte(strings.Join(fatal, "\n")), 0o644); err != nil {
		return failed("preflight", err)
	}
	return 1
}
