package faults

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
	"github.com/knee-bench/knee/test/kubernetes"
)

// route holds the place of a campaign at each step; see world.
type route map[call]string

// records returns the number of records at the end.
func (r route) records() int {
	most := 0
	for at := range r {
		most = max(most, at.records)
	}
	return most
}

// world describes all objects of a campaign at one time.
type world struct {
	shape   string // a text that changes if any object changes
	place   string // a text for the progress of the campaign: it is the same in every run with the same progress
	records int
}

// world reads all objects of the campaign.
func (s *session) world(ctx context.Context) (world, error) {
	var (
		out            world
		shapes, places []string
	)
	for _, list := range append(childLists(), &v1alpha1.BenchmarkCampaignList{}) {
		if err := s.cached.List(ctx, list, client.InNamespace(s.namespace)); err != nil {
			return out, err
		}
		shapes = append(shapes, kubernetes.ListShape(list, kubernetes.Shape))
		places = append(places, kubernetes.ListShape(list, placeOf))
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

// placeOf returns a text for the progress that an object shows. It ignores reports and the campaign's status, because
// they follow from the other objects.
func placeOf(o client.Object) string {
	if _, isCampaign := o.(*v1alpha1.BenchmarkCampaign); isCampaign || o.GetLabels()[resources.LabelComponent] == resources.ComponentReport {
		return ""
	}
	id := fmt.Sprint(title(o), " deleted ", !o.GetDeletionTimestamp().IsZero())
	switch o := o.(type) {
	case *appsv1.StatefulSet:
		return fmt.Sprint(id, " generation ", o.Generation)
	case *batchv1.Job:
		return fmt.Sprint(id, " ended ", kubernetes.JobEnded(o))
	case *corev1.Pod:
		return fmt.Sprint(id, " is ", o.Status.Phase)
	}
	return id
}

// findOnRoute moves the session to the step of the reference route where the campaign is in the same place. It searches
// from the current step on, because a fault may cost a Reconcile or save one. It returns true if it finds the step. It
// also returns true if everything is measured, because the remaining deletions may happen in any order.
func (s *session) findOnRoute(w world) bool {
	for at := s.at; ; at.step++ {
		place, known := s.reference[at]
		switch {
		case !known:
			return w.records >= s.reference.records()
		case place == w.place:
			s.at = at
			return true
		}
	}
}
