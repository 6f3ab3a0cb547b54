package main

import (
	"flag"
	"fmt"

	"github.com/knee-bench/knee/internal/probe"
)

// runSysctl raises the machine's vm.max_map_count: the only thing that Knee ever does privileged.
func runSysctl(args []string) int {
	if err := flag.NewFlagSet("sysctl", flag.ContinueOnError).Parse(args); err != nil {
		return 2
	}
	done, err := probe.RaiseMapCount("/proc")
	if err != nil {
		return failed("sysctl", err)
	}
	fmt.Println(done)
	return 0
}
