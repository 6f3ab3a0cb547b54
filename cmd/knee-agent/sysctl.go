package main

import (
	"flag"
	"fmt"

	"github.com/knee-bench/knee/internal/agent/probe"
)

// runSysctl raises the kernel setting vm.max_map_count of the machine. This is the only privileged action of Knee.
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
