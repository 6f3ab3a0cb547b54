package record

import (
	"fmt"
	"slices"
	"testing"
)

// Nodes that differ only in what they say of their operating systems share the rest once that is left out.
func TestEncode_differentSystems_environmentsAreShared(t *testing.T) {
	r := full(6, 1)
	for i := range r.Nodes {
		e := &r.Nodes[i].Environment
		e.Swap, e.NodeOS = fmt.Sprintf("%d GiB", i/2), fmt.Sprintf("Ubuntu 24.0%d", i/2) // some equal the first
	}
	data, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(got.Dropped, "node.os") || slices.Contains(got.Dropped, otherEnvironmentsStep) || got.Nodes[5].HeapUsedMax == 0 {
		t.Errorf("dropped %q", got.Dropped)
	}
	for i, n := range got.Nodes {
		want := r.Nodes[i].Environment
		want.NodeOS, want.ImageOS, want.Hypervisor, want.Swap, want.MaxProcesses = "", "", "", "", 0
		if n.Environment != want {
			t.Errorf("node %d: %+v", i, n.Environment)
		}
	}

	// A node that says nothing but its host and its system gets nothing of the first node's.
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
