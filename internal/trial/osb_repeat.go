package trial

import (
	"fmt"
	"math"
	"os"

	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/record"
)

// asBulk is the load that the program made, for Knee's own loader: the corpus' documents in their order, where each client
// of the program has a stretch of them.
func (d *osbDriver) asBulk() (record.BulkConfig, error) {
	out, none := d.a.outcome, record.BulkConfig{}
	corpus, err := driver.ParseOSBCorpus(d.rendered, d.a.Config.OSB.TestProcedure, d.a.Config.OSB.IngestTasks)
	if err != nil {
		return none, err
	}
	if out.bulkSize <= 0 || out.bulkSize > math.MaxInt32 {
		return none, fmt.Errorf("the workload does not tell its bulk size")
	}
	file, err := firstThere(corpus.Paths(d.run))
	if err != nil {
		return none, fmt.Errorf("the corpus: %w", err)
	}
	bulk := record.BulkConfig{Files: []string{file}, FlushDocuments: int32(out.bulkSize)}
	switch {
	case out.timed:
		bulk.DurationSeconds = int32(max(1, math.Ceil(d.a.facts.whole.Seconds())))
	case out.corpus > 0:
		bulk.Documents = out.corpus
	default:
		return none, fmt.Errorf("how many documents opensearch-benchmark was to send is not known")
	}
	return bulk, nil
}

// firstThere is the first of the files that is there.
func firstThere(paths []string) (path string, err error) {
	for _, path = range paths {
		if _, err = os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", err
}
