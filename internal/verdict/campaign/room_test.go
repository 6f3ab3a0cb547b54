package campaign_test

import (
	"fmt"
	"testing"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// TestDifferences_droppedPartsOfRecord_areIgnored checks that dropped parts of a record do not count as a difference of the
// environments. The image digest, which is longer than other texts, stays the same.
func TestDifferences_droppedPartsOfRecord_areIgnored(t *testing.T) {
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	c := campaigntest.OnOnePool()
	measure := campaigntest.WithEnvironment(func(*record.Record) {})
	_, a := campaigntest.Assess(c, func(trial record.Trial) record.Record {
		r := measure(trial)
		e := &r.Nodes[0].Environment
		e.Image, e.Disk = digest, "2 x nvme_card-pd 1024 GiB, 24 x nvme_card 375 GiB, disk 20 GiB, virtual disk 4 GiB, virtual disk 8 GiB"
		if trial.Variant == "b" {
			for i := range 40 {
				n := r.Nodes[0]
				n.Name = fmt.Sprintf("node-%d", i)
				r.Nodes = append(r.Nodes, n)
			}
		}
		return campaigntest.Stored(t, r)
	})
	for _, d := range a.Differences {
		if d.Suspect() {
			t.Errorf("%s differs: %+v", d.Field, d.Values)
		}
	}
}
