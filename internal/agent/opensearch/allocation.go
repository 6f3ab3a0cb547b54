package opensearch

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// WhyUnassigned returns the cluster's explanation why a copy of a shard has no node, such as a disk above the low watermark.
// The cluster chooses the copy. If all copies have a node, WhyUnassigned returns an error.
func (c *Client) WhyUnassigned(ctx context.Context) (string, error) {
	var e struct {
		Index       string `json:"index"`
		Shard       int    `json:"shard"`
		Primary     bool   `json:"primary"`
		Explanation string `json:"allocate_explanation"`
		Nodes       []struct {
			Deciders []struct {
				Explanation string `json:"explanation"`
			} `json:"deciders"`
		} `json:"node_allocation_decisions"`
	}
	if err := c.call(ctx, http.MethodGet, "/_cluster/allocation/explain", nil, &e); err != nil {
		return "", err
	}
	var why []string
	for _, n := range e.Nodes {
		for _, d := range n.Deciders {
			if !slices.Contains(why, d.Explanation) {
				why = append(why, d.Explanation)
			}
		}
	}
	if len(why) == 0 {
		why = []string{e.Explanation}
	}
	kind := "the replica"
	if e.Primary {
		kind = "the primary"
	}
	return fmt.Sprintf("%s of shard %s/%d is unassigned: %s", kind, e.Index, e.Shard, strings.Join(why, "; ")), nil
}
