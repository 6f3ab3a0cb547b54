package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/knee-bench/knee/internal/load"
	"github.com/knee-bench/knee/internal/record"
)

// kneeArgs are those with which a trial starts the loader: a load in JSON.
func (o options) kneeArgs(l job) (string, []string, error) {
	c := load.Config{URL: l.url, Index: l.index, Workers: l.workers, Bulk: record.BulkConfig{
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
		return programResult{}, fmt.Errorf("the load has ended early: %s", r.Ended)
	}
	return programResult{Documents: r.Documents.Acknowledged, Added: r.Documents.Added, Seconds: r.Seconds(), loadCPU: r.CPUSeconds}, nil
}
