package driver

import "testing"

// TestPart_sumsUp checks that the parts of all pods add up to the complete load.
func TestPart_sumsUp(t *testing.T) {
	for _, c := range []struct {
		pods, clients int32
	}{{1, 7}, {2, 7}, {4, 4}, {3, 64}, {5, 4096}} {
		var clients int32
		var share float64
		for i := range c.pods {
			p := Part{i, c.pods}
			own := p.Clients(c.clients)
			clients += own
			share += p.ShareOf(c.clients)
			if own < c.clients/c.pods || own > c.clients/c.pods+1 {
				t.Errorf("%+v: pod %d runs %d clients", c, i, own)
			}
		}
		if clients != c.clients || share < 0.999 || share > 1.001 {
			t.Errorf("%+v: %d clients, shares of %v", c, clients, share)
		}
	}
	if (Part{}).Clients(5) != 5 || (Part{}).ShareOf(5) != 1 {
		t.Error("one pod does not do all")
	}
}
