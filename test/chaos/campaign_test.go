package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

const (
	artifactsClaim = "artifacts"
	corpus         = 100_000 // documents of the workload; each trial indexes each document once
	trials         = 12      // two variants: four client counts and two Final repetitions each
)

// create creates the campaign. Its two variants take turns on the only node, so OpenSearch starts and stops often.
func (c *cluster) create(ctx context.Context, t *testing.T, ns string) *v1alpha1.BenchmarkCampaign {
	w := wrappers.MakeCampaign("chaos").Namespace(ns).VariantOnAnyNode("small").VariantOnAnyNode("large").
		Clients(1, 2, 3, 4).Repetitions(2).Retries(10)
	w.Spec.OpenSearch.Heap = "512Mi"
	w.Spec.Variants[1].OpenSearch.Heap = "640Mi"
	w.OnAnyDisk()
	w.Spec.OpenSearch.Storage.Size = "1Gi"
	w.Spec.Workload.OSB.Workload = "nyc_taxis_mini"
	w.Spec.Workload.OSB.From = &v1alpha1.WorkloadSource{Image: &v1alpha1.ImageSource{Image: "knee.local/workload-nyc-taxis-mini:1"}}
	w.Spec.Workload.OSB.TestProcedure = "index-only"
	w.Spec.Workload.OSB.Params = map[string]v1alpha1.ParamValue{"bulk_size": "100"} // small, so that a load lasts long enough for a fault to hit it
	w.Spec.Artifacts = &v1alpha1.Artifacts{ClaimName: artifactsClaim}
	// The daemons of the cluster restart on the same machine, which can slow down OpenSearch. So the test checks only
	// the counts, not the rates, and the campaign has no gates.
	w.Spec.Gates = v1alpha1.Gates{}
	w.Spec.Timeouts = v1alpha1.Timeouts{
		ProvisioningSeconds: ptr.To[int32](300), TrialSeconds: ptr.To[int32](150), SettleSeconds: ptr.To[int32](10),
	}
	campaign := w.Obj()
	must(ctx, t, "create the campaign", func(ctx context.Context) error {
		return ignoreExists(c.Create(ctx, campaign.DeepCopy()))
	})
	return campaign
}

func (c *cluster) claim(ctx context.Context, t *testing.T, ns string) {
	must(ctx, t, "make the artifacts claim", func(ctx context.Context) error {
		return ignoreExists(c.Create(ctx, &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: artifactsClaim},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		}))
	})
}

// await waits until the campaign is Ready, and returns it.
func (c *cluster) await(ctx context.Context, t *testing.T, campaign *v1alpha1.BenchmarkCampaign) *v1alpha1.BenchmarkCampaign {
	t.Helper()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	said := ""
	for {
		var now v1alpha1.BenchmarkCampaign
		err := c.Get(ctx, client.ObjectKeyFromObject(campaign), &now)
		if err == nil {
			ready := meta.FindStatusCondition(now.Status.Conditions, v1alpha1.ConditionReady)
			if ready != nil && ready.Status == metav1.ConditionTrue {
				return &now
			}
			if ready != nil {
				line := fmt.Sprintf("%s %s/%s: %s", now.Status.Progress, ready.Status, ready.Reason, ready.Message)
				if line != said {
					said = line
					t.Log(time.Now().Format("15:04:05 ") + line)
				}
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the campaign has no verdict within %s: %s", deadline, said)
		case <-tick.C:
		}
	}
}

// records returns the campaign's records.
func (c *cluster) records(ctx context.Context, t *testing.T, ns string) []record.Record {
	t.Helper()
	var list corev1.ConfigMapList
	must(ctx, t, "list the records", func(ctx context.Context) error { return c.listRecords(ctx, ns, &list) })
	var out []record.Record
	for _, cm := range list.Items {
		r, err := decode(cm)
		if err != nil {
			t.Errorf("%s: %v", cm.Name, err)
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b record.Record) int { return int(a.FinishedAt - b.FinishedAt) })
	return out
}

func (c *cluster) listRecords(ctx context.Context, ns string, into *corev1.ConfigMapList) error {
	return c.List(ctx, into, client.InNamespace(ns), client.MatchingLabels{resources.LabelComponent: resources.ComponentRecord})
}

// artifacts returns the folder of the artifacts claim on this machine.
func (c *cluster) artifacts(ctx context.Context, t *testing.T, ns string) string {
	t.Helper()
	var claim corev1.PersistentVolumeClaim
	var volume corev1.PersistentVolume
	must(ctx, t, "find the artifacts", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKey{Namespace: ns, Name: artifactsClaim}, &claim); err != nil {
			return err
		}
		return c.Get(ctx, client.ObjectKey{Name: claim.Spec.VolumeName}, &volume)
	})
	folder, err := c.VolumeFolder(volume)
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// deleteAndLook deletes the campaign. Then it waits until the namespace holds only the artifacts claim and the objects
// that Kubernetes itself puts into every namespace.
func (c *cluster) deleteAndLook(ctx context.Context, t *testing.T, campaign *v1alpha1.BenchmarkCampaign) {
	t.Helper()
	must(ctx, t, "delete the campaign", func(ctx context.Context) error {
		return client.IgnoreNotFound(c.Delete(ctx, campaign.DeepCopy()))
	})
	var left []string
	err := until(ctx, "nothing is left of the campaign", func(ctx context.Context) (err error) {
		if left, err = c.left(ctx, campaign.Namespace); err != nil {
			return err
		}
		if len(left) > 0 {
			return errors.New(strings.Join(left, ", "))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func (c *cluster) left(ctx context.Context, ns string) ([]string, error) {
	var out []string
	for kind, list := range map[string]client.ObjectList{
		"BenchmarkCampaign": &v1alpha1.BenchmarkCampaignList{}, "StatefulSet": &appsv1.StatefulSetList{}, "ControllerRevision": &appsv1.ControllerRevisionList{},
		"Job": &batchv1.JobList{}, "Pod": &corev1.PodList{}, "Service": &corev1.ServiceList{}, "ConfigMap": &corev1.ConfigMapList{},
		"Secret": &corev1.SecretList{}, "PersistentVolumeClaim": &corev1.PersistentVolumeClaimList{}, "NetworkPolicy": &networkingv1.NetworkPolicyList{},
	} {
		if err := c.List(ctx, list, client.InNamespace(ns)); err != nil {
			return nil, err
		}
		err := meta.EachListItem(list, func(o runtime.Object) error {
			name := o.(client.Object).GetName()
			if name != "kube-root-ca.crt" && name != artifactsClaim {
				out = append(out, kind+" "+name)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
