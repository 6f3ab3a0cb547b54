package opensearch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// policyPriority gives a trial's policy priority over every other policy that matches the name. The plugin refuses a second
// policy with the same priority.
const policyPriority = 2_000_000_000

// LacksPlugin reports whether an error means that the cluster does not have the called API. OpenSearch then answers
// with status 400 or 404.
func LacksPlugin(err error) bool {
	var s *StatusError
	return errors.As(err, &s) && (s.Status == http.StatusBadRequest || s.Status == http.StatusNotFound) && strings.Contains(s.Reason, "no handler found for uri")
}

// Policy makes an Index State Management policy that applies to a new index or data stream with a given name. data is either
// the body of the plugin's API, {"policy": {...}}, or the value of "policy". The ism_template of data is replaced.
func Policy(data []byte, index string) (map[string]any, error) {
	policy := map[string]any{}
	if err := json.Unmarshal(data, &policy); err != nil {
		return nil, fmt.Errorf("the ISM policy is not JSON: %w", err)
	}
	if inner, ok := policy["policy"].(map[string]any); ok {
		policy = inner
	}
	if _, ok := policy["states"].([]any); !ok {
		return nil, errors.New("the ISM policy has no array \"states\"")
	}
	// The plugin adds these fields to its answers, but rejects them in requests.
	for _, own := range []string{"policy_id", "last_updated_time", "schema_version"} {
		delete(policy, own)
	}
	policy["ism_template"] = []any{map[string]any{"index_patterns": []string{index}, "priority": policyPriority}}
	return map[string]any{"policy": policy}, nil
}

// PutPolicy stores a policy that Policy returned. It replaces the policy of an earlier trial.
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

// DeletePolicy deletes the policy that PutPolicy stored. A missing policy is no error.
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
