package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// isPattern reports whether a name stands for all indices that begin as it does.
func isPattern(name string) bool { return strings.HasSuffix(name, "*") }

// matching lists the indices that a pattern stands for, those that are hidden aside.
func (c *Client) matching(ctx context.Context, pattern string) ([]string, error) {
	var answer map[string]any
	err := c.call(ctx, http.MethodGet, "/"+url.PathEscape(pattern)+"/_settings/index.uuid", nil, &answer)
	if NotFound(err) {
		return nil, nil
	}
	return slices.Sorted(maps.Keys(answer)), err
}

// deleteMatching deletes each index that a pattern stands for by its own name: a cluster may refuse to delete by pattern
// (action.destructive_requires_name).
func (c *Client) deleteMatching(ctx context.Context, pattern string) error {
	names, err := c.matching(ctx, pattern)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := c.DeleteIndex(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// alike gives what all indices of a pattern are. It fails when one is of other shards, replicas, refresh or replication than
// another. Its digest is that of all of them.
func alike(pattern string, answer map[string]indexAnswer) (Made, error) {
	names := slices.Sorted(maps.Keys(answer))
	if len(names) == 0 {
		return Made{}, fmt.Errorf("no index is named %s", pattern)
	}
	var first Made
	digests := sha256.New()
	for i, name := range names {
		made, err := answer[name].made()
		switch {
		case err != nil:
			return Made{}, err
		case i == 0:
			first = made
		case made.shape() != first.shape():
			return Made{}, fmt.Errorf("the indices of %s differ: %s has %s, %s has %s", pattern, names[0], first.shape(), name, made.shape())
		}
		fmt.Fprintln(digests, name, made.Digest)
	}
	first.UUID, first.Digest = "", hex.EncodeToString(digests.Sum(nil)[:8])
	return first, nil
}
