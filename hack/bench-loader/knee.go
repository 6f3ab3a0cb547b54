package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/knee-bench/knee/internal/drivers/bulk/bulkconfig"
	"github.com/knee-bench/knee/internal/load"
)

// kneeArgs writes the configuration of Knee's loader to a file. It returns the path of the program and its arguments,
// as in a trial.
func (o options) kneeArgs(l job) (string, []string, error) {
	c := load.Config{URL: l.url, Index: l.index, Workers: l.workers, Bulk: bulkconfig.Config{
		Dataset: l.dataset, DurationSeconds: int32(l.time.Seconds()), FlushBytes: int64(l.flushBytes),
		FlushDocuments: int32(l.flushDocuments),
	}}
	if l.dataset == "" {
		c.Bulk.Files = []string{l.file}
	}
	encoded, err := json.Marshal(c)
	if err != nil {
		return "", nil, err
	}
	path := filepath.Join(l.dir, "load.json")
	return o.agent, []string{"load", "--config", path}, os.WriteFile(path, encoded, 0o600)
}

func kneeResult(stdout []byte) (programResult, error) {
	var r load.Result
	if err := json.Unmarshal(stdout, &r); err != nil {
		return programResult{}, err
	}
	if r.Ended != "" {
		return programResult{}, fmt.Errorf("the load ended early: %s", r.Ended)
	}
	return programResult{Documents: r.Documents.Acknowledged, Added: r.Documents.Added, Seconds: r.Seconds(), loadCPU: r.CPUSeconds}, nil
}
