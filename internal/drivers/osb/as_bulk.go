package osb

import (
	"fmt"
	"math"
	"os"
	"time"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/drivers/bulk/bulkconfig"
	"github.com/knee-bench/knee/internal/drivers/osb/osbtool"
	"github.com/knee-bench/knee/internal/record"
)

// AsBulk converts the load of opensearch-benchmark to a configuration for Knee's own loader. The order of documents differs:
// Knee's loader sends the corpus in the order of the file. With opensearch-benchmark, each client sends its own part of the
// corpus.
func (d *Driver) AsBulk(made driver.Outcome, lasted time.Duration) (record.DriverConfig, error) {
	none := record.DriverConfig{}
	corpus, err := osbtool.ParseCorpus(d.rendered, d.config.TestProcedure, d.config.IngestTasks)
	if err != nil {
		return none, err
	}
	if made.BulkSize <= 0 || made.BulkSize > math.MaxInt32 {
		return none, fmt.Errorf("the workload's ingest task must set bulk-size to a number of at least 1")
	}
	file, err := firstExisting(corpus.Paths(d.run))
	if err != nil {
		return none, fmt.Errorf("cannot find the file of the corpus: %w", err)
	}
	bulk := bulkconfig.Config{Files: []string{file}, FlushDocuments: int32(made.BulkSize)}
	switch {
	case made.Timed:
		bulk.DurationSeconds = int32(max(1, math.Ceil(lasted.Seconds())))
	case made.Corpus > 0:
		bulk.Documents = made.Corpus
	default:
		return none, fmt.Errorf("the number of documents that opensearch-benchmark had to send is not known")
	}
	return record.NewDriverConfig(bulkconfig.Name, bulk), nil
}

// firstExisting returns the first of the paths that exists.
func firstExisting(paths []string) (path string, err error) {
	for _, path = range paths {
		if _, err = os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", err
}
