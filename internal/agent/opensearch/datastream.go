package opensearch

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// streamPriority gives the template of a trial's data stream priority over every other template of the cluster for that name.
// OpenSearch refuses a second template with the same priority.
const streamPriority = 2_000_000_000

// defaultTimestamp is the field that every document of a data stream must have, unless the template names another field.
const defaultTimestamp = "@timestamp"

type dataStreams struct {
	Streams []struct {
		Name     string `json:"name"`
		Template string `json:"template"`
	} `json:"data_streams"`
}

// IsDataStream reports whether a data stream has this name. If an index has the name, OpenSearch 3.1.0 returns an empty list.
// If nothing has the name, it answers with status 404.
func (c *Client) IsDataStream(ctx context.Context, name string) (bool, error) {
	var out dataStreams
	err := c.call(ctx, http.MethodGet, "/_data_stream/"+url.PathEscape(name), nil, &out)
	if NotFound(err) {
		return false, nil
	}
	return len(out.Streams) > 0, err
}

// DeleteDataStream deletes a data stream and its backing indices. A missing data stream is no error.
func (c *Client) DeleteDataStream(ctx context.Context, name string) error {
	err := c.call(ctx, http.MethodDelete, "/_data_stream/"+url.PathEscape(name), nil, nil)
	if NotFound(err) {
		return nil
	}
	return err
}

// StreamTemplate converts the body of an index to the index template of a data stream. The topology's settings override the
// settings of the body. The body may name the timestamp field in the form of an index template: "data_stream":
// {"timestamp_field": {"name": "time"}}. The body may also be a complete index template.
func StreamTemplate(data []byte, stream string, t Topology) (map[string]any, error) {
	given := struct {
		DataStream *struct {
			Timestamp struct {
				Name string `json:"name"`
			} `json:"timestamp_field"`
		} `json:"data_stream"`
		Template json.RawMessage `json:"template"`
	}{}
	if err := json.Unmarshal(data, &given); err != nil {
		return nil, fmt.Errorf("cannot decode the index body of the data stream as JSON: %w", err)
	}
	if given.Template != nil {
		data = given.Template
	}
	body, err := IndexBody(data, t)
	if err != nil {
		return nil, err
	}
	delete(body, "data_stream")
	timestamp := defaultTimestamp
	if given.DataStream != nil && given.DataStream.Timestamp.Name != "" {
		timestamp = given.DataStream.Timestamp.Name
	}
	return map[string]any{
		"index_patterns": []string{stream},
		"priority":       streamPriority,
		"data_stream":    map[string]any{"timestamp_field": map[string]any{"name": timestamp}},
		"template":       body,
	}, nil
}

// PutStreamTemplate stores a template that StreamTemplate returned.
func (c *Client) PutStreamTemplate(ctx context.Context, stream string, template map[string]any) error {
	return c.call(ctx, http.MethodPut, "/_index_template/"+url.PathEscape(templateName(stream)), template, nil)
}

// DeleteStreamTemplate deletes the template that PutStreamTemplate stored. A missing template is no error. OpenSearch does
// not delete the template while the data stream exists.
func (c *Client) DeleteStreamTemplate(ctx context.Context, stream string) error {
	err := c.call(ctx, http.MethodDelete, "/_index_template/"+url.PathEscape(templateName(stream)), nil, nil)
	if NotFound(err) {
		return nil
	}
	return err
}

// CreateDataStream creates a data stream. It fails if the data stream uses another template than the template that
// PutStreamTemplate stored.
func (c *Client) CreateDataStream(ctx context.Context, stream string) error {
	if err := c.call(ctx, http.MethodPut, "/_data_stream/"+url.PathEscape(stream), nil, nil); err != nil {
		return err
	}
	var out dataStreams
	if err := c.call(ctx, http.MethodGet, "/_data_stream/"+url.PathEscape(stream), nil, &out); err != nil {
		return err
	}
	for _, s := range out.Streams {
		if s.Name == stream && s.Template != templateName(stream) {
			return fmt.Errorf("data stream %s uses the existing index template %s instead of Knee's template: set a priority below %d in the existing template", stream, s.Template, streamPriority)
		}
	}
	return nil
}

// newest returns the backing index that a data stream writes to. This index represents all backing indices, because they were
// created from one template. newest fails if their shards, replicas, refresh interval or replication differ. The name of a
// backing index ends in a generation number of six digits, so the newest index is the last in the order of names.
func newest(stream string, backing map[string]indexAnswer) (Made, error) {
	var names []string
	for name, answer := range backing {
		if answer.DataStream == stream {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return Made{}, fmt.Errorf("the name %s belongs to neither an index nor a data stream: check whether an alias has this name", stream)
	}
	slices.Sort(names)
	var last Made
	for i, name := range names {
		made, err := backing[name].made()
		if err != nil {
			return Made{}, err
		}
		if i > 0 && made.shape() != last.shape() {
			return Made{}, fmt.Errorf("the backing indices of data stream %s have different settings: index %s has %s; index %s has %s", stream, names[i-1], last.shape(), name, made.shape())
		}
		last = made
	}
	return last, nil
}
