package plan

import (
	"cmp"
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// ConfigMap names the part of a ConfigMap that a campaign uses: one key, or all keys if Key is empty.
type ConfigMap struct{ Name, Key string }

// Contents holds the known contents of the ConfigMaps that a campaign names. Package plan makes no API request: the caller of
// BuildWith reads the ConfigMaps.
type Contents struct {
	// Digests identify the contents; see package content. If a digest is missing, the content is unknown.
	Digests map[ConfigMap]string
	// Measured holds the hashes of all cells that have a record or a Job. Early releases of Knee had no contents in identities. A cell
	// that was measured by such a release keeps its identity.
	Measured map[string]bool
}

// Mounts holds the ConfigMaps that a cell's trials mount. A field is nil if the trials mount no ConfigMap for this purpose.
type Mounts struct {
	IndexBody *ConfigMap
	ISMPolicy *ConfigMap
	Files     *ConfigMap // all files of a workload or a dataset
}

// Mounts returns the ConfigMaps that the cell's trials mount.
func (s CellSpec) Mounts() Mounts {
	m := Mounts{IndexBody: keyOf(s.Index.BodyFrom), ISMPolicy: keyOf(s.Topology.ISMPolicyFrom)}
	if from, _ := s.Driver().Files(); from != nil && from.ConfigMap != "" {
		m.Files = &ConfigMap{Name: from.ConfigMap}
	}
	return m
}

func keyOf(from *v1alpha1.ConfigMapKey) *ConfigMap {
	if from == nil {
		return nil
	}
	return &ConfigMap{Name: from.Name, Key: from.Key}
}

// list lists the mounted ConfigMaps.
func (m Mounts) list() []ConfigMap {
	var out []ConfigMap
	for _, c := range []*ConfigMap{m.IndexBody, m.ISMPolicy, m.Files} {
		if c != nil {
			out = append(out, *c)
		}
	}
	return out
}

// sources returns the known digests of a cell's ConfigMaps.
func (m Mounts) sources(digests map[ConfigMap]string) record.Sources {
	digest := func(c *ConfigMap) string {
		if c == nil {
			return ""
		}
		return digests[*c]
	}
	return record.Sources{IndexBody: digest(m.IndexBody), ISMPolicy: digest(m.ISMPolicy), Files: digest(m.Files)}
}

// ConfigMaps returns the parts of ConfigMaps that a campaign uses, without duplicates.
func ConfigMaps(c *v1alpha1.BenchmarkCampaign) []ConfigMap {
	var out []ConfigMap
	for _, cell := range Build(c).Cells {
		out = append(out, cell.Spec.Mounts().list()...)
	}
	slices.SortFunc(out, func(a, b ConfigMap) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Key, b.Key)) })
	return slices.Compact(out)
}

// RecordedContents returns the contents of a campaign's ConfigMaps according to its records. The content of a ConfigMap is taken from the
// newest record of a cell that the campaign has now. The function is used for reports that are made only from records, and by the manager
// if a ConfigMap was deleted.
func RecordedContents(c *v1alpha1.BenchmarkCampaign, records []record.Record) Contents {
	out := Contents{Digests: map[ConfigMap]string{}, Measured: map[string]bool{}}
	for _, r := range records {
		out.Measured[r.Attempt.Cell] = true
	}
	cells := Build(c).Cells
	if !slices.ContainsFunc(cells, func(cell Cell) bool { return len(cell.Spec.Mounts().list()) > 0 }) {
		return out
	}
	newest := slices.Clone(records)
	slices.SortStableFunc(newest, func(a, b record.Record) int { return cmp.Compare(b.EndTime(), a.EndTime()) })
	type key struct{ cell, variant, topology, IndexBody, ISMPolicy, Files string }
	seen := map[key]bool{}
	for _, r := range newest {
		k := key{r.Attempt.Cell, r.Attempt.Variant, r.Attempt.Topology, r.Sources.IndexBody, r.Sources.ISMPolicy, r.Sources.Files}
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

// learn adds the digests of a record to c.Digests, if the identity of spec with these digests equals the identity of the record's cell.
func (c Contents) learn(spec CellSpec, r record.Record) {
	m, digests := spec.Mounts(), map[ConfigMap]string{}
	for at, digest := range map[*ConfigMap]string{m.IndexBody: r.Sources.IndexBody, m.ISMPolicy: r.Sources.ISMPolicy, m.Files: r.Sources.Files} {
		if at != nil && digest != "" {
			digests[*at] = digest
		}
	}
	spec.Contents = m.sources(digests)
	if Identity(spec) != r.Attempt.Cell {
		return
	}
	for at, digest := range digests {
		if _, known := c.Digests[at]; !known {
			c.Digests[at] = digest
		}
	}
}
