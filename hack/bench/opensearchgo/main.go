// Command opensearchgo makes a load with the BulkIndexer of opensearch-go. As in its examples, one goroutine adds the documents.
package main

import (
	"bytes"
	"context"

	"github.com/opensearch-project/opensearch-go/v4"
	"github.com/opensearch-project/opensearch-go/v4/opensearchapi"
	"github.com/opensearch-project/opensearch-go/v4/opensearchutil"

	"github.com/knee-bench/knee/hack/bench/documents"
)

func main() { documents.Finish(run(documents.Parse())) }

func run(load documents.Load) (documents.Result, error) {
	client, err := opensearchapi.NewClient(opensearchapi.Config{Client: opensearch.Config{Addresses: []string{load.URL}}})
	if err != nil {
		return documents.Result{}, err
	}
	ctx := context.Background()
	var failure documents.FirstError
	indexer, err := opensearchutil.NewBulkIndexer(opensearchutil.BulkIndexerConfig{
		Client: client, Index: load.Index, NumWorkers: load.Workers, FlushBytes: load.FlushBytes,
		OnError: failure.Keep,
	})
	if err != nil {
		return documents.Result{}, err
	}
	added, seconds, err := load.Feed(func(document []byte) error {
		return indexer.Add(ctx, opensearchutil.BulkIndexerItem{Action: "index", Body: bytes.NewReader(document)})
	}, func() error { return indexer.Close(ctx) })
	stats := indexer.Stats()
	return documents.Result{Documents: stats.NumFlushed, Failed: stats.NumFailed, Added: added, Seconds: seconds}, failure.Or(err)
}
