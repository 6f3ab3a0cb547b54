package cluster

import (
	"context"
	"net/http"
	"net/url"
)

// Health is the cluster's health.
type Health struct {
	Status       string `json:"status"`
	Nodes        int32  `json:"number_of_data_nodes"` // all of a cluster of Knee's; others may have cluster managers apart
	Relocating   int    `json:"relocating_shards"`
	Initializing int    `json:"initializing_shards"`
	Unassigned   int    `json:"unassigned_shards"`
	Pending      int    `json:"number_of_pending_tasks"`

	Indices map[string]Health `json:"indices"` // of IndexHealth: each index by itself, without nodes and tasks
}

// Health asks for the cluster's health as it is now.
func (c *Client) Health(ctx context.Context) (Health, error) {
	var h Health
	err := c.call(ctx, http.MethodGet, "/_cluster/health?timeout=1s", nil, &h)
	return h, err
}

// Indexing are the primaries' counters of an index, summed over its shards.
type Indexing struct {
	Total        int64 // index operations that succeeded
	Failed       int64 // index operations that failed
	Current      int64 // under way
	Merges       int64 // merges under way, of all copies
	Bytes        int64 // primaries' store
	ShardsFailed int   // shards that could not be asked
}

type indexStats struct {
	Shards shards `json:"_shards"`
	All    struct {
		Primaries primaryStats `json:"primaries"`
		Total     struct {
			Merges struct {
				Current int64 `json:"current"`
			} `json:"merges"`
		} `json:"total"`
	} `json:"_all"`
}

type primaryStats struct {
	Indexing struct {
		Total   int64 `json:"index_total"`
		Failed  int64 `json:"index_failed"`
		Current int64 `json:"index_current"`
	} `json:"indexing"`
	Store struct {
		Bytes int64 `json:"size_in_bytes"`
	} `json:"store"`
}

func (s indexStats) counters() Indexing {
	p := s.All.Primaries
	return Indexing{Total: p.Indexing.Total, Failed: p.Indexing.Failed, Current: p.Indexing.Current,
		Merges: s.All.Total.Merges.Current, Bytes: p.Store.Bytes, ShardsFailed: s.Shards.Failed}
}

// IndexState asks for the index's counters, merges and size, and for no more: a load is sampled with it.
func (c *Client) IndexState(ctx context.Context, index string) (Indexing, error) {
	var s indexStats
	err := c.call(ctx, http.MethodGet, "/"+url.PathEscape(index)+
		"/_stats/indexing,merge,store?filter_path=_shards.failed,_all.primaries.indexing,_all.primaries.store.size_in_bytes,_all.total.merges.current", nil, &s)
	return s.counters(), err
}

// IndexHealth asks for the health of an index, or of the backing indices of a data stream; its nodes are all of the
// cluster's.
func (c *Client) IndexHealth(ctx context.Context, index string) (Health, error) {
	var h Health
	err := c.call(ctx, http.MethodGet, "/_cluster/health/"+url.PathEscape(index)+"?level=indices&timeout=1s", nil, &h)
	return h, err
}

// Allocations tell which allocation serves each copy of an index's shards.
type Allocations struct {
	Primaries map[string]string // by shard, INDEX/NUMBER: node and allocation; unassigned where there is none
	Replicas  map[string]string // shards, by node and allocation; without those that are not assigned
}

// unassigned is where a shard is that no node has.
const unassigned = "/"

// Assigned says whether every primary has an allocation.
func (a Allocations) Assigned() bool {
	for _, at := range a.Primaries {
		if at == unassigned {
			return false
		}
	}
	return true
}

// Allocations asks for them: another primary after the load means that its counters began anew, another replica that
// it was copied meanwhile.
func (c *Client) Allocations(ctx context.Context, index string) (Allocations, error) {
	var state struct {
		Routing struct {
			Indices map[string]struct {
				Shards map[string][]struct {
					Primary    bool   `json:"primary"`
					Node       string `json:"node"`
					Allocation struct {
						ID string `json:"id"`
					} `json:"allocation_id"`
				} `json:"shards"`
			} `json:"indices"`
		} `json:"routing_table"`
	}
	err := c.call(ctx, http.MethodGet, "/_cluster/state/routing_table/"+url.PathEscape(index), nil, &state)
	out := Allocations{map[string]string{}, map[string]string{}}
	for name, i := range state.Routing.Indices {
		for number, copies := range i.Shards {
			for _, s := range copies {
				shard, at := name+"/"+number, s.Node+"/"+s.Allocation.ID
				switch {
				case s.Primary:
					out.Primaries[shard] = at
				case s.Allocation.ID != "":
					out.Replicas[at] = shard
				}
			}
		}
	}
	return out, err
}
