package osb

import (
	"context"
	"strings"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/agent/process"
	"github.com/knee-bench/knee/internal/drivers/osb/osbtool"
	"github.com/knee-bench/knee/internal/record"
)

// HasSearch implements driver.Searcher.
func (d *Driver) HasSearch() bool { return len(d.config.SearchTasks) > 0 }

// Search runs the search tasks on the index that the load filled.
func (d *Driver) Search(ctx context.Context) ([]record.Task, error) {
	run := d.searchRun()
	run.Tasks = d.config.SearchTasks
	o, err := d.call(ctx, run, nil)
	if err != nil {
		return nil, err
	}
	if o.exit != 0 {
		d.exit = o.exit
		return nil, record.Errorf(record.ReasonDriverFailed, "opensearch-benchmark %s during the search tasks (spec.workload.osb.searchTasks): %s", process.DescribeExit(o.exit), osbtool.FailureText(o.output, driver.MaxMessage))
	}
	var tasks []record.Task
	for _, t := range o.result.Tasks {
		t.Search, t.Target = true, d.targets[t.Name].In(t.Unit, 0)
		tasks = append(tasks, t)
	}
	return tasks, checkSearch(o)
}

// searchRun returns the configuration of the run with the search tasks.
func (d *Driver) searchRun() osbtool.Run {
	run := d.run
	run.ID = d.session.RunID("-search")
	return run
}

// checkSearch returns an error if a search task has no figures or failed requests.
func checkSearch(o osbCall) error {
	if len(o.result.Tasks) == 0 {
		return record.Errorf(record.ReasonDriverIncomplete, "opensearch-benchmark measured no search task: check spec.workload.osb.searchTasks")
	}
	for _, t := range o.result.Tasks {
		if t.ErrorRate > 0 {
			return record.Errorf(record.ReasonRequestsFailed, "%.2f %% of the requests of search task %s failed: %s", 100*t.ErrorRate, t.Name, strings.Join(o.errors.Lines, "; "))
		}
		if t.Throughput == 0 || t.ServiceTime == nil {
			return record.Errorf(record.ReasonDriverIncomplete, "opensearch-benchmark reported no throughput or no service time for search task %s", t.Name)
		}
	}
	return nil
}
