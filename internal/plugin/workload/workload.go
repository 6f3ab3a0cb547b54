// Package workload checks a copy of an opensearch-benchmark workload, for kubectl knee workload.
package workload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/knee-bench/knee/internal/drivers/osb/osbconfig"
	"github.com/knee-bench/knee/internal/drivers/osb/osbtool"
	"github.com/knee-bench/knee/internal/plugin/terminal"
)

// renderTimeout limits the time for opensearch-benchmark to render a workload. Rendering took 2 s in tests.
const renderTimeout = 2 * time.Minute

// probeClients is a client count that no workload has as a default. The workload is rendered with this count to check whether
// its ingest tasks use the parameter for the client count.
const probeClients = 7

// workloadCheck holds the result of checking a user's workload, and how a campaign would use the workload.
type workloadCheck struct {
	folder, program, procedure, clientsParam string
	params                                   map[string]string
	patterns                                 osbtool.Patterns
	unused                                   []string // parameters from the topology that the workload does not use
}

// Command returns the subcommand workload.
func Command(streams genericiooptions.IOStreams) *cobra.Command {
	w := workloadCheck{params: map[string]string{}}
	cmd := &cobra.Command{
		Use:   "workload FOLDER",
		Short: "Check a copy of an opensearch-benchmark workload",
		Long: `Check a copy of an opensearch-benchmark workload: the folder that holds
workload.json. The output shows the tasks that Knee would run, the indices, the
corpus and its documents, the lines that a campaign needs, and why Knee cannot
run parts of it.

opensearch-benchmark itself renders the workload's templates, so the program
must be installed (--osb). No cluster is needed and nothing is downloaded.
Folders whose files the workload includes must be beside it, as they are in its
repository.`,
		Example: `  kubectl knee workload workloads/geonames --ingest-task index-append
  kubectl knee workload nyc_taxis --param bulk_size=5000`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w.folder = args[0]
			return w.check(cmd.Context(), streams.Out)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&w.program, "osb", osbtool.Program, "the program opensearch-benchmark: a name in PATH, or a path")
	flags.StringVar(&w.procedure, "test-procedure", "", "like spec.workload.osb.testProcedure; unset: the workload's default")
	flags.StringVar(&w.clientsParam, "clients-param", "bulk_indexing_clients", "as spec.workload.osb.clientsParam")
	flags.StringToStringVar(&w.params, "param", nil, "like spec.workload.osb.params, NAME=VALUE; may be repeated")
	flags.StringArrayVar(&w.patterns.Setup, "setup-task", []string{"type:create-index"}, "like spec.workload.osb.setupTasks; may be repeated")
	flags.StringArrayVar(&w.patterns.Ingest, "ingest-task", nil, "like spec.workload.osb.ingestTasks; may be repeated; unset: every task of type bulk")
	flags.StringArrayVar(&w.patterns.Search, "search-task", []string{"type:search"}, "like spec.workload.osb.searchTasks; may be repeated")
	return cmd
}

func (w workloadCheck) check(ctx context.Context, out io.Writer) error {
	if _, err := os.Stat(filepath.Join(w.folder, "workload.json")); err != nil {
		return terminal.Usagef("%s is not a workload folder: give the folder that contains workload.json: %w", w.folder, err)
	}
	folder, err := filepath.Abs(w.folder)
	if err != nil {
		return err
	}
	w.folder = folder
	rendered, unused, err := w.render(ctx, nil)
	if err != nil && len(unused) > 0 {
		w.unused = unused
		rendered, _, err = w.render(ctx, unused)
	}
	if err != nil {
		return err
	}
	patterns := w.patterns
	if patterns.Ingest == nil {
		patterns.Ingest = []string{"type:bulk"}
	}
	d, err := osbtool.Describe(rendered, w.procedure, patterns)
	if err != nil {
		return err
	}
	problems, err := w.print(out, d)
	if err == nil && problems > 0 {
		err = fmt.Errorf("Knee cannot run this workload with these flags: the output lists %s", terminal.FormatCount(problems, "problem"))
	}
	return err
}

// render runs opensearch-benchmark to render the workload with a trial's parameters. It does not pass the parameters that the argument
// without lists. opensearch-benchmark refuses parameters from the topology that the workload does not use. render returns these
// parameters as unused, and a trial does not pass them.
func (w workloadCheck) render(ctx context.Context, without []string) (rendered []byte, unused []string, err error) {
	program, err := exec.LookPath(w.program)
	if err != nil {
		return nil, nil, terminal.Usagef("opensearch-benchmark is needed to render the workload: install it (pip install opensearch-benchmark==2.4.0), or set its path with --osb: %w", err)
	}
	home, err := os.MkdirTemp("", "kubectl-knee-")
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = os.RemoveAll(home) }()
	topology := map[string]string{"number_of_shards": "3", "number_of_replicas": "0", "refresh_interval": "30s"}
	params := maps.Clone(topology)
	params[w.clientsParam] = strconv.Itoa(probeClients)
	for name, value := range w.params {
		params[name] = value
	}
	for _, name := range without {
		delete(params, name)
	}
	data, err := osbtool.EncodeParams(params)
	if err != nil {
		return nil, nil, err
	}
	file := filepath.Join(home, "params.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return nil, nil, err
	}
	run := osbtool.Run{Home: home, WorkloadPath: w.folder, Procedure: w.procedure, ParamsFile: file, Offline: true}
	ctx, cancel := context.WithTimeout(ctx, renderTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, run.InfoArgs()...)
	cmd.Env = append(os.Environ(), append(run.Env(home), "PYTHONDONTWRITEBYTECODE=1")...)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		for _, name := range osbtool.UnusedParams(string(out)) {
			if _, ours := topology[name]; ours {
				unused = append(unused, name)
			}
		}
		return nil, unused, fmt.Errorf("opensearch-benchmark cannot read the workload: %w: %s%s", err, osbtool.FailureText(string(out), 1000), w.describeMissingCommon())
	}
	log, err := os.Open(run.LogPath())
	if err != nil {
		return nil, nil, fmt.Errorf("cannot open the log of opensearch-benchmark: %w", err)
	}
	defer func() { _ = log.Close() }()
	telling, err := osbtool.ReadLog(log)
	if err != nil {
		return nil, nil, err
	}
	path := osbtool.RenderedWorkloadPath(telling)
	if path == "" {
		return nil, nil, errors.New("the log of opensearch-benchmark does not contain the path of the rendered workload")
	}
	rendered, err = os.ReadFile(path)
	return rendered, nil, err
}

// describeMissingCommon describes the folder common_operations if the workload includes files of this folder and the folder is
// missing beside the workload. Otherwise it returns an empty text. Official workloads include files of common_operations.
func (w workloadCheck) describeMissingCommon() string {
	common := filepath.Join(filepath.Dir(w.folder), osbconfig.CommonOperations)
	if _, err := os.Stat(common); err == nil || !w.includesCommon() {
		return ""
	}
	return fmt.Sprintf("; the workload includes files of %s, which is missing: copy it from the workload's repository", common)
}

// includesCommon reports whether a file of the workload names the folder of common operations.
func (w workloadCheck) includesCommon() bool {
	found := false
	_ = filepath.WalkDir(w.folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || found || !d.Type().IsRegular() || filepath.Ext(path) != ".json" {
			return err
		}
		if info, err := d.Info(); err != nil || info.Size() > 1<<20 {
			return err
		}
		data, err := os.ReadFile(path)
		found = strings.Contains(string(data), "../"+osbconfig.CommonOperations+"/")
		return err
	})
	return found
}
