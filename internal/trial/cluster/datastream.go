package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// streamPriority puts the template of a trial's data stream above any that the cluster has for the name: of two of one
// priority OpenSearch refuses the second.
const streamPriority = 2_000_000_000

// defaultTimestamp is the field that every document of a data stream must have, unless its template names another.
const defaultTimestamp = "@timestamp"

type dataStreams struct {
	Streams []struct {
		Name     string `json:"name"`
		Template string `json:"template"`
	} `json:"data_streams"`
}

// IsDataStream says whether there is a data stream of a name. Of an index OpenSearch 3.1.0 lists none, of nothing it says 404.
func (c *Client) IsDataStream(ctx context.Context, name string) (bool, error) {
	var out dataStreams
	err := c.call(ctx, http.MethodGet, "/_data_stream/"+url.PathEscape(name), nil, &out)
	if NotFound(err) {
		return false, nil
	}
	return len(out.Streams) > 0, err
}

// DeleteDataStream deletes a data stream with its backing indices; none there is as good.
func (c *Client) DeleteDataStream(ctx context.Context, name string) error {
	err := c.call(ctx, http.MethodDelete, "/_data_stream/"+url.PathEscape(name), nil, nil)
	if NotFound(err) {
		return nil
	}
	return err
}

// StreamTemplate is the index template of a data stream from the body of its backing indices, with the topology's settings
// over the body's own. The body is that of an index, and may say beside its settings and mappings, as an index template
// does, which field is the timestamp: "data_stream": {"timestamp_field": {"name": "time"}}. A whole index template is
// taken too.
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
		return nil, fmt.Errorf("the index body is not that of a data stream: %w", err)
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

// PutStreamTemplate puts what StreamTemplate made.
func (c *Client) PutStreamTemplate(ctx context.Context, stream string, template map[string]any) error {
	return c.call(ctx, http.MethodPut, "/_index_template/"+url.PathEscape(templateName(stream)), template, nil)
}

// DeleteStreamTemplate removes what PutStreamTemplate left; none there is as good. As long as there is the data stream,
// OpenSearch keeps its template.
func (c *Client) DeleteStreamTemplate(ctx context.Context, stream string) error {
	err := c.call(ctx, http.MethodDelete, "/_index_template/"+url.PathEscape(templateName(stream)), nil, nil)
	if NotFound(err) {
		return nil
	}
	return err
}

// CreateDataStream makes a data stream, of the template that PutStreamTemplate put and of no other.
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
			return fmt.Errorf("data stream %s was made by the index template %s, whose priority is above that of Knee's %d: lower it", stream, s.Template, streamPriority)
		}
	}
	return nil
}

// newest gives the backing index that a data stream writes to: what all of them are, since one template made them. It
// fails when one is of other shards, replicas or refresh than another. Their names end in a generation of six digits.
func newest(stream string, backing map[string]indexAnswer) (Made, error) {
	var names []string
	for name, answer := range backing {
		if answer.DataStream == stream {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return Made{}, fmt.Errorf("%s is neither an index nor a data stream", stream)
	}
	slices.Sort(names)
	var last Made
	for i, name := range names {
		made, err := backing[name].made()
		if err != nil {
			return Made{}, err
		}
		if i > 0 && made.shape() != last.shape() {
			return Made{}, fmt.Errorf("the backing indices of %s differ: %s has %s, %s has %s", stream, names[i-1], last.shape(), name, made.shape())
		}
		last = made
	}
	return last, nil
}
