package record

import (
	"fmt"
	"slices"
	"testing"
)

// TestEncode_differentSystems_environmentsAreShared checks nodes whose environments differ only in the fields of the operating
// system. After Encode drops these fields, the record holds the rest of the environment only once.
func TestEncode_differentSystems_environmentsAreShared(t *testing.T) {
	r := full(6, 1)
	for i := range r.Nodes {
		e := &r.Nodes[i].Environment
		e.Swap, e.NodeOS = fmt.Sprintf("%d GiB", i/2), fmt.Sprintf("Ubuntu 24.0%d", i/2) // equal in each pair of nodes, different between pairs
	}
	data, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(got.Dropped, "node.os") || slices.Contains(got.Dropped, dropOtherEnvironments) || got.Nodes[5].HeapUsedMax == 0 {
		t.Errorf("dropped %q", got.Dropped)
	}
	for i, n := range got.Nodes {
		want := r.Nodes[i].Environment
		want.NodeOS, want.ImageOS, want.Hypervisor, want.Swap, want.MaxProcesses = "", "", "", "", 0
		if n.Environment != want {
			t.Errorf("node %d: %+v", i, n.Environment)
		}
	}

	// A node with only a host and an operating system must not get the environment of the first node.
	r.Nodes[5].Environment = Environment{Host: "h", NodeOS: "Ubuntu 22.04"}
	if data, err = Encode(r); err != nil {
		t.Fatal(err)
	}
	if got, err = Decode(data); err != nil {
		t.Fatal(err)
	}
	if e := got.Nodes[5].Environment; e.CPUModel != "" {
		t.Errorf("the last node got %+v", e)
	}
}
