package workload

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/drivers/osb/osbtool"
	"github.com/knee-bench/knee/internal/plugin/terminal"
	"github.com/knee-bench/knee/internal/workloads"
)

// print prints the result of the check. It returns the number of problems that keep Knee from running the workload.
func (w workloadCheck) print(out io.Writer, d osbtool.Description) (problems int, err error) {
	t := terminal.NewTable(out)
	name := filepath.Base(w.folder)
	fmt.Fprintf(t, "Workload %s, test procedure %s (available: %s)\n", name, d.Procedure, strings.Join(d.Procedures, ", "))
	t.EndTable()
	t.WriteRow("TASK", "TYPE", "KNEE", "CLIENTS", "DOCUMENTS PER REQUEST")
	for _, task := range d.Tasks {
		size := "-"
		if task.BulkSize > 0 {
			size = terminal.FormatInteger(task.BulkSize)
		}
		t.WriteRow(task.Name, task.Kind, string(task.Use), terminal.FormatInteger(task.Clients), size)
	}
	t.EndTable()
	t.WriteRow("CORPUS", "FILE", "INDEX", "DOCUMENTS")
	for _, c := range d.Corpora {
		t.WriteRow(c.Corpus, c.File, terminal.OrDash(c.Index), terminal.FormatInteger(c.Documents))
	}
	t.EndTable()
	targets, documents, ingest := ingestTasks(d)
	index := commonName(targets)
	if index != "" && len(ingest) > 0 {
		fmt.Fprintf(t, "Lines for the spec of a campaign:\n%s", w.campaignLines(d, name, index, ingest))
		fmt.Fprintf(t, "Documents per load: %d\n", documents)
	}
	bad, notes := w.findProblems(d, name, index, targets, ingest)
	terminal.PrintList(t, "Notes", notes)
	terminal.PrintList(t, "Problems", bad)
	return len(bad), t.Print()
}

// ingestTasks returns the names of the ingest tasks, the indices that they fill, and how many documents they send.
func ingestTasks(d osbtool.Description) (targets []string, documents int64, names []string) {
	for _, task := range d.Tasks {
		if task.Use != osbtool.UseIngest {
			continue
		}
		names = append(names, task.Name)
		documents += task.Documents
		for _, target := range task.Targets {
			if !slices.Contains(targets, target) {
				targets = append(targets, target)
			}
		}
	}
	return targets, documents, names
}

// commonName returns a value of spec.workload.index.name that matches all targets. It returns an empty text if there is no such
// value.
func commonName(targets []string) string {
	switch len(targets) {
	case 0:
		return ""
	case 1:
		return targets[0]
	}
	prefix := targets[0]
	for _, t := range targets[1:] {
		for !strings.HasPrefix(t, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	if prefix == "" {
		return ""
	}
	return prefix + "*"
}

// campaignLines returns the lines of spec.workload that differ from the defaults.
func (w workloadCheck) campaignLines(d osbtool.Description, name, index string, ingest []string) string {
	out := "  workload:\n"
	if known, _ := workloads.Index(name); known != index {
		out += fmt.Sprintf("    index: {name: %q}\n", index)
	}
	out += fmt.Sprintf("    osb:\n      workload: %s\n", name)
	if w.procedure != "" {
		out += fmt.Sprintf("      testProcedure: %s\n", w.procedure)
	}
	if !slices.Equal(ingest, []string{"index"}) {
		out += fmt.Sprintf("      ingestTasks: [%s]\n", strings.Join(ingest, ", "))
	}
	if len(unfilledIndices(d, index)) > 0 {
		out += "      setupTasks: [\"type:delete-index\", \"type:create-index\"]\n"
	}
	for i, param := range slices.Sorted(maps.Keys(w.params)) {
		if i == 0 {
			out += "      params:\n"
		}
		out += fmt.Sprintf("        %s: %q\n", param, w.params[param])
	}
	return out
}

// unfilledIndices returns the indices that the workload creates but that do not match the index name. These indices stay from one
// trial to the next.
func unfilledIndices(d osbtool.Description, index string) []string {
	var out []string
	for _, i := range d.Indices {
		prefix, pattern := strings.CutSuffix(index, "*")
		if filled := i.Name == index || pattern && strings.HasPrefix(i.Name, prefix); !filled {
			out = append(out, i.Name)
		}
	}
	return out
}

// findProblems returns the problems that keep Knee from running the workload, and notes for the user.
func (w workloadCheck) findProblems(d osbtool.Description, name, index string, targets, ingest []string) (problems, notes []string) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	switch {
	case len(ingest) == 0:
		problem("no task indexes documents: name an ingest task with --ingest-task, or choose another --test-procedure")
	case len(ingest) > 1:
		note("Knee runs the %d ingest tasks one after the other and measures them as one load; to run fewer tasks, list their names in spec.workload.osb.ingestTasks", len(ingest))
	}
	switch {
	case len(ingest) == 0 || index != "":
	case len(targets) == 0:
		problem("the ingest tasks name no index: set spec.workload.index.name to the index that these tasks fill")
	default:
		problem("the load fills the indices or data streams %s, which have no common prefix for spec.workload.index.name: choose fewer ingest tasks with --ingest-task", strings.Join(targets, ", "))
	}
	for _, task := range d.Tasks {
		if task.Use == osbtool.UseIngest {
			if task.Kind != "bulk" {
				problem("ingest task %s is of type %s: choose a task of type bulk, because Knee reads the bulk size and document count only from this type", task.Name, task.Kind)
			}
			if task.Clients != probeClients {
				problem("ingest task %s has %d clients, and parameter %s does not set this number: use --clients-param to name the parameter that sets the client count", task.Name, task.Clients, w.clientsParam)
			}
			if task.Documents == 0 {
				note("ingest task %s does not say how many documents it sends", task.Name)
			}
		}
		if interval, set := task.Settings["index.refresh_interval"]; set && task.Use == osbtool.UseSetup {
			note("task %s sets index.refresh_interval to %v: set refreshInterval of every topology to this value, or set the index body with spec.workload.index.bodyFrom; otherwise trials fail", task.Name, interval)
		}
	}
	if !slices.ContainsFunc(d.Tasks, func(t osbtool.Task) bool { return t.Use == osbtool.UseSetup }) {
		note("no setup task creates the index: set the index body with spec.workload.index.bodyFrom, or use --setup-task to name the task that creates the index")
	}
	if left := unfilledIndices(d, index); index != "" && len(left) > 0 {
		note("the workload also creates the indices %s, which this load does not fill: use the setupTasks from the lines above, so that each trial deletes these indices first", strings.Join(left, ", "))
	}
	if len(d.Streams) > 0 {
		note("the workload creates the data streams %s: set spec.workload.index.dataStream to true", strings.Join(d.Streams, ", "))
	}
	for _, name := range w.unused {
		note("the workload does not use the parameter %s: Knee sets this value with an index template, which the workload's index body or create-index task may override", name)
	}
	if known, ok := workloads.Documents(name, func(p string) (string, bool) { v, set := w.params[p]; return v, set }); ok {
		if _, documents, _ := ingestTasks(d); documents != known && w.params["ingest_percentage"] == "" {
			note("kubectl knee plan assumes %d documents for a workload of this name, but the ingest tasks of this workload have a different number", known)
		}
	}
	return problems, notes
}
