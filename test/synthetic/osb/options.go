package osb

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// Options are the options of the program's subcommand run that the fake accepts. It uses only some of them.
var Options = []string{"--pipeline", "--target-hosts", "--client-options", "--workload-params", "--test-run-id", "--on-error", "--results-format",
	"--workload", "--workload-path", "--test-procedure", "--include-tasks", "--offline"}

// usageError is an error in the command line.
type usageError struct{ argument string }

func (e *usageError) Error() string {
	return "opensearch-benchmark: error: unrecognized arguments: " + e.argument
}

// Exit codes of the program.
const (
	exitFailed = 64
	exitUsage  = 2
)

// params are the parameters of the fake's workload.
type params struct {
	Clients  int64  `json:"bulk_indexing_clients"`
	BulkSize int64  `json:"bulk_size"`
	Shards   int    `json:"number_of_shards"`
	Replicas int    `json:"number_of_replicas"`
	Refresh  string `json:"refresh_interval"`
}

// unusedParams are the parameters that the workload does not use. The program refuses them.
type unusedParams []string

func (u unusedParams) Error() string {
	return fmt.Sprintf("Unused workload parameters ['%s']", strings.Join(u, "', '"))
}

// readEnv reads the environment variables that the fake uses.
func (r *run) readEnv(env []string) error {
	for _, e := range env {
		switch name, value, _ := strings.Cut(e, "="); name {
		case "HOME":
			r.home = value
		case "TMPDIR":
			r.temp = value
		}
	}
	if r.home == "" {
		return fmt.Errorf("the fake of opensearch-benchmark needs HOME")
	}
	return nil
}

// readArgs reads the options of the command line. It refuses other options, as the program does.
func (r *run) readArgs(args []string) error {
	if len(args) == 0 || args[0] != "run" {
		return fmt.Errorf("the fake of opensearch-benchmark knows only the subcommand run: %q", args)
	}
	for _, a := range args[1:] {
		name, value, _ := strings.Cut(a, "=")
		if !slices.Contains(Options, name) {
			return &usageError{a}
		}
		var err error
		switch name {
		case "--target-hosts":
			r.url = "http://" + value
		case "--client-options":
			err = r.readClientOptions(value)
		case "--test-run-id":
			r.id = value
		case "--include-tasks":
			r.tasks = strings.Split(value, ",")
		case "--workload-params":
			err = r.readParams(value)
		}
		if err != nil {
			return err
		}
	}
	if r.params.Clients < 1 || r.params.BulkSize < 1 || r.id == "" || r.url == "" {
		return fmt.Errorf("the fake of opensearch-benchmark needs a host, a run id, clients and a bulk size: %q", args)
	}
	return nil
}

// readParams reads the file with the workload's parameters. It notes those that the workload does not use.
func (r *run) readParams(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var given map[string]any
	if err := errors.Join(json.Unmarshal(data, &r.params), json.Unmarshal(data, &given)); err != nil {
		return err
	}
	const templates = Workload + IndexBody
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !strings.Contains(templates, "{{"+name+"}}") {
			r.unused = append(r.unused, name)
		}
	}
	return nil
}
