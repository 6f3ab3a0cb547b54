package trial

import (
	"context"
	"strings"

	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/record"
)

func (d *osbDriver) searches() bool { return len(d.a.Config.OSB.SearchTasks) > 0 }

// search runs the search tasks on the index just built.
func (d *osbDriver) search(ctx context.Context) ([]record.Task, error) {
	run := d.searchRun()
	run.Tasks = d.a.Config.OSB.SearchTasks
	o, err := d.call(ctx, run, nil)
	if err != nil {
		return nil, err
	}
	if o.exit != 0 {
		d.exit = o.exit
		return nil, fail(record.ReasonDriverFailed, "opensearch-benchmark %s in the search tasks: %s", ending(o.exit), driver.TellingOSBOutput(o.output, maxMessage))
	}
	var tasks []record.Task
	for _, t := range o.result.Tasks {
		t.Search, t.Target = true, d.targets[t.Name].In(t.Unit, 0)
		tasks = append(tasks, t)
	}
	return tasks, checkSearch(o)
}

// searchRun is the run of the search tasks.
func (d *osbDriver) searchRun() driver.OSBRun {
	run := d.run
	run.ID = d.a.runID("-search")
	return run
}

// checkSearch says whether every search task was measured.
func checkSearch(o osbOutcome) error {
	if len(o.result.Tasks) == 0 {
		return fail(record.ReasonDriverIncomplete, "opensearch-benchmark measured no search task")
	}
	for _, t := range o.result.Tasks {
		if t.ErrorRate > 0 {
			return fail(record.ReasonRequestsFailed, "%.2f %% of the requests of search task %s failed: %s", 100*t.ErrorRate, t.Name, strings.Join(o.errors.Lines, "; "))
		}
		if t.Throughput == 0 || t.ServiceTime == nil {
			return fail(record.ReasonDriverIncomplete, "opensearch-benchmark has no figures of search task %s", t.Name)
		}
	}
	return nil
}
