// Command goelasticsearch makes a load with the BulkIndexer of go-elasticsearch. As in its examples, one goroutine adds the documents.
package main

import (
	"bytes"
	"context"

	"github.com/elastic/go-elasticsearch/v8"
	"github.com/elastic/go-elasticsearch/v8/esutil"

	"github.com/knee-bench/knee/hack/bench/documents"
)

func main() { documents.Finish(run(documents.Parse())) }

func run(load documents.Load) (documents.Result, error) {
	client, err := elasticsearch.NewClient(elasticsearch.Config{Addresses: []string{load.URL}})
	if err != nil {
		return documents.Result{}, err
	}
	ctx := context.Background()
	var failure documents.FirstError
	indexer, err := esutil.NewBulkIndexer(esutil.BulkIndexerConfig{
		Client: client, Index: load.Index, NumWorkers: load.Workers, FlushBytes: load.FlushBytes,
		OnError: failure.Keep,
	})
	if err != nil {
		return documents.Result{}, err
	}
	added, seconds, err := load.Feed(func(document []byte) error {
		return indexer.Add(ctx, esutil.BulkIndexerItem{Action: "index", Body: bytes.NewReader(document)})
	}, func() error { return indexer.Close(ctx) })
	stats := indexer.Stats()
	return documents.Result{Documents: stats.NumFlushed, Failed: stats.NumFailed, Added: added, Seconds: seconds}, failure.Or(err)
}
