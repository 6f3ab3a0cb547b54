package observe

import (
	"errors"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/wrappers"
)

// TestCheckContents_configMapMissing_failsExceptForOldIdentities checks a campaign whose ConfigMap is missing. The
// check passes only if the cell was measured when identities did not yet include the contents of ConfigMaps.
func TestCheckContents_configMapMissing_failsExceptForOldIdentities(t *testing.T) {
	w := wrappers.MakeCampaign("x").Namespace("bench").UID("1").VariantOnAnyNode("a").Clients(1, 2)
	w.Spec.Workload.Index.BodyFrom = &v1alpha1.ConfigMapKey{Name: "body", Key: "index.json"}
	c := w.Obj()
	attempt := record.Attempt{Trial: record.Trial{Cell: plan.Build(c).Cells[0].Hash, Variant: "a", Topology: "1p0r", Phase: record.Sweep, Clients: 1, Repetition: 1, Placement: 1}, N: 1}
	contents := plan.RecordedContents(c, []record.Record{wrappers.MeasuredRecord(attempt, 1000)})
	api := fake.NewClientBuilder().WithScheme(scheme.New()).Build()
	if err := checkContents(t.Context(), api, c, contents); err != nil {
		t.Error(err)
	}
	contents.Measured = nil
	if err := checkContents(t.Context(), api, c, contents); !errors.Is(err, children.ErrRefused) {
		t.Errorf("error %v, want that the ConfigMap is missing", err)
	}
}
