package plan

import (
	"maps"
	"slices"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// withConfigMaps returns a campaign whose index body, one policy of a topology and workload come from ConfigMaps.
func withConfigMaps() *v1alpha1.BenchmarkCampaign {
	c := study()
	c.Spec.Workload.Index.BodyFrom = &v1alpha1.ConfigMapKey{Name: "body", Key: "index.json"}
	c.Spec.Workload.OSB.From = &v1alpha1.WorkloadSource{ConfigMap: "workload"}
	c.Spec.Topologies[0].ISMPolicyFrom = &v1alpha1.ConfigMapKey{Name: "policy", Key: "ism.json"}
	return c
}

var (
	body     = ConfigMap{"body", "index.json"}
	policy   = ConfigMap{"policy", "ism.json"}
	workFile = ConfigMap{"workload", ""}
)

func digests() map[ConfigMap]string {
	return map[ConfigMap]string{body: "b1", policy: "p1", workFile: "w1"}
}

func hashes(p Plan) []string {
	var out []string
	for _, c := range p.Cells {
		out = append(out, c.Hash)
	}
	return out
}

func TestConfigMaps_eachOnce(t *testing.T) {
	if got := ConfigMaps(withConfigMaps()); !slices.Equal(got, []ConfigMap{body, policy, workFile}) {
		t.Errorf("got %v", got)
	}
	if got := ConfigMaps(study()); got != nil {
		t.Errorf("a campaign without ConfigMaps has %v", got)
	}
}

// TestIdentityGolden_contents checks a stored identity, like TestIdentityGolden. If the identity changes, all users'
// trials are measured again.
func TestIdentityGolden_contents(t *testing.T) {
	p := BuildWith(withConfigMaps(), Contents{Digests: digests()})
	if got := p.Cells[0].Hash; got != "eigw3u47lfadkcwh" {
		t.Errorf("identity %s", got)
	}
}

func TestBuildWith_campaignWithoutConfigMaps_sameIdentity(t *testing.T) {
	if got := hashes(BuildWith(study(), Contents{Digests: digests()})); !slices.Equal(got, hashes(Build(study()))) {
		t.Errorf("got %v", got)
	}
}

func TestBuildWith_changedContent_anotherIdentity(t *testing.T) {
	before := hashes(BuildWith(withConfigMaps(), Contents{Digests: digests()}))
	for _, changed := range []ConfigMap{body, policy, workFile} {
		now := digests()
		now[changed] = "other"
		after := hashes(BuildWith(withConfigMaps(), Contents{Digests: now}))
		for i := range before {
			if before[i] == after[i] {
				t.Errorf("%v changed, and cell %d is the same", changed, i)
			}
		}
	}
}

// TestBuildWith_cellMeasuredWithoutContents_keepsItsIdentity checks a cell that was measured when identities did not
// yet include the contents of ConfigMaps. The cell must not be measured again after an upgrade.
func TestBuildWith_cellMeasuredWithoutContents_keepsItsIdentity(t *testing.T) {
	old := hashes(Build(withConfigMaps()))
	p := BuildWith(withConfigMaps(), Contents{Digests: digests(), Measured: map[string]bool{old[0]: true}})
	if p.Cells[0].Hash != old[0] || !p.Cells[0].OldIdentity {
		t.Errorf("the measured cell is %s, want %s", p.Cells[0].Hash, old[0])
	}
	if p.Cells[1].Hash == old[1] || p.Cells[1].OldIdentity {
		t.Error("a cell that was never measured goes without its contents")
	}
}

func TestRecordedContents(t *testing.T) {
	c := withConfigMaps()
	of := func(p Plan, at int64, s record.Sources) record.Record {
		cell := p.Cells[0]
		return record.Record{FinishedAt: at, Sources: s, Attempt: record.Attempt{Trial: record.Trial{Cell: cell.Hash, Variant: cell.Variant(), Topology: cell.Topology(), Placement: 1}}}
	}
	first := BuildWith(c, Contents{Digests: digests()})
	changed := digests()
	changed[body] = "b2"
	second := BuildWith(c, Contents{Digests: changed})
	edited := c.DeepCopy()
	edited.Spec.OpenSearch.Heap = "1Gi"
	otherHeap := BuildWith(edited, Contents{Digests: digests()})
	one, two := record.Sources{IndexBody: "b1", ISMPolicy: "p1", Files: "w1"}, record.Sources{IndexBody: "b2", ISMPolicy: "p1", Files: "w1"}

	for _, tt := range []struct {
		what    string
		records []record.Record
		want    map[ConfigMap]string
	}{
		{"no records", nil, map[ConfigMap]string{}},
		{"one content", []record.Record{of(first, 1, one)}, digests()},
		{"the newest of two", []record.Record{of(second, 5, two), of(first, 3, one)}, changed},
		{"of a cell that is no longer in the campaign, newer than its own", []record.Record{of(otherHeap, 9, one), of(first, 1, one)}, digests()},
		{"of another cell", []record.Record{of(first, 9, two)}, map[ConfigMap]string{}},
		{"without sources", []record.Record{of(Build(c), 9, record.Sources{})}, map[ConfigMap]string{}},
	} {
		got := RecordedContents(c, tt.records)
		if !maps.Equal(got.Digests, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.what, got.Digests, tt.want)
		}
		if len(tt.records) > 0 && !got.Measured[tt.records[0].Attempt.Cell] {
			t.Errorf("%s: the record's cell is not among those measured", tt.what)
		}
	}
}
