package synthetic_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	opensearchpkg "github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/test/contract"
	"github.com/knee-bench/knee/test/synthetic/opensearch"
)

// contractIndex is the index of the requests that both clusters get.
const contractIndex = "knee-contract"

// optional lists what the fake lacks because only a machine has it.
var optional = []string{"/nodes/*/os/cgroup", "/nodes/*/fs", "/nodes/*/os/pretty_name"}

// step is one call of the agent's client. It returns what the agent learns.
type step struct {
	name string
	call func(ctx context.Context, c *opensearchpkg.Client) (any, error)
	// same reduces the result to what must be equal for the original and the fake; nil: only the kind of error.
	same func(result any) any
}

func done(err error) (any, error) { return nil, err }

// contractSteps calls every method of the client that the trials with the fake use, before, during and after the life of an index.
func contractSteps() []step {
	topology := opensearchpkg.Topology{Primaries: 2, RefreshInterval: "30s"}
	body := map[string]any{"settings": map[string]any{"index.number_of_shards": "2", "index.number_of_replicas": "0", "index.refresh_interval": "30s"}, "mappings": map[string]any{"dynamic": "strict"}}
	whole := func(r any) any { return r }
	return []step{
		{"answers", func(ctx context.Context, c *opensearchpkg.Client) (any, error) { return done(c.Answers(ctx)) }, nil},
		{"health", func(ctx context.Context, c *opensearchpkg.Client) (any, error) { return c.Health(ctx) }, whole},
		{"delete of no index", func(ctx context.Context, c *opensearchpkg.Client) (any, error) {
			return done(c.DeleteIndex(ctx, contractIndex))
		}, nil},
		{"delete of no template", func(ctx context.Context, c *opensearchpkg.Client) (any, error) {
			return done(c.DeleteTemplate(ctx, contractIndex))
		}, nil},
		{"no index exists", func(ctx context.Context, c *opensearchpkg.Client) (any, error) {
			return c.IndexExists(ctx, contractIndex)
		}, whole},
		{"count of no index", func(ctx context.Context, c *opensearchpkg.Client) (any, error) { return c.Count(ctx, contractIndex) }, whole},
		{"state of no index", func(ctx context.Context, c *opensearchpkg.Client) (any, error) {
			return c.IndexState(ctx, contractIndex)
		}, whole},
		{"refresh of no index", func(ctx context.Context, c *opensearchpkg.Client) (any, error) {
			return done(c.Refresh(ctx, contractIndex))
		}, nil},
		{"settings of no index", func(ctx context.Context, c *opensearchpkg.Client) (any, error) {
			return c.ReadIndex(ctx, contractIndex)
		}, whole},
		{"allocations of no index", func(ctx context.Context, c *opensearchpkg.Client) (any, error) {
			return c.Allocations(ctx, contractIndex)
		}, whole},
		{"template", func(ctx context.Context, c *opensearchpkg.Client) (any, error) {
			return done(c.PutTemplate(ctx, contractIndex, topology))
		}, nil},
		{"create", func(ctx context.Context, c *opensearchpkg.Client) (any, error) {
			return done(c.CreateIndex(ctx, contractIndex, body))
		}, nil},
		{"create again", func(ctx context.Context, c *opensearchpkg.Client) (any, error) {
			return done(c.CreateIndex(ctx, contractIndex, body))
		}, nil},
		{"index exists", func(ctx context.Context, c *opensearchpkg.Client) (any, error) {
			return c.IndexExists(ctx, contractIndex)
		}, whole},
		{"index health", func(ctx context.Context, c *opensearchpkg.Client) (any, error) {
			return c.IndexHealth(ctx, contractIndex)
		}, whole},
		{"settings", func(ctx context.Context, c *opensearchpkg.Client) (any, error) {
			return c.ReadIndex(ctx, contractIndex)
		}, func(r any) any {
			m := r.(opensearchpkg.Made)
			return []any{m.Primaries, m.Replicas, m.RefreshInterval, m.Replication, m.UUID != ""}
		}},
		{"allocations", func(ctx context.Context, c *opensearchpkg.Client) (any, error) {
			return c.Allocations(ctx, contractIndex)
		}, func(r any) any {
			a := r.(opensearchpkg.Allocations)
			return []any{len(a.Primaries), len(a.Replicas), a.Assigned()}
		}},
		{"bulk", nil, nil},
		{"refresh", func(ctx context.Context, c *opensearchpkg.Client) (any, error) {
			return done(c.Refresh(ctx, contractIndex))
		}, nil},
		{"count", func(ctx context.Context, c *opensearchpkg.Client) (any, error) { return c.Count(ctx, contractIndex) }, whole},
		{"state", func(ctx context.Context, c *opensearchpkg.Client) (any, error) {
			return c.IndexState(ctx, contractIndex)
		}, func(r any) any {
			s := r.(opensearchpkg.Indexing)
			return []any{s.Total, s.Failed, s.Current, s.ShardsFailed, s.Bytes > 0}
		}},
		{"work", func(ctx context.Context, c *opensearchpkg.Client) (any, error) {
			return c.IndexWork(ctx, contractIndex)
		}, func(r any) any {
			return r.(opensearchpkg.Work).Segments > 0
		}},
		{"nodes", func(ctx context.Context, c *opensearchpkg.Client) (any, error) {
			nodes, missing, err := c.Nodes(ctx)
			return []any{nodes, missing}, err
		}, func(r any) any {
			n := r.([]any)[0].([]opensearchpkg.Node)
			return []any{len(n), r.([]any)[1], n[0].HasAdmission, n[0].HasReplication, n[0].HasRemoteStore, n[0].WriteRejected, n[0].HeapUsed > 0}
		}},
		{"node infos", func(ctx context.Context, c *opensearchpkg.Client) (any, error) { return c.NodeInfos(ctx) }, func(r any) any {
			n := r.([]opensearchpkg.NodeInfo)
			return []any{len(n), n[0].Started > 0, n[0].HeapMax > 0, n[0].Processors > 0, n[0].Mlockall, n[0].MaxFiles > 0}
		}},
		{"vitals", func(ctx context.Context, c *opensearchpkg.Client) (any, error) { return c.Vitals(ctx) }, func(r any) any {
			for _, v := range r.(map[string]opensearchpkg.Vital) {
				return []any{v.Heap > 0, v.Threads > 0, v.Active, v.Queue}
			}
			return "no node"
		}},
		{"explanation of no unassigned shard", func(ctx context.Context, c *opensearchpkg.Client) (any, error) { return c.WhyUnassigned(ctx) }, whole},
		{"delete", func(ctx context.Context, c *opensearchpkg.Client) (any, error) {
			return done(c.DeleteIndex(ctx, contractIndex))
		}, nil},
		{"delete of the template", func(ctx context.Context, c *opensearchpkg.Client) (any, error) {
			return done(c.DeleteTemplate(ctx, contractIndex))
		}, nil},
	}
}

