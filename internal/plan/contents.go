package plan

import (
	"cmp"
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// ConfigMap names what a campaign takes from a ConfigMap: one key of it, or all of it where Key is empty.
type ConfigMap struct{ Name, Key string }

// Contents holds what is known of the ConfigMaps that a campaign names. Package plan makes no API request: the caller of
// BuildWith reads the ConfigMaps.
type Contents struct {
	// Digests identify the contents, see package content. One that is missing is not known.
	Digests map[ConfigMap]string
	// Measured holds the hashes of all cells that have a record or a Job. A cell that was measured before contents were part
	// of identities keeps its identity.
	Measured map[string]bool
}

// Mounts are the ConfigMaps that a cell's trials mount; nil where they mount none in that place.
type Mounts struct {
	IndexBody *ConfigMap
	ISMPolicy *ConfigMap
	Files     *ConfigMap // all of a workload or a dataset
}

// Mounts are those of the cell's trials.
func (s CellSpec) Mounts() Mounts {
	m := Mounts{IndexBody: keyOf(s.Index.BodyFrom), ISMPolicy: keyOf(s.Topology.ISMPolicyFrom)}
	if from := s.filesFrom(); from != nil && from.ConfigMap != "" {
		m.Files = &ConfigMap{Name: from.ConfigMap}
	}
	return m
}

// filesFrom is where the files of the cell's load come from; nil where it needs none, or the driver's own repository has
// them.
func (s CellSpec) filesFrom() *v1alpha1.WorkloadSource {
	switch {
	case s.OSB != nil:
		return s.OSB.From
	case s.Bulk != nil && s.Bulk.Files != nil:
		return &s.Bulk.Files.From
	}
	return nil
}

func keyOf(from *v1alpha1.ConfigMapKey) *ConfigMap {
	if from == nil {
		return nil
	}
	return &ConfigMap{Name: from.Name, Key: from.Key}
}

// all lists the mounted ConfigMaps.
func (m Mounts) all() []ConfigMap {
	var out []ConfigMap
	for _, c := range []*ConfigMap{m.IndexBody, m.ISMPolicy, m.Files} {
		if c != nil {
			out = append(out, *c)
		}
	}
	return out
}

// sources are the digests of a cell's ConfigMaps, as far as they are known.
func (m Mounts) sources(digests map[ConfigMap]string) record.Sources {
	digest := func(c *ConfigMap) string {
		if c == nil {
			return ""
		}
		return digests[*c]
	}
	return record.Sources{IndexBody: digest(m.IndexBody), ISMPolicy: digest(m.ISMPolicy), Files: digest(m.Files)}
}

// ConfigMaps lists what a campaign takes from ConfigMaps, each once.
func ConfigMaps(c *v1alpha1.BenchmarkCampaign) []ConfigMap {
	var out []ConfigMap
	for _, cell := range Build(c).Cells {
		out = append(out, cell.Spec.Mounts().all()...)
	}
	slices.SortFunc(out, func(a, b ConfigMap) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Key, b.Key)) })
	return slices.Compact(out)
}

// RecordedContents returns the contents of a campaign's ConfigMaps by its records. The content of a ConfigMap is the one in the
// newest record of a cell that the campaign has now. A report that is made from records alone uses it, and the manager
// when a ConfigMap has been deleted.
func RecordedContents(c *v1alpha1.BenchmarkCampaign, records []record.Record) Contents {
	out := Contents{Digests: map[ConfigMap]string{}, Measured: map[string]bool{}}
	for _, r := range records {
		out.Measured[r.Trial.Cell] = true
	}
	cells := Build(c).Cells
	if !slices.ContainsFunc(cells, func(cell Cell) bool { return len(cell.Spec.Mounts().all()) > 0 }) {
		return out
	}
	newest := slices.Clone(records)
	slices.SortStableFunc(newest, func(a, b record.Record) int { return cmp.Compare(b.FinishedAt, a.FinishedAt) })
	type key struct{ cell, variant, topology, IndexBody, ISMPolicy, Files string }
	seen := map[key]bool{}
	for _, r := range newest {
		k := key{r.Trial.Cell, r.Trial.Variant, r.Trial.Topology, r.Sources.IndexBody, r.Sources.ISMPolicy, r.Sources.Files}
		if seen[k] {
			continue
		}
		seen[k] = true
		for _, cell := range cells {
			if cell.Variant() == k.variant && cell.Topology() == k.topology {
				out.learn(cell.Spec, r)
			}
		}
	}
	return out
}

// learn adds the digests of a record to c.Digests, if the spec with these digests has the identity of the record's cell.
func (c Contents) learn(spec CellSpec, r record.Record) {
	m, digests := spec.Mounts(), map[ConfigMap]string{}
	for at, digest := range map[*ConfigMap]string{m.IndexBody: r.Sources.IndexBody, m.ISMPolicy: r.Sources.ISMPolicy, m.Files: r.Sources.Files} {
		if at != nil && digest != "" {
			digests[*at] = digest
		}
	}
	spec.Contents = m.sources(digests)
	if Identity(spec) != r.Trial.Cell {
		return
	}
	for at, digest := range digests {
		if _, known := c.Digests[at]; !known {
			c.Digests[at] = digest
		}
	}
}
