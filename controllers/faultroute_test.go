package controllers_test

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/resources"
)

// route is how far a campaign was at each step.
type route map[call]string

// records is how many there were at its end.
func (r route) records() int {
	most := 0
	for at := range r {
		most = max(most, at.records)
	}
	return most
}

// world is all that there is at a time.
type world struct {
	shape   string // differs where anything does
	place   string // how far a campaign is: the same in every run that is as far
	records int
}

// world looks at all that there is.
func (s *session) world(ctx context.Context) (world, error) {
	var (
		out            world
		shapes, places []string
	)
	for _, list := range append(childLists(), &v1alpha1.BenchmarkCampaignList{}) {
		if err := s.cached.List(ctx, list, client.InNamespace(s.namespace)); err != nil {
			return out, err
		}
		shapes = append(shapes, listShape(list, shapeOf))
		places = append(places, listShape(list, placeOf))
		if maps, ok := list.(*corev1.ConfigMapList); ok {
			for i := range maps.Items {
				if maps.Items[i].Labels[resources.LabelComponent] == resources.ComponentRecord {
					out.records++
				}
			}
		}
	}
	out.shape, out.place = strings.Join(shapes, "\n"), strings.Join(places, "\n")
	return out, nil
}

// placeOf is what of an object says how far a campaign is. Reports and the status follow from the rest.
func placeOf(o client.Object) string {
	if _, is := o.(*v1alpha1.BenchmarkCampaign); is || o.GetLabels()[resources.LabelComponent] == resources.ComponentReport {
		return ""
	}
	id := fmt.Sprint(title(o), " deleted ", !o.GetDeletionTimestamp().IsZero())
	switch o := o.(type) {
	case *appsv1.StatefulSet:
		return fmt.Sprint(id, " generation ", o.Generation)
	case *batchv1.Job:
		return fmt.Sprint(id, " ended ", jobEnded(o))
	case *corev1.Pod:
		return fmt.Sprint(id, " is ", o.Status.Phase)
	}
	return id
}

// joins says whether the campaign is on its route without faults, at this step or a later one, which it then is at: a fault
// may cost a Reconcile or save one. When all is measured it is anyhow: what is left to do is to delete, in any order.
func (s *session) joins(w world) bool {
	for at := s.at; ; at.step++ {
		place, known := s.without[at]
		switch {
		case !known:
			return w.records >= s.without.records()
		case place == w.place:
			s.at = at
			return true
		}
	}
}
