// Command knee-agent is the part of Knee that runs inside the pods of a measurement. It does not use the Kubernetes API.
package main

import (
	"fmt"
	"os"
)

const usage = `knee-agent runs inside the pods of a measurement:

  knee-agent install DST...            copy this program to each DST
  knee-agent install --tree SRC DST    copy the folder SRC to DST
  knee-agent load [flags]              load a cluster with bulk requests
  knee-agent parse [flags] FILE        parse the output of a program of the command driver
  knee-agent preflight [flags]         check the limits that OpenSearch needs
  knee-agent probe [flags]             report the load of the machine over HTTP
  knee-agent sink [flags]              run a mock server that answers bulk requests and stores nothing
  knee-agent sysctl                    raise vm.max_map_count if it is too low
  knee-agent trial [flags]             make one trial and write its record
`

// commands lists the subcommands. Each function returns the exit code.
var commands = map[string]func(args []string) int{
	"install":   install,
	"load":      runLoad,
	"parse":     runParse,
	"preflight": runPreflight,
	"probe":     runProbe,
	"sink":      runSink,
	"sysctl":    runSysctl,
	"trial":     runTrial,
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	command, known := commands[os.Args[1]]
	if !known {
		fmt.Fprintf(os.Stderr, "knee-agent: unknown command %q\n\n%s", os.Args[1], usage)
		os.Exit(2)
	}
	os.Exit(command(os.Args[2:]))
}

// failed prints the error of a command and returns the exit code of a failure.
func failed(command string, err error) int {
	fmt.Fprintf(os.Stderr, "knee-agent %s: %v\n", command, err)
	return 1
}
