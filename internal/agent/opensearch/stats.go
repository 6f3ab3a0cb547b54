package opensearch

import (
	"context"
	"net/http"
	"net/url"
)

// Health is the health of the cluster or of an index.
type Health struct {
	Status       string `json:"status"`
	Nodes        int32  `json:"number_of_data_nodes"` // only data nodes; a cluster that Knee did not create may have separate cluster manager nodes
	Relocating   int    `json:"relocating_shards"`
	Initializing int    `json:"initializing_shards"`
	Unassigned   int    `json:"unassigned_shards"`
	Pending      int    `json:"number_of_pending_tasks"`

	Indices map[string]Health `json:"indices"` // set only by IndexHealth: health of each index, without nodes and tasks
}

// Health reads the current health of the cluster.
func (c *Client) Health(ctx context.Context) (Health, error) {
	var h Health
	err := c.call(ctx, http.MethodGet, "/_cluster/health?timeout=1s", nil, &h)
	return h, err
}

// Indexing holds the counters of the primaries of an index, summed over its shards.
type Indexing struct {
	Total        int64 // index operations that succeeded
	Failed       int64 // index operations that failed
	Current      int64 // index operations that are running
	Merges       int64 // merges that are running, in primaries and replicas
	Bytes        int64 // size of the primaries' store
	ShardsFailed int   // number of shards that did not answer
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

// IndexState reads the counters, the merges and the size of an index. It requests nothing else, because it is called often
// during a load.
func (c *Client) IndexState(ctx context.Context, index string) (Indexing, error) {
	var s indexStats
	err := c.call(ctx, http.MethodGet, "/"+url.PathEscape(index)+
		"/_stats/indexing,merge,store?filter_path=_shards.failed,_all.primaries.indexing,_all.primaries.store.size_in_bytes,_all.total.merges.current", nil, &s)
	return s.counters(), err
}

// IndexHealth reads the health of an index, or of the backing indices of a data stream. The field Nodes counts the nodes of
// the whole cluster.
func (c *Client) IndexHealth(ctx context.Context, index string) (Health, error) {
	var h Health
	err := c.call(ctx, http.MethodGet, "/_cluster/health/"+url.PathEscape(index)+"?level=indices&timeout=1s", nil, &h)
	return h, err
}

// Allocations lists the allocation of each copy of an index's shards.
type Allocations struct {
	Primaries map[string]string // key: INDEX/NUMBER of the shard; value: node and allocation ID, or unassigned
	Replicas  map[string]string // key: node and allocation ID; value: shard; only assigned replicas
}

// unassigned is the value in Allocations.Primaries for a shard without a node.
const unassigned = "/"

// Assigned reports whether every primary has an allocation.
func (a Allocations) Assigned() bool {
	for _, at := range a.Primaries {
		if at == unassigned {
			return false
		}
	}
	return true
}

// Allocations reads the allocations of an index. A changed allocation of a primary means that its counters were reset. A
// changed allocation of a replica means that the replica was copied.
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
