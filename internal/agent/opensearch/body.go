package opensearch

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// ofOneIndex lists settings, or prefixes of settings, that OpenSearch itself sets on an index. OpenSearch rejects them in a
// request that creates an index.
var ofOneIndex = []string{"index.uuid", "index.provided_name", "index.creation_date", "index.version.", "index.history.", "index.resize.",
	"index.remote_store.", "index.verified_before_close"}

// BodyOf returns a body (settings, mappings, aliases) that can create an existing index again under the same name.
func (c *Client) BodyOf(ctx context.Context, index string) ([]byte, error) {
	var answer map[string]struct {
		Settings map[string]any `json:"settings"`
		Mappings map[string]any `json:"mappings"`
		Aliases  map[string]any `json:"aliases"`
	}
	if err := c.call(ctx, http.MethodGet, "/"+url.PathEscape(index)+"?flat_settings=true", nil, &answer); err != nil {
		return nil, err
	}
	got, there := answer[index]
	if !there {
		return nil, fmt.Errorf("cannot read the settings of index %s: the name must be that of one index, not of an alias, a pattern or a data stream", index)
	}
	body := map[string]any{"settings": withoutPrefixes(got.Settings, ofOneIndex)}
	if len(got.Mappings) > 0 {
		body["mappings"] = got.Mappings
	}
	if len(got.Aliases) > 0 {
		body["aliases"] = got.Aliases
	}
	return json.Marshal(body)
}

func withoutPrefixes(settings map[string]any, prefixes []string) map[string]any {
	out := map[string]any{}
next:
	for name, value := range settings {
		for _, prefix := range prefixes {
			if strings.HasPrefix(name, prefix) {
				continue next
			}
		}
		out[name] = value
	}
	return out
}
