package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/workloads"
)

// print shows a workload and counts what keeps Knee from running it.
func (w workloadCheck) print(out io.Writer, d driver.OSBDescription) (problems int, err error) {
	t := newTable(out)
	name := filepath.Base(w.folder)
	fmt.Fprintf(t, "Workload %s, test procedure %s of %s\n", name, d.Procedure, strings.Join(d.Procedures, ", "))
	t.blank()
	t.row("TASK", "TYPE", "KNEE", "CLIENTS", "DOCUMENTS A REQUEST")
	for _, task := range d.Tasks {
		size := "-"
		if task.BulkSize > 0 {
			size = integer(task.BulkSize)
		}
		t.row(task.Name, task.Kind, string(task.Use), integer(task.Clients), size)
	}
	t.blank()
	t.row("CORPUS", "FILE", "INDEX", "DOCUMENTS")
	for _, c := range d.Corpora {
		t.row(c.Corpus, c.File, dash(c.Index), integer(c.Documents))
	}
	t.blank()
	targets, documents, ingest := ingestOf(d)
	index := commonName(targets)
	if index != "" && len(ingest) > 0 {
		fmt.Fprintf(t, "Lines of a campaign:\n%s", w.lines(d, name, index, ingest))
		fmt.Fprintf(t, "Documents of a load: %d\n", documents)
	}
	bad, notes := w.judge(d, name, index, targets, ingest)
	list(t, "Notes", notes)
	list(t, "Problems", bad)
	return len(bad), t.flush()
}

// ingestOf gives the names of the ingest tasks, the indices that they fill, and how many documents they send.
func ingestOf(d driver.OSBDescription) (targets []string, documents int64, names []string) {
	for _, task := range d.Tasks {
		if task.Use != driver.UseIngest {
			continue
		}
		names = append(names, task.Name)
		documents += task.Documents
		for _, target := range task.Targets {
			targets = appendNew(targets, target)
		}
	}
	return targets, documents, names
}

// commonName is what spec.workload.index.name must be for these indices; empty where no name stands for all of them.
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

// lines are those of spec.workload that differ from the defaults.
func (w workloadCheck) lines(d driver.OSBDescription, name, index string, ingest []string) string {
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
	if len(others(d, index)) > 0 {
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

// others are the indices that the workload makes and a load does not fill, outside the index's name: they are left from one
// trial to the next.
func others(d driver.OSBDescription, index string) []string {
	var out []string
	for _, i := range d.Indices {
		prefix, pattern := strings.CutSuffix(index, "*")
		if filled := i.Name == index || pattern && strings.HasPrefix(i.Name, prefix); !filled {
			out = append(out, i.Name)
		}
	}
	return out
}

// judge says what keeps Knee from running the workload, and what a user has to know.
func (w workloadCheck) judge(d driver.OSBDescription, name, index string, targets, ingest []string) (problems, notes []string) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	switch {
	case len(ingest) == 0:
		problem("no task indexes documents: name one with --ingest-task, or another --test-procedure")
	case len(ingest) > 1:
		note("%d ingest tasks: they run one after the other and are measured as one load; name those that you mean in ingestTasks", len(ingest))
	}
	if len(ingest) > 0 && index == "" {
		problem("the load fills %s, and spec.workload.index.name can name one index or those that begin alike: choose ingest tasks that fill fewer", strings.Join(targets, ", "))
	}
	for _, task := range d.Tasks {
		if task.Use == driver.UseIngest {
			if task.Kind != "bulk" {
				problem("ingest task %s is of type %s: Knee reads the bulk size and the documents of tasks of type bulk", task.Name, task.Kind)
			}
			if task.Clients != probeClients {
				problem("ingest task %s has %d clients whatever the parameter %s says: name the parameter that sets them with --clients-param", task.Name, task.Clients, w.clientsParam)
			}
			if task.Documents == 0 {
				note("ingest task %s says nothing of how many documents it sends", task.Name)
			}
		}
		if interval, set := task.Settings["index.refresh_interval"]; set && task.Use == driver.UseSetup {
			note("task %s sets index.refresh_interval to %v: say so in the topologies' refreshInterval, or give the index's body by spec.workload.index.bodyFrom", task.Name, interval)
		}
	}
	if !slices.ContainsFunc(d.Tasks, func(t driver.OSBTask) bool { return t.Use == driver.UseSetup }) {
		note("no setup task makes the index: give its body by spec.workload.index.bodyFrom, or name the task with --setup-task")
	}
	if left := others(d, index); index != "" && len(left) > 0 {
		note("the workload makes %s, too, which this load does not fill: the setup tasks must delete them first, as the lines above do", strings.Join(left, ", "))
	}
	if len(d.Streams) > 0 {
		note("the workload makes the data streams %s: set spec.workload.index.dataStream", strings.Join(d.Streams, ", "))
	}
	for _, name := range w.unused {
		note("no template uses the parameter %s: an index template of Knee's sets the topology's, unless the index's body or its create-index task sets another", name)
	}
	if known, ok := workloads.Documents(name, func(p string) (string, bool) { v, set := w.params[p]; return v, set }); ok {
		if _, documents, _ := ingestOf(d); documents != known && w.params["ingest_percentage"] == "" {
			note("kubectl knee plan reckons with %d documents for a workload of this name", known)
		}
	}
	return problems, notes
}
