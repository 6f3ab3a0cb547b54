package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/knee-bench/knee/internal/access"
	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/load"
	"github.com/knee-bench/knee/internal/load/documents"
)

// loadByFlags makes the runs one after the other. It prints a row after each run, and a summary after the last run.
func loadByFlags(ctx context.Context, o loadOptions) (err error) {
	if err := o.complete(); err != nil {
		return err
	}
	if o.mock {
		url, stop, err := load.Mock(ctx)
		if err != nil {
			return err
		}
		defer stop()
		o.config.URL = url
	}
	a, err := accessOf(&o.external)
	if err != nil {
		return err
	}
	index, err := o.index(a)
	if err != nil {
		return err
	}
	l, err := load.Prepare(ctx, o.config, a)
	if err != nil {
		return err
	}
	defer l.Close()
	p := newPrinter(os.Stdout, o)
	defer func() { err = errors.Join(err, p.end()) }()
	for n := 1 - o.warmup; n <= o.runs; n++ {
		if n > 1-o.warmup && !waitFor(ctx, o.wait) {
			return ctx.Err()
		}
		if index != nil {
			if err := index.renew(ctx); err != nil {
				return err
			}
		}
		r, err := l.Run(ctx)
		if err != nil {
			return err
		}
		if err := p.run(n, r); err != nil {
			return err
		}
		if r.Ended != "" {
			return errors.New(r.Ended)
		}
	}
	return nil
}

// waitFor waits for d. It returns false if the context ends first.
func waitFor(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// loadIndex is the index or data stream that --create-index creates again before each run.
type loadIndex struct {
	client   *opensearch.Client
	name     string
	stream   bool
	body     []byte
	topology opensearch.Topology
}

// index returns the index that --create-index creates. It returns nil without --create-index: no index may be deleted without
// that flag.
func (o loadOptions) index(a access.Access) (*loadIndex, error) {
	if !o.create {
		return nil, nil
	}
	out := &loadIndex{name: o.config.Index, stream: o.config.DataStream, body: []byte(`{}`)}
	out.topology = opensearch.Topology{Primaries: int32(o.shards), Replicas: int32(o.replicas), RefreshInterval: o.refresh}
	var err error
	switch dataset := o.config.Bulk.Dataset; {
	case o.bodyFile != "":
		out.body, err = os.ReadFile(o.bodyFile)
	case dataset != "":
		out.body, err = out.own(dataset)
	}
	if err != nil {
		return nil, err
	}
	out.client, err = opensearch.Connect(a.Network(), o.config.URL, a)
	return out, err
}

// own returns the index body of a dataset. For a data stream, the body also names the timestamp field.
func (i *loadIndex) own(dataset string) ([]byte, error) {
	body, err := documents.Body(dataset)
	if err != nil || !i.stream {
		return body, err
	}
	field, err := documents.TimestampField(dataset)
	if err != nil {
		return nil, err
	}
	whole := map[string]any{}
	if err := json.Unmarshal(body, &whole); err != nil {
		return nil, err
	}
	whole["data_stream"] = map[string]any{"timestamp_field": map[string]any{"name": field}}
	return json.Marshal(whole)
}

// renew deletes the index, or the data stream, and creates it again.
func (i *loadIndex) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if i.stream {
		return i.renewStream(ctx)
	}
	body, err := opensearch.IndexBody(i.body, i.topology)
	if err != nil {
		return err
	}
	if err := i.client.DeleteIndex(ctx, i.name); err != nil {
		return fmt.Errorf("cannot delete index %s: %w", i.name, err)
	}
	if err := i.client.CreateIndex(ctx, i.name, body); err != nil {
		return fmt.Errorf("cannot create index %s: %w", i.name, err)
	}
	return nil
}

func (i *loadIndex) renewStream(ctx context.Context) error {
	template, err := opensearch.StreamTemplate(i.body, i.name, i.topology)
	if err != nil {
		return err
	}
	if err := i.client.DeleteDataStream(ctx, i.name); err != nil {
		return fmt.Errorf("cannot delete data stream %s: %w", i.name, err)
	}
	if err := i.client.PutStreamTemplate(ctx, i.name, template); err != nil {
		return fmt.Errorf("cannot write the index template of data stream %s: %w", i.name, err)
	}
	if err := i.client.CreateDataStream(ctx, i.name); err != nil {
		return fmt.Errorf("cannot create data stream %s: %w", i.name, err)
	}
	return nil
}
