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

// What the pods do makes up the whole, and each client has as much to do as any other.
func TestParts(t *testing.T) {
	for _, c := range []struct {
		pods, clients int32
		documents     int64
	}{{1, 7, 100}, {2, 7, 100}, {4, 4, 1_000_003}, {3, 64, 1}, {5, 4096, 1_000_000_000_000}} {
		var clients int32
		var documents int64
		var share float64
		for i := range c.pods {
			p := part{i, c.pods}
			own := p.clients(c.clients)
			clients += own
			n := p.documents(c.documents, c.clients)
			documents += n
			share += p.share(c.clients)
			if even := float64(c.documents) * float64(own) / float64(c.clients); float64(n) < even-1 || float64(n) > even+1 {
				t.Errorf("%+v: pod %d sends %d documents with %d clients", c, i, n, own)
			}
		}
		if clients != c.clients || documents != c.documents || share < 0.999 || share > 1.001 {
			t.Errorf("%+v: %d clients, %d documents, shares of %v", c, clients, documents, share)
		}
	}
	if (part{}).clients(5) != 5 || (part{}).share(5) != 1 || (part{}).documents(9, 5) != 9 {
		t.Error("one pod does not do all")
	}
}
