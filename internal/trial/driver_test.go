package trial

import (
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/record"
)

// Exactly one driver makes the load.
func TestOneDriver(t *testing.T) {
	for name, c := range map[string]struct {
		config record.Config
		want   string
		err    string
	}{
		"osb":  {record.Config{OSB: &record.OSBConfig{}}, "osb", ""},
		"bulk": {record.Config{Bulk: &record.BulkConfig{}}, "bulk", ""},
		"none": {record.Config{}, "", "names no driver"},
		"two":  {record.Config{OSB: &record.OSBConfig{}, Bulk: &record.BulkConfig{}}, "", "spec.workload.bulk too"},
	} {
		d, err := newDriver(&attempt{Options: Options{Config: c.config}})
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || d.about().Name != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What the pods do makes up the whole.
func TestParts(t *testing.T) {
	for _, c := range []struct {
		pods, clients int32
	}{{1, 7}, {2, 7}, {4, 4}, {3, 64}, {5, 4096}} {
		var clients int32
		var share float64
		for i := range c.pods {
			p := part{i, c.pods}
			own := p.clients(c.clients)
			clients += own
			share += p.share(c.clients)
			if own < c.clients/c.pods || own > c.clients/c.pods+1 {
				t.Errorf("%+v: pod %d runs %d clients", c, i, own)
			}
		}
		if clients != c.clients || share < 0.999 || share > 1.001 {
			t.Errorf("%+v: %d clients, shares of %v", c, clients, share)
		}
	}
	if (part{}).clients(5) != 5 || (part{}).share(5) != 1 {
		t.Error("one pod does not do all")
	}
}
