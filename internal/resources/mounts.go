package resources

import (
	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
)

// Mount is something that a trial's pod mounts and that the campaign's owner makes: a ConfigMap or a claim.
type Mount struct {
	Field     string // of the campaign, that names it
	ConfigMap string
	Key       string // that the ConfigMap must have; empty: any
	Claim     string // name of a PersistentVolumeClaim

	Digest string // of what the ConfigMap must hold, where Pinned
	Pinned bool   // the content is part of the cell's identity
}

// Mounts are those of a cell's trials.
func Mounts(c *v1alpha1.BenchmarkCampaign, cell plan.Cell) []Mount {
	var out []Mount
	known, pinned := cell.Spec.Contents, !cell.OldIdentity
	if body := cell.Spec.Index.BodyFrom; body != nil {
		out = append(out, Mount{Field: "spec.workload.index.bodyFrom", ConfigMap: body.Name, Key: body.Key, Digest: known.IndexBody, Pinned: pinned})
	}
	if policy := cell.Spec.Topology.ISMPolicyFrom; policy != nil {
		out = append(out, Mount{Field: "spec.topologies[" + cell.Topology() + "].ismPolicyFrom", ConfigMap: policy.Name, Key: policy.Key,
			Digest: known.ISMPolicy, Pinned: pinned})
	}
	if from, field := driverOf(cell.Spec).from(); from != nil {
		switch {
		case from.ConfigMap != "":
			out = append(out, Mount{Field: field + ".configMap", ConfigMap: from.ConfigMap, Digest: known.Files, Pinned: pinned})
		case from.Volume != nil:
			out = append(out, Mount{Field: field + ".volume.claimName", Claim: from.Volume.ClaimName})
		}
	}
	if c.Spec.Artifacts != nil {
		out = append(out, Mount{Field: "spec.artifacts.claimName", Claim: c.Spec.Artifacts.ClaimName})
	}
	return out
}
