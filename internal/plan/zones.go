package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// ZoneLabel is the node label that holds the zone.
const ZoneLabel = "topology.kubernetes.io/zone"

// checkZones finds topologies whose nodes Knee cannot spread over zones, because another operator creates their pods.
func checkZones(p Plan, s v1alpha1.BenchmarkCampaignSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, t := range s.Topologies {
		operated := func(c Cell) bool { return c.Topology() == string(t.Name) && c.Operated() }
		if t.Zones != nil && slices.ContainsFunc(p.Cells, operated) {
			errs = append(errs, field.Forbidden(path.Index(i).Child("zones"),
				"Knee cannot spread the pods of provisioner OpenSearchCluster over zones, because the opensearch-k8s-operator creates these pods: "+
					"remove the field zones, or set opensearch.provisioner to StatefulSet"))
		}
	}
	return errs
}

// checkColdStarts finds campaigns in which Knee starts OpenSearch but runs no Warmup trials. Their first trials would measure a
// cold JVM.
func checkColdStarts(p Plan, path *field.Path) field.ErrorList {
	cold := func(c Cell) bool { return c.Provisioned() && c.Spec.WarmupTrials() == 0 }
	if !slices.ContainsFunc(p.Cells, cold) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, 0,
		"must be at least 1 if Knee starts OpenSearch, because the JVM is cold after a start: set workload.warmupTrials to 1 or more, or remove the field")}
}
