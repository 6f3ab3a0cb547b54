package controllers_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/apply"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

var _ = Describe("two managers at one endpoint", func() {
	It("start one trial, even if the second manager decides while the first one creates its Job", func() {
		ns := newNamespace()
		campaign := func(name string) *v1alpha1.BenchmarkCampaign {
			w := wrappers.MakeCampaign(name).Namespace(ns).Variant("a").Clients(1).Repetitions(0).Command("ozone:1", "ozone").Suspend()
			w.Spec.Variants[0].Endpoint = &v1alpha1.Endpoint{URL: "http://" + ns}
			Expect(cluster.Create(ctx, w.Obj())).To(Succeed())
			return w.Obj()
		}
		startTrial := func(manager *apply.Applier, c *v1alpha1.BenchmarkCampaign) error {
			p := plan.Build(c)
			_, err := manager.Apply(ctx, c, p, []decide.Action{{
				Kind: decide.StartTrial, Cell: p.Cells[0].Name, Attempt: record.Attempt{Trial: p.SweepTrial(p.Cells[0], 1, 1), N: 1},
			}})
			return err
		}
		manager := func(c client.Client) *apply.Applier {
			return &apply.Applier{
				Client: c, Uncached: cluster, Clock: clock.RealClock{}, LeaseNamespace: ns,
				Options: resources.Options{OpenSearchImage: "opensearch", OSBImage: "osb", AgentImage: "knee:test"},
			}
		}
		first, second := campaign("first"), campaign("second")
		var errOfSecond error
		interrupted := interceptor.NewClient(cluster, interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				if _, isJob := o.(*batchv1.Job); isJob { // the first manager has found no other load
					errOfSecond = startTrial(manager(cluster), second)
				}
				return c.Create(ctx, o, opts...)
			},
		})
		Expect(startTrial(manager(interrupted), first)).To(Succeed())
		Expect(errOfSecond).To(MatchError(ContainSubstring("must wait until a manager has started Job")))
		var jobs batchv1.JobList
		Expect(cluster.List(ctx, &jobs, client.InNamespace(ns), client.MatchingLabels{resources.LabelCampaign: string(second.UID)})).To(Succeed())
		Expect(jobs.Items).To(BeEmpty())
		Eventually(func() error { return startTrial(manager(cluster), second) }).Should(Succeed(), "the trial of the first has ended")
		Expect(ptr.Deref(get(first).Spec.Suspend, false)).To(BeTrue())
	})
})
