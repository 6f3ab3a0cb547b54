package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// TestNeeds checks that a campaign needs the pools of its cells. If the placement of the loader is Shared, the
// campaign also needs the pool of the loader.
func TestNeeds(t *testing.T) {
	c := pools([]string{"t", "u"}, []string{"a", "pool", "x"}, []string{"b", "pool", "y"})
	c.Spec.Variants[1].Architecture = "arm64"
	x := Pool{NodeSelector: map[string]string{"pool": "x"}}
	y := Pool{NodeSelector: map[string]string{"pool": "y", ArchLabel: "arm64"}}
	loaders := Pool{NodeSelector: map[string]string{"pool": "loaders"}}
	if diff := cmp.Diff([]Pool{x, y}, Needs(c)); diff != "" {
		t.Errorf("dedicated loader (-want +got):\n%s", diff)
	}
	c.Spec.Loader.Placement = v1alpha1.LoaderShared
	if diff := cmp.Diff([]Pool{x, loaders, y, loaders}, Needs(c)); diff != "" {
		t.Errorf("shared loader (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Pool{y, loaders}, NeedsOf(c, func(variant, topology v1alpha1.Name) bool { return variant == "b" && topology == "u" })); diff != "" {
		t.Errorf("one cell (-want +got):\n%s", diff)
	}
	for _, cell := range Build(c).Cells {
		if !MayShare(cell.Spec.Needs(), Needs(c)) || MayShare(cell.Spec.Needs(), []Pool{{NodeSelector: map[string]string{"pool": "z"}}}) {
			t.Errorf("needs of %s: %+v", cell.Name, cell.Spec.Needs())
		}
	}
}

// TestMayShare checks which pools may share a node. An endpoint is shared only with the same endpoint.
func TestMayShare(t *testing.T) {
	x, y := Pool{NodeSelector: map[string]string{"pool": "x"}}, Pool{NodeSelector: map[string]string{"pool": "y"}}
	any, here, there := Pool{}, Pool{Endpoint: "here:9200"}, Pool{Endpoint: "there:9200"}
	for _, tt := range []struct {
		a, b []Pool
		want bool
	}{
		{nil, nil, false},
		{[]Pool{any}, nil, false},
		{[]Pool{x}, []Pool{y}, false},
		{[]Pool{x}, []Pool{y, x}, true},
		{[]Pool{x}, []Pool{any}, true},
		{[]Pool{any}, []Pool{here}, false},
		{[]Pool{here}, []Pool{there}, false},
		{[]Pool{here}, []Pool{here}, true},
	} {
		if MayShare(tt.a, tt.b) != tt.want || MayShare(tt.b, tt.a) != tt.want {
			t.Errorf("%+v and %+v: want %t", tt.a, tt.b, tt.want)
		}
	}
}
