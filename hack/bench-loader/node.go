package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// node is an OpenSearch and the index that is loaded.
type node struct{ url, index string }

// nodeTimeout is the time-out of one request. A busy node takes long to create an index.
const nodeTimeout = 60 * time.Second

// call makes one request. A status other than 200 is an error.
func (n node) call(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, nodeTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, n.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		return nil, err
	}
	if reply.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s %s: %s: %.300s", method, path, reply.Status, text)
	}
	return text, nil
}

// body returns a body that creates the same index again.
func (n node) body(ctx context.Context) ([]byte, error) {
	text, err := n.call(ctx, http.MethodGet, "/"+n.index, nil)
	if err != nil {
		return nil, err
	}
	var all map[string]struct {
		Mappings json.RawMessage `json:"mappings"`
		Settings struct {
			Index map[string]any `json:"index"`
		} `json:"settings"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	i, found := all[n.index]
	if !found {
		return nil, fmt.Errorf("the reply does not name the index %s: %.200s", n.index, text)
	}
	for _, own := range []string{"creation_date", "provided_name", "uuid", "version"} { // set by OpenSearch itself
		delete(i.Settings.Index, own)
	}
	return json.Marshal(map[string]any{"mappings": i.Mappings, "settings": map[string]any{"index": i.Settings.Index}})
}

// renew deletes the index, creates it again and waits until all shards have started.
func (n node) renew(ctx context.Context, body []byte) error {
	if _, err := n.call(ctx, http.MethodDelete, "/"+n.index+"?ignore_unavailable=true", nil); err != nil {
		return err
	}
	if _, err := n.call(ctx, http.MethodPut, "/"+n.index, body); err != nil {
		return err
	}
	_, err := n.call(ctx, http.MethodGet, "/_cluster/health/"+n.index+"?wait_for_status=green&wait_for_no_initializing_shards=true&timeout=30s", nil)
	return err
}

// settleTime is the pause before each load.
const settleTime = 2 * time.Second

func (n node) settle(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(settleTime):
		return nil
	}
}

// indexed returns the number of documents that the primaries have indexed.
func (n node) indexed(ctx context.Context) (int64, error) {
	text, err := n.call(ctx, http.MethodGet, "/"+n.index+"/_stats/indexing?filter_path=_all.primaries.indexing.index_total", nil)
	if err != nil {
		return 0, err
	}
	var s struct {
		All struct {
			Primaries struct {
				Indexing struct {
					Total int64 `json:"index_total"`
				} `json:"indexing"`
			} `json:"primaries"`
		} `json:"_all"`
	}
	return s.All.Primaries.Indexing.Total, json.Unmarshal(text, &s)
}
