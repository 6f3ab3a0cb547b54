package opensearch

import "testing"

// TestNodes_realReply_hasEveryCounter reads a real reply of OpenSearch 3.1.0 after it had refused bulk requests,
// reduced by nodeFilter. The reply has every counter of refused requests, including counters that are 0.
func TestNodes_realReply_hasEveryCounter(t *testing.T) {
	c := fakeCluster(t, map[string]string{"GET /_nodes/stats": "testdata/counters-3.1.0.json"})
	nodes, _, err := c.Nodes(t.Context())
	if err != nil || len(nodes) != 1 {
		t.Fatalf("%v, %v", nodes, err)
	}
	if n := nodes[0]; !n.HasAdmission || !n.HasReplication || !n.HasRemoteStore || n.WriteRejected == 0 {
		t.Errorf("%+v", n)
	}
}

func TestNodes_remoteStoreRejections(t *testing.T) {
	c := fakeCluster(t, map[string]string{"GET /_nodes/stats": `{"_nodes":{"failed":0},"nodes":{
	 "a":{"name":"n1","indices":{"segments":{"remote_store":{"upload":{"pressure":{"total_rejections":6}}}}}}}}`})
	nodes, _, err := c.Nodes(t.Context())
	if err != nil || len(nodes) != 1 {
		t.Fatalf("%v, %v", nodes, err)
	}
	if n := nodes[0]; n.RemoteStoreRejected != 6 || !n.HasRemoteStore || n.HasAdmission || n.HasReplication {
		t.Errorf("%+v", n)
	}
}
