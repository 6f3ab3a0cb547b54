package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/knee-bench/knee/internal/access"
	"github.com/knee-bench/knee/internal/load"
	"github.com/knee-bench/knee/internal/trial/cluster"
)

// loadByFlags makes the runs one after the other and prints a row of each, at last those of all.
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

// waitFor is false when the context ends first.
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

// loadIndex is the index or data stream that --create-index makes anew before each run.
type loadIndex struct {
	client   *cluster.Client
	name     string
	stream   bool
	body     []byte
	topology cluster.Topology
}

// index is what is to be made anew; nil without --create-index: nobody's index is deleted unasked.
func (o loadOptions) index(a access.Access) (*loadIndex, error) {
	if !o.create {
		return nil, nil
	}
	out := &loadIndex{name: o.config.Index, stream: o.config.DataStream, body: []byte(`{}`)}
	out.topology = cluster.Topology{Primaries: int32(o.shards), Replicas: int32(o.replicas), RefreshInterval: o.refresh}
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
	out.client, err = cluster.Connect(a.Network(), o.config.URL, a)
	return out, err
}

// own is the dataset's body; a data stream's names the field that is a document's time.
func (i *loadIndex) own(dataset string) ([]byte, error) {
	body, err := load.Body(dataset)
	if err != nil || !i.stream {
		return body, err
	}
	field, err := load.TimestampField(dataset)
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

// renew deletes the index, or the data stream, and creates it.
func (i *loadIndex) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if i.stream {
		return i.renewStream(ctx)
	}
	body, err := cluster.IndexBody(i.body, i.topology)
	if err != nil {
		return err
	}
	if err := i.client.DeleteIndex(ctx, i.name); err != nil {
		return fmt.Errorf("delete index %s: %w", i.name, err)
	}
	if err := i.client.CreateIndex(ctx, i.name, body); err != nil {
		return fmt.Errorf("create index %s: %w", i.name, err)
	}
	return nil
}

func (i *loadIndex) renewStream(ctx context.Context) error {
	template, err := cluster.StreamTemplate(i.body, i.name, i.topology)
	if err != nil {
		return err
	}
	if err := i.client.DeleteDataStream(ctx, i.name); err != nil {
		return fmt.Errorf("delete data stream %s: %w", i.name, err)
	}
	if err := i.client.PutStreamTemplate(ctx, i.name, template); err != nil {
		return fmt.Errorf("the template of data stream %s: %w", i.name, err)
	}
	if err := i.client.CreateDataStream(ctx, i.name); err != nil {
		return fmt.Errorf("create data stream %s: %w", i.name, err)
	}
	return nil
}
