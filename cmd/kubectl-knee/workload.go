package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/record"
)

// renderTimeout bounds opensearch-benchmark's rendering of a workload, which was seen to take 2 s.
const renderTimeout = 2 * time.Minute

// probeClients is the client count that a workload is rendered with, to see whether its ingest tasks take it: none has it by
// itself.
const probeClients = 7

// workloadCheck is a workload that a user has, and how a campaign would use it.
type workloadCheck struct {
	folder, program, procedure, clientsParam string
	params                                   map[string]string
	patterns                                 driver.OSBPatterns
	unused                                   []string // parameters of the topology's that the workload does not use
}

func (p *plugin) workloadCommand() *cobra.Command {
	w := workloadCheck{params: map[string]string{}}
	cmd := &cobra.Command{
		Use:   "workload FOLDER",
		Short: "Check a copy of an opensearch-benchmark workload, and show what Knee would run of it",
		Long: `Check a copy of an opensearch-benchmark workload: the folder that holds workload.json. It shows the tasks that Knee would
run, the indices, the corpus and its documents, the lines that a campaign needs, and what Knee cannot do and why.

opensearch-benchmark itself renders the workload's templates, so that the program must be there (--osb); no cluster is needed
and nothing is downloaded. The folders that the workload includes files of must lie beside it, as they do in its repository.`,
		Example: `  kubectl knee workload opensearch-benchmark-workloads/geonames --ingest-task index-append
  kubectl knee workload nyc_taxis --test-procedure append-no-conflicts-index-only --param bulk_size=5000`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w.folder = args[0]
			return p.checkWorkload(cmd.Context(), w)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&w.program, "osb", driver.OSBProgram, "the program opensearch-benchmark: a name to look for, or a path")
	flags.StringVar(&w.procedure, "test-procedure", "", "as spec.workload.osb.testProcedure; unset: the workload's default one")
	flags.StringVar(&w.clientsParam, "clients-param", "bulk_indexing_clients", "as spec.workload.osb.clientsParam")
	flags.StringToStringVar(&w.params, "param", nil, "as spec.workload.osb.params, NAME=VALUE; may be repeated")
	flags.StringArrayVar(&w.patterns.Setup, "setup-task", []string{"type:create-index"}, "as spec.workload.osb.setupTasks; may be repeated")
	flags.StringArrayVar(&w.patterns.Ingest, "ingest-task", nil, "as spec.workload.osb.ingestTasks; may be repeated; unset: every task of type bulk")
	flags.StringArrayVar(&w.patterns.Search, "search-task", []string{"type:search"}, "as spec.workload.osb.searchTasks; may be repeated")
	return cmd
}

func (p *plugin) checkWorkload(ctx context.Context, w workloadCheck) error {
	if _, err := os.Stat(filepath.Join(w.folder, "workload.json")); err != nil {
		return usagef("%s: name the folder of the workload that holds workload.json: %w", w.folder, err)
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
	d, err := driver.DescribeOSB(rendered, w.procedure, patterns)
	if err != nil {
		return err
	}
	problems, err := w.print(p.streams.Out, d)
	if err == nil && problems > 0 {
		err = fmt.Errorf("Knee cannot run this workload so: %s", count(problems, "problem"))
	}
	return err
}

// render has opensearch-benchmark render the workload with a trial's parameters, without those named. Where the program
// refuses the workload for parameters of the topology's that it does not use, which a trial leaves out, they are unused.
func (w workloadCheck) render(ctx context.Context, without []string) (rendered []byte, unused []string, err error) {
	program, err := exec.LookPath(w.program)
	if err != nil {
		return nil, nil, usagef("opensearch-benchmark is needed to render the workload: install it (pip install opensearch-benchmark==2.4.0), or name it with --osb: %w", err)
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
	data, err := driver.OSBParams(params)
	if err != nil {
		return nil, nil, err
	}
	file := filepath.Join(home, "params.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return nil, nil, err
	}
	run := driver.OSBRun{Home: home, WorkloadPath: w.folder, Procedure: w.procedure, ParamsFile: file, Offline: true}
	ctx, cancel := context.WithTimeout(ctx, renderTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, run.InfoArgs()...)
	cmd.Env = append(os.Environ(), append(run.Env(home), "PYTHONDONTWRITEBYTECODE=1")...)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		for _, name := range driver.UnusedOSBParams(string(out)) {
			if _, ours := topology[name]; ours {
				unused = append(unused, name)
			}
		}
		return nil, unused, fmt.Errorf("opensearch-benchmark cannot read the workload: %w: %s%s", err, driver.TellingOSBOutput(string(out), 1000), w.missingCommon())
	}
	log, err := os.Open(run.LogPath())
	if err != nil {
		return nil, nil, fmt.Errorf("the log of opensearch-benchmark: %w", err)
	}
	defer func() { _ = log.Close() }()
	telling, err := driver.TellingOSBLog(log)
	if err != nil {
		return nil, nil, err
	}
	path := driver.RenderedWorkloadPath(telling)
	if path == "" {
		return nil, nil, errors.New("the log of opensearch-benchmark does not say where it wrote the rendered workload")
	}
	rendered, err = os.ReadFile(path)
	return rendered, nil, err
}

// missingCommon says that the folder which the official workloads include files of is not beside the workload.
func (w workloadCheck) missingCommon() string {
	common := filepath.Join(filepath.Dir(w.folder), record.CommonOperations)
	if _, err := os.Stat(common); err == nil || !w.includesCommon() {
		return ""
	}
	return fmt.Sprintf("; the workload includes files of %s, which is not there: copy it from the workload's repository", common)
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
		found = strings.Contains(string(data), "../"+record.CommonOperations+"/")
		return err
	})
	return found
}
