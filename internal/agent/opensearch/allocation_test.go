package opensearch

import "testing"

func TestWhyUnassigned(t *testing.T) {
	const path = "GET /_cluster/allocation/explain"
	for name, test := range map[string]struct{ answer, want string }{
		"of a real node": {"testdata/allocation_explain.json",
			"the replica of shard t1/0 is unassigned: a copy of this shard is already allocated to this node [[t1][0], node[wsIbXgOYT3OFVTbo2NTNzw], [P], s[STARTED], a[id=GbhkK-X2R_2bYf1w9h14yg]]"},
		"each reason once": {`{"index":"logs","shard":2,"primary":true,"node_allocation_decisions":[
		  {"deciders":[{"explanation":"the disk is full"},{"explanation":"throttled"}]},{"deciders":[{"explanation":"the disk is full"}]},{}]}`,
			"the primary of shard logs/2 is unassigned: the disk is full; throttled"},
		"no node was asked": {`{"index":"logs","shard":0,"primary":true,"allocate_explanation":"there are no copies of it"}`, "the primary of shard logs/0 is unassigned: there are no copies of it"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := fakeCluster(t, map[string]string{path: test.answer}).WhyUnassigned(t.Context()); err != nil || got != test.want {
				t.Errorf("got %q, %v\nwant %q", got, err, test.want)
			}
		})
	}
	if got, err := fakeCluster(t, nil).WhyUnassigned(t.Context()); err == nil {
		t.Errorf("all have a node: %q", got)
	}
}
