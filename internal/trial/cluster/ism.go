package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// policyPriority puts a trial's policy above any other whose template matches the name: of two of one priority the plugin
// refuses the second.
const policyPriority = 2_000_000_000

// LacksPlugin says whether an error is the API's word that it knows no such call: OpenSearch says so, with status 400, of
// the calls of a plugin that it does not have.
func LacksPlugin(err error) bool {
	var s *StatusError
	return errors.As(err, &s) && (s.Status == http.StatusBadRequest || s.Status == http.StatusNotFound) && strings.Contains(s.Reason, "no handler found for uri")
}

// Policy is an Index State Management policy that an index or a data stream of a name is given when it is made. The body is
// that of the plugin's API, {"policy": {...}}, or what is in it; its own ism_template gives way.
func Policy(data []byte, index string) (map[string]any, error) {
	policy := map[string]any{}
	if err := json.Unmarshal(data, &policy); err != nil {
		return nil, fmt.Errorf("the ISM policy is not JSON: %w", err)
	}
	if inner, ok := policy["policy"].(map[string]any); ok {
		policy = inner
	}
	if _, ok := policy["states"].([]any); !ok {
		return nil, errors.New("the ISM policy has no states")
	}
	// The plugin adds these to its answers and takes them in no request.
	for _, own := range []string{"policy_id", "last_updated_time", "schema_version"} {
		delete(policy, own)
	}
	policy["ism_template"] = []any{map[string]any{"index_patterns": []string{index}, "priority": policyPriority}}
	return map[string]any{"policy": policy}, nil
}

// PutPolicy puts what Policy made in the place of the one that an earlier trial put.
func (c *Client) PutPolicy(ctx context.Context, index string, policy map[string]any) error {
	path := policyPath(index)
	var old struct {
		SeqNo       int64 `json:"_seq_no"`
		PrimaryTerm int64 `json:"_primary_term"`
	}
	err := c.call(ctx, http.MethodGet, path, nil, &old)
	switch {
	case err == nil:
		path += fmt.Sprintf("?if_seq_no=%d&if_primary_term=%d", old.SeqNo, old.PrimaryTerm)
	case LacksPlugin(err) || !NotFound(err):
		return err
	}
	return c.call(ctx, http.MethodPut, path, policy, nil)
}

// DeletePolicy removes what PutPolicy left; none there is as good.
func (c *Client) DeletePolicy(ctx context.Context, index string) error {
	err := c.call(ctx, http.MethodDelete, policyPath(index), nil, nil)
	if NotFound(err) || LacksPlugin(err) {
		return nil
	}
	return err
}

func policyPath(index string) string {
	return "/_plugins/_ism/policies/" + url.PathEscape("knee-"+index)
}
