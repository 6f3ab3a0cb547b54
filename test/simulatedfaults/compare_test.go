package simulatedfaults

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/simulated"
)

// TestDifferences_objectIsLeft_isReported checks that no fault excuses an object at the end that the run without faults does not have.
func TestDifferences_objectIsLeft_isReported(t *testing.T) {
	objectMeta := func(name, component string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{resources.LabelCell: "unplanned", resources.LabelComponent: component}}
	}
	record := &corev1.ConfigMap{ObjectMeta: objectMeta("edit-a-w1-1-1-record", resources.ComponentRecord)}
	settings := &corev1.ConfigMap{ObjectMeta: objectMeta("edit-a", resources.ComponentOpenSearch)}
	service := &corev1.Service{ObjectMeta: objectMeta("edit-a", resources.ComponentOpenSearch)}
	exceptions := []point{
		{call{what: "pod edit-a-w1-1-1-0"}, podIsGone}, {call{what: "get BenchmarkCampaign"}, stalest}, {call{what: "list Pod"}, stalest},
		{call{what: "get BenchmarkCampaign"}, tooMany}, {call{what: "delete Service edit-a"}, answerLost},
	}
	for _, test := range []struct {
		name     string
		left     client.Object
		deletes  bool
		reported bool
	}{
		{"a Service", service, false, true},
		{"settings of a cell that is no longer planned", settings, false, true},
		{"a record of a cell that is no longer planned", record, false, false},
		{"a record of a deleted campaign", record, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			edited := scenarios()[slices.IndexFunc(scenarios(), func(s *scenario) bool { return s.name == "an edit during a trial" })]
			edited.deletes = test.deletes
			want, got := start(edited), start(edited)
			if test.deletes {
				want.cluster, got.cluster = simulated.New(nil), simulated.New(nil)
			}
			if err := (simulated.Client{Cluster: got.cluster}).Create(t.Context(), test.left); err != nil {
				t.Fatal(err)
			}
			for _, p := range exceptions {
				why := strings.Join(want.differences(got, p), "")
				if strings.Contains(why, test.left.GetName()) != test.reported {
					t.Errorf("%s: %s", p, why)
				}
			}
		})
	}
}