// contractBulks are bulk requests: path, body, and whether the mapping refuses a document.
var contractBulks = [][2]string{
	{"/_bulk?filter_path=errors,items.*.status,items.*.error.type,items.*.error.reason", strings.Repeat("{\"index\":{}}\n{}\n", 100)},
	{"/_bulk?filter_path=errors,items.*.status,items.*.error.type,items.*.error.reason", strings.Repeat("{\"create\":{}}\n{}\n", 20)},
	{"/_bulk", strings.Repeat("{\"index\":{}}\n{}\n", 10)},
}

// sendBulks sends the bulk requests.
func sendBulks(ctx context.Context, network http.RoundTripper, url string) error {
	for _, bulk := range contractBulks {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/"+contractIndex+bulk[0], strings.NewReader(bulk[1]))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/x-ndjson")
		resp, err := network.RoundTrip(req)
		if err != nil {
			return err
		}
		_ = resp.Body.Close()
	}
	return nil
}

// kind returns the status and the type of an error of the API.
func kind(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("not found: %t, type %q", opensearchpkg.NotFound(err), opensearchpkg.ErrorType(err))
}

// clusterSide is one of the two clusters.
type clusterSide struct {
	recorder *contract.Recorder
	client   *opensearchpkg.Client
	url      string
}

func newSide(t *testing.T, network http.RoundTripper, url string) clusterSide {
	t.Helper()
	recorder := &contract.Recorder{Network: network}
	c, err := opensearchpkg.New(recorder, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return clusterSide{recorder, c, url}
}

// run runs a step and returns its replies.
func (s clusterSide) run(ctx context.Context, one step) (replies []contract.Reply, result any, err error) {
	s.recorder.Replies = nil
	if one.call == nil {
		err = sendBulks(ctx, s.recorder, s.url)
	} else {
		result, err = one.call(ctx, s.client)
	}
	return s.recorder.Replies, result, err
}

// read returns the paths that the agent reads in one of the replies to a step.
func read(t *testing.T, one step, replies []contract.Reply, at int) []string {
	t.Helper()
	if one.call == nil || len(replies[at].Body) == 0 {
		return nil
	}
	paths, err := contract.Read(replies[at].Body, func(changed []byte) any {
		varied := append([]contract.Reply(nil), replies...)
		varied[at].Body = changed
		c, err := opensearchpkg.New(&contract.Replay{Replies: varied}, "http://replayed:9200")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		result, err := one.call(t.Context(), c)
		return []any{result, kind(err)}
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestFakeOpenSearch_repliesAsRealOne sends the requests of a trial to a real OpenSearch and to the fake, and compares the
// replies: status, fields and types, every field that the agent reads, and the agent's results.
func TestFakeOpenSearch_repliesAsRealOne(t *testing.T) {
	original := newSide(t, http.DefaultTransport, contract.Cluster(t))
	server := opensearch.New(opensearch.Machine{Curve: steep})
	fake := newSide(t, opensearch.NewNetwork(server), "http://synthetic:9200")
	for _, one := range contractSteps() {
		t.Run(one.name, func(t *testing.T) {
			want, wantResult, wantErr := original.run(t.Context(), one)
			got, gotResult, gotErr := fake.run(t.Context(), one)
			if kind(wantErr) != kind(gotErr) {
				t.Errorf("the original: %v\nthe fake: %v", wantErr, gotErr)
			}
			if wantErr == nil && gotErr == nil && one.same != nil {
				if a, b := fmt.Sprintf("%+v", one.same(wantResult)), fmt.Sprintf("%+v", one.same(gotResult)); a != b {
					t.Errorf("the original: %s\nthe fake: %s", a, b)
				}
			}
			if len(want) != len(got) {
				t.Fatalf("%d replies of the original, %d of the fake", len(want), len(got))
			}
			for i := range want {
				for _, difference := range contract.Compare(want[i], got[i], read(t, one, want, i), optional) {
					t.Error(difference)
				}
			}
		})
	}
	if unknown := server.Unknown(); len(unknown) > 0 {
		t.Errorf("the fake does not know %q", unknown)
	}
}
