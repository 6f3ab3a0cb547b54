package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
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
	index          = "nyc_taxis"
	activity       = 10 // seconds after which Knee gives up a trial whose OpenSearch does not answer; the lowest that a campaign may have
)

// size is how much a campaign measures, and with which driver. It has two variants.
type size struct {
	clients     []int32 // of the sweeps
	repetitions int32   // of the Finals
	documents   int64   // each trial indexes each document once
	load        func(w *v1alpha1.Workload, documents int64)
	faults      int
	deadline    time.Duration // of the whole run, with the undisturbed campaign, on a busy machine
}

var (
	// A full campaign uses opensearch-benchmark. Each of its trials takes 20 s or longer.
	full = size{clients: []int32{2, 4}, repetitions: 2, documents: 100_000, load: loadOSB, faults: 26, deadline: 30 * time.Minute}
	// A short campaign uses Knee's own loader, which starts faster.
	short = size{clients: []int32{1, 2}, repetitions: 1, documents: 100_000, load: loadBulk, faults: 6, deadline: 20 * time.Minute}
)

// The requests are small, so that a load lasts long enough for a fault to hit it.

func loadOSB(w *v1alpha1.Workload, _ int64) {
	w.OSB.Workload = "nyc_taxis_mini"
	w.OSB.From = &v1alpha1.WorkloadSource{Image: &v1alpha1.ImageSource{Image: "knee.local/workload-nyc-taxis-mini:1"}}
	w.OSB.TestProcedure = "index-only"
	w.OSB.Params = map[string]v1alpha1.ParamValue{"bulk_size": "100"}
}

func loadBulk(w *v1alpha1.Workload, documents int64) {
	w.OSB = nil
	w.Bulk = &v1alpha1.Bulk{Dataset: v1alpha1.DatasetSmall, Documents: &documents, FlushDocuments: ptr.To[int32](100)}
}

// trials returns the number of trials, without Warmups.
func (s size) trials() int { return 2 * (len(s.clients) + int(s.repetitions)) }

// create creates the campaign. Its two variants take turns on the only node, so OpenSearch starts and stops often.
func (c *cluster) create(ctx context.Context, t *testing.T, ns string, s size) *v1alpha1.BenchmarkCampaign {
	w := wrappers.MakeCampaign("chaos").Namespace(ns).VariantOnAnyNode("small").VariantOnAnyNode("large").
		Clients(s.clients...).Repetitions(s.repetitions).Retries(10)
	w.Spec.OpenSearch.Heap = "512Mi"
	w.Spec.Variants[1].OpenSearch.Heap = "640Mi"
	w.OnAnyDisk()
	w.Spec.OpenSearch.Storage.Size = "1Gi"
	s.load(&w.Spec.Workload, s.documents)
	w.Spec.Artifacts = &v1alpha1.Artifacts{ClaimName: artifactsClaim}
	w.Spec.Gates = v1alpha1.Gates{} // gates would refuse rates that the restarts of the daemons disturb
	w.Spec.Timeouts = v1alpha1.Timeouts{
		ProvisioningSeconds: ptr.To[int32](300), TrialSeconds: ptr.To[int32](200), SettleSeconds: ptr.To[int32](5), ActivitySeconds: ptr.To[int32](activity),
	}
	campaign := w.Obj()
	must(ctx, t, "create the campaign", func(ctx context.Context) error {
		return ignoreExists(c.Create(ctx, campaign.DeepCopy()))
	})
	return campaign
}

// claim makes the claim of the raw files and returns its folder on this machine. The claim has a volume of its own, because
// the disk of the other volumes gets full.
func (c *cluster) claim(ctx context.Context, t *testing.T, ns string) (folder string) {
	folder = filepath.Join(c.Folder, "chaos", ns)
	if err := errors.Join(os.MkdirAll(folder, 0o777), os.Chmod(folder, 0o777)); err != nil {
		t.Fatal(err)
	}
	var nodes corev1.NodeList
	must(ctx, t, "list the nodes", func(ctx context.Context) error { return c.List(ctx, &nodes) })
	capacity := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	once := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: ns},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: capacity, AccessModes: once, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/run/knee/chaos/" + ns}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{
					Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{nodes.Items[0].Name},
				}},
			}}}},
		},
	}
	must(ctx, t, "make the artifacts volume", func(ctx context.Context) error {
		return ignoreExists(c.Create(ctx, volume.DeepCopy()))
	})
	must(ctx, t, "make the artifacts claim", func(ctx context.Context) error {
		return ignoreExists(c.Create(ctx, &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: artifactsClaim},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: once, Resources: corev1.VolumeResourceRequirements{Requests: capacity},
				StorageClassName: ptr.To(""), VolumeName: volume.Name,
			},
		}))
	})
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		err := c.Delete(context.WithoutCancel(ctx), volume)
		if err = errors.Join(err, os.RemoveAll(folder)); err != nil {
			t.Errorf("delete the artifacts volume: %v", err)
		}
	})
	return folder
}

// await waits until the campaign is Ready, and returns it.
func (c *cluster) await(ctx context.Context, t *testing.T, campaign *v1alpha1.BenchmarkCampaign) *v1alpha1.BenchmarkCampaign {
	t.Helper()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	lastLine := ""
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
				if line != lastLine {
					lastLine = line
					t.Log(time.Now().Format("15:04:05 ") + line)
				}
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the campaign has no verdict at the deadline of the run: %s", lastLine)
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
		"PodDisruptionBudget": &policyv1.PodDisruptionBudgetList{},
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
