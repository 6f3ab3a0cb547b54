package opensearch

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

// isPattern reports whether a name is a pattern, which means all indices with a prefix.
func isPattern(name string) bool { return strings.HasSuffix(name, "*") }

// matching returns the names of the indices that match a pattern, except hidden indices.
func (c *Client) matching(ctx context.Context, pattern string) ([]string, error) {
	var answer map[string]any
	err := c.call(ctx, http.MethodGet, "/"+url.PathEscape(pattern)+"/_settings/index.uuid", nil, &answer)
	if NotFound(err) {
		return nil, nil
	}
	return slices.Sorted(maps.Keys(answer)), err
}

// deleteMatching deletes all indices that match a pattern. It deletes each index by name, because a cluster may refuse to
// delete by pattern (action.destructive_requires_name).
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

// alike returns the common settings of all indices that match a pattern. It fails if shards, replicas, refresh interval or
// replication differ between the indices. The digest covers all indices.
func alike(pattern string, answer map[string]indexAnswer) (Made, error) {
	names := slices.Sorted(maps.Keys(answer))
	if len(names) == 0 {
		return Made{}, fmt.Errorf("no index matches the pattern %s", pattern)
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
			return Made{}, fmt.Errorf("the indices that match the pattern %s have different settings: index %s has %s; index %s has %s", pattern, names[0], first.shape(), name, made.shape())
		}
		fmt.Fprintln(digests, name, made.Digest)
	}
	first.UUID, first.Digest = "", hex.EncodeToString(digests.Sum(nil)[:8])
	return first, nil
}
