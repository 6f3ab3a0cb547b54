package opensearch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// DeleteIndex deletes an index, or all indices that match a pattern. A missing index is no error.
func (c *Client) DeleteIndex(ctx context.Context, index string) error {
	if isPattern(index) {
		return c.deleteMatching(ctx, index)
	}
	err := c.call(ctx, http.MethodDelete, "/"+url.PathEscape(index)+"?ignore_unavailable=true&timeout=10s", nil, nil)
	if NotFound(err) {
		return nil
	}
	return err
}

// IndexExists reports whether an index exists, or whether an index matches a pattern.
func (c *Client) IndexExists(ctx context.Context, index string) (bool, error) {
	if isPattern(index) {
		names, err := c.matching(ctx, index)
		return len(names) > 0, err
	}
	err := c.call(ctx, http.MethodHead, "/"+url.PathEscape(index), nil, nil)
	if NotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// Topology holds the index settings of a trial's topology.
type Topology struct {
	Primaries       int32
	Replicas        int32
	RefreshInterval string // empty: OpenSearch's default
	Replication     string // index.replication.type; empty: the cluster's default
}

// settings returns the topology's settings with the setting names of the API.
func (t Topology) settings() map[string]any {
	s := map[string]any{
		"index.number_of_shards":   strconv.Itoa(int(t.Primaries)),
		"index.number_of_replicas": strconv.Itoa(int(t.Replicas)),
	}
	if t.RefreshInterval != "" {
		s["index.refresh_interval"] = t.RefreshInterval
	}
	if t.Replication != "" {
		s["index.replication.type"] = t.Replication
	}
	return s
}

// PutTemplate stores a template with the topology's settings, which apply if the create body of a workload omits them. It is
// a legacy template with an order below the default 0. So legacy templates of the workload override it, and a matching
// composable template replaces it. A composable template could not be used here: at any priority, it would disable all legacy
// templates. The settings of a create body override the settings of a template.
func (c *Client) PutTemplate(ctx context.Context, index string, t Topology) error {
	body := map[string]any{
		"index_patterns": []string{index},
		"order":          -1,
		"settings":       t.settings(),
	}
	return c.call(ctx, http.MethodPut, "/_template/"+url.PathEscape(templateName(index)), body, nil)
}

// DeleteTemplate deletes the template that PutTemplate stored. A missing template is no error.
func (c *Client) DeleteTemplate(ctx context.Context, index string) error {
	err := c.call(ctx, http.MethodDelete, "/_template/"+url.PathEscape(templateName(index)), nil, nil)
	if NotFound(err) {
		return nil
	}
	return err
}

func templateName(index string) string { return "knee-" + strings.TrimSuffix(index, "*") }

// CreateIndex creates an index from a body that IndexBody returned.
func (c *Client) CreateIndex(ctx context.Context, index string, body map[string]any) error {
	var out struct {
		Acknowledged bool `json:"acknowledged"`
		Shards       bool `json:"shards_acknowledged"`
	}
	err := c.call(ctx, http.MethodPut, "/"+url.PathEscape(index)+"?timeout=10s", body, &out)
	if err == nil && !out.Acknowledged {
		return fmt.Errorf("OpenSearch did not acknowledge the creation of index %s", index)
	}
	return err
}

// IndexBody parses an index body (settings, mappings, aliases). The topology's settings override the settings of the body.
func IndexBody(data []byte, t Topology) (map[string]any, error) {
	body := map[string]any{}
	if err := json.Unmarshal(data, &body); err != nil {
		return nil, fmt.Errorf("the index body is not JSON: %w", err)
	}
	settings := map[string]any{}
	if own, ok := body["settings"].(map[string]any); ok {
		flatten(settings, "", own)
	} else if body["settings"] != nil {
		return nil, fmt.Errorf("the field \"settings\" of the index body is not a JSON object")
	}
	delete(settings, "index.auto_expand_replicas")
	for k, v := range t.settings() {
		settings[k] = v
	}
	body["settings"] = settings
	return body, nil
}

// flatten converts nested settings to settings with full names. OpenSearch treats {"number_of_shards": 1}, {"index":
// {"number_of_shards": 1}} and {"index.number_of_shards": 1} as the same setting. It rejects a body that contains two of
// them.
func flatten(into map[string]any, prefix string, settings map[string]any) {
	for k, v := range settings {
		name := prefix + k
		if nested, ok := v.(map[string]any); ok {
			flatten(into, name+".", nested)
			continue
		}
		if !strings.HasPrefix(name, "index.") {
			name = "index." + name
		}
		into[name] = v
	}
}

// Made holds the settings of an index as the cluster reports them.
type Made struct {
	UUID            string
	Primaries       int32
	Replicas        int32
	RefreshInterval string
	Replication     string // index.replication.type
	Digest          string // digest of the effective settings and mapping, without values that are unique to each index
}

// shape formats those settings of an index that a topology sets.
func (m Made) shape() string {
	return fmt.Sprintf("%d primaries, %d replicas, refresh interval %s, replication %s", m.Primaries, m.Replicas, m.RefreshInterval, m.Replication)
}

// indexAnswer is the API's answer for one index.
type indexAnswer struct {
	Settings   map[string]any `json:"settings"`
	Defaults   map[string]any `json:"defaults"`
	Mappings   map[string]any `json:"mappings"`
	DataStream string         `json:"data_stream"` // data stream of a backing index; empty: no backing index
}

// ReadIndex reads the settings of an index, of the backing indices of a data stream, or of all indices that match a pattern.
// It does not accept an alias.
func (c *Client) ReadIndex(ctx context.Context, index string) (Made, error) {
	var answer map[string]indexAnswer
	path := "/" + url.PathEscape(index)
	if err := c.call(ctx, http.MethodGet, path+"?flat_settings=true&include_defaults=true", nil, &answer); err != nil {
		return Made{}, err
	}
	if got, ok := answer[index]; ok {
		return got.made()
	}
	if isPattern(index) {
		return alike(index, answer)
	}
	return newest(index, answer)
}

func (a indexAnswer) made() (Made, error) {
	text := func(key string) string {
		if s, ok := a.Settings[key].(string); ok {
			return s
		}
		s, _ := a.Defaults[key].(string)
		return s
	}
	number := func(key string) int32 {
		n, _ := strconv.ParseInt(text(key), 10, 32)
		return int32(n)
	}
	m := Made{
		UUID:            text("index.uuid"),
		Primaries:       number("index.number_of_shards"),
		Replicas:        number("index.number_of_replicas"),
		RefreshInterval: text("index.refresh_interval"),
		Replication:     text("index.replication.type"),
	}
	if m.RefreshInterval == "" {
		m.RefreshInterval = "1s" // OpenSearch's default; some versions omit it
	}
	if m.Replication == "" {
		m.Replication = "DOCUMENT" // the only type before OpenSearch 2.3
	}
	digest, err := digestOf(a.Settings, a.Mappings)
	m.Digest = digest
	return m, err
}

func digestOf(settings, mappings map[string]any) (string, error) {
	for _, key := range []string{"index.uuid", "index.creation_date", "index.provided_name"} {
		delete(settings, key)
	}
	data, err := json.Marshal([]any{settings, mappings}) // encoding/json sorts the keys, so the digest is stable
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8]), nil
}

