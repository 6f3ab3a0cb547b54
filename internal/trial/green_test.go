package trial

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/cluster"
)

func TestAClusterThatIsNotGreenSaysWhy(t *testing.T) {
	for name, test := range map[string]struct{ health, explanation, want string }{
		"a full disk": {`{"status":"yellow","number_of_data_nodes":3,"unassigned_shards":2}`,
			`{"index":"logs","shard":1,"primary":false,"node_allocation_decisions":[{"deciders":[{"explanation":"the node is above the low watermark"}]}]}`,
			"it is yellow with 3 nodes, 2 shards unassigned; the replica of logs/1: the node is above the low watermark"},
		"nothing is unassigned": {`{"status":"green","number_of_data_nodes":2}`, "", "it is green with 2 nodes, 0 shards unassigned"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == "/_cluster/health":
					_, _ = io.WriteString(w, test.health)
				case r.URL.Path == "/_cluster/allocation/explain" && test.explanation != "":
					_, _ = io.WriteString(w, test.explanation)
				default:
					http.NotFound(w, r)
				}
			}))
			defer server.Close()
			client, err := cluster.New(nil, server.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = client.Close() }()
			a := &attempt{cluster: client, Options: Options{Config: record.Config{Nodes: 3}}}
			err = a.countBefore(t.Context())
			if reasonOf(err) != record.ReasonClusterNotReady || !strings.HasSuffix(err.Error(), test.want) {
				t.Errorf("got %v\nwant …%s", err, test.want)
			}
		})
	}
}
