package resources

import (
	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
)

// Mount is a ConfigMap or a claim that the user creates and a pod of Knee mounts.
type Mount struct {
	Field     string // field of the campaign that names the ConfigMap or claim
	ConfigMap string
	Key       string // key that the ConfigMap must have; empty: no specific key
	Claim     string // name of a PersistentVolumeClaim

	Digest string // digest of the required content, if Pinned
	Pinned bool   // the content is part of the cell's identity
}

// Mounts returns the ConfigMaps and claims that a cell's pods mount.
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
	if from, field := cell.Spec.Driver().Files(); from != nil {
		switch {
		case from.ConfigMap != "":
			out = append(out, Mount{Field: field.Child("configMap").String(), ConfigMap: from.ConfigMap, Digest: known.Files, Pinned: pinned})
		case from.Volume != nil:
			out = append(out, Mount{Field: field.Child("volume", "claimName").String(), Claim: from.Volume.ClaimName})
		}
	}
	if c.Spec.Artifacts != nil {
		out = append(out, Mount{Field: "spec.artifacts.claimName", Claim: c.Spec.Artifacts.ClaimName})
	}
	return append(out, templateMounts(cell)...)
}