// refreshTimeout limits the duration of one refresh. After a long refresh interval, a refresh must write all documents in
// memory to segments.
const refreshTimeout = 10 * time.Minute

// Refresh makes all accepted documents visible to Count.
func (c *Client) Refresh(ctx context.Context, index string) error {
	var out struct {
		Shards shards `json:"_shards"`
	}
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	if err := c.within(ctx, http.MethodPost, "/"+url.PathEscape(index)+"/_refresh", nil, &out); err != nil {
		return err
	}
	return out.Shards.failure("refresh of index " + index)
}

// Count returns the number of documents that a search of the primaries finds. It does not search replicas: under segment
// replication, a replica finds refreshed documents only after it has copied the segments.
func (c *Client) Count(ctx context.Context, index string) (int64, error) {
	var out struct {
		Count  int64  `json:"count"`
		Shards shards `json:"_shards"`
	}
	path := "/" + url.PathEscape(index) + "/_count"
	err := c.call(ctx, http.MethodGet, path+"?preference=_primary", nil, &out)
	var refused *StatusError
	if errors.As(err, &refused) && refused.Status == http.StatusBadRequest {
		err = c.call(ctx, http.MethodGet, path, nil, &out) // OpenSearch before 2.7 does not support this preference, and segment replication is experimental there
	}
	if err != nil {
		return 0, err
	}
	return out.Count, out.Shards.failure("document count of index " + index)
}

type shards struct {
	Total      int `json:"total"`
	Successful int `json:"successful"`
	Failed     int `json:"failed"`
}

func (s shards) failure(what string) error {
	if s.Failed == 0 {
		return nil
	}
	return fmt.Errorf("the %s failed on %d of %d shards", what, s.Failed, s.Total)
}

// Seconds parses a time value of the API, such as "30s" or "-1".
func Seconds(value string) (seconds float64, ok bool) {
	if value == "-1" {
		return -1, true
	}
	units := []struct {
		suffix string
		factor float64
	}{{"nanos", 1e-9}, {"micros", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}}
	for _, u := range units {
		if len(value) > len(u.suffix) && value[len(value)-len(u.suffix):] == u.suffix {
			if n, err := strconv.ParseFloat(value[:len(value)-len(u.suffix)], 64); err == nil {
				return n * u.factor, isFinite(n * u.factor)
			}
		}
	}
	if n, err := strconv.ParseFloat(value, 64); err == nil {
		return n / 1e3, isFinite(n)
	}
	return 0, false
}

// isFinite reports whether n is a number. strconv.ParseFloat also accepts NaN and Inf.
func isFinite(n float64) bool { return !math.IsNaN(n) && !math.IsInf(n, 0) }
