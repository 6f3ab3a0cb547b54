package controllers_test

import (
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/wrappers"
)

// recordsOf returns the records of a phase in a namespace. The key is the title of the attempt.
func recordsOf(ns string, phase record.Phase) map[string]record.Record {
	var maps corev1.ConfigMapList
	Expect(cluster.List(ctx, &maps, client.InNamespace(ns), client.MatchingLabels{resources.LabelPhase: string(phase)})).To(Succeed())
	out := map[string]record.Record{}
	for _, cm := range maps.Items {
		if cm.Labels[resources.LabelComponent] == resources.ComponentRecord {
			rec, err := record.Decode([]byte(cm.Data[resources.RecordKey]))
			Expect(err).NotTo(HaveOccurred())
			out[wrappers.AttemptTitle(rec.Attempt)] = rec
		}
	}
	return out
}

var _ = Describe("a trial that goes wrong", func() {
	measured := func(cfg record.Config) string {
		b, err := record.Encode(wrappers.MeasuredRecord(cfg.Attempt, 1000))
		Expect(err).NotTo(HaveOccurred())
		return string(b)
	}
	withMessage := func(text func(cfg record.Config) string) func(record.Config) *corev1.PodStatus {
		return func(cfg record.Config) *corev1.PodStatus {
			return kubernetes.Ended(resources.ContainerTrial, 0, text(cfg))
		}
	}
	DescribeTable("is Errored with its cause, retried, and then shown as failed while the other trials continue",
		func(how func(cfg record.Config) *corev1.PodStatus, cause string) {
			ns := newNamespace()
			nodes.Behave(ns, kubernetes.Behaviour{Trial: func(cfg record.Config) *corev1.PodStatus {
				if cfg.Attempt.Phase == record.Sweep && cfg.Attempt.Clients == 2 {
					return how(cfg)
				}
				return withMessage(measured)(cfg)
			}})
			c := start(wrappers.MakeCampaign("wrong").Namespace(ns).VariantOnAnyNode("a").Repetitions(0).Retries(1))
			Eventually(ready(c)).Should(Equal("True/Finished"))
			Expect(get(c).Status.Cells[0].NotMeasured).To(ConsistOf(And(HavePrefix("2 clients (verdict Errored)"), ContainSubstring(cause))))
			sweep := recordsOf(ns, record.Sweep)
			Expect(sweep).To(HaveLen(4), "1, 4, and two attempts at 2")
			for title, rec := range sweep {
				Expect(rec.Error != nil).To(Equal(strings.Contains(title, "/2 clients/")), title)
				Expect(rec.Error != nil && rec.Ingest != nil).To(BeFalse(), "a figure of a trial that went wrong")
			}
		},
		Entry("when its pod is evicted", func(record.Config) *corev1.PodStatus {
			return &corev1.PodStatus{
				Phase: corev1.PodFailed, Reason: "Evicted", Message: "The node was low on resource: memory.",
				Conditions: []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "TerminationByKubelet"}},
			}
		}, "Evicted: The node was low on resource: memory."),
		Entry("when the loader is killed for its memory", func(record.Config) *corev1.PodStatus {
			s := kubernetes.Ended(resources.ContainerTrial, 137, "")
			s.ContainerStatuses[0].State.Terminated.Reason = "OOMKilled"
			return s
		}, "OOMKilled, exit code 137"),
		Entry("when it succeeds without a record", withMessage(func(record.Config) string { return "" }), "without a record"),
		Entry("when its record is cut off", withMessage(func(cfg record.Config) string {
			m := measured(cfg)
			return m[:len(m)/2]
		}), record.ReasonRecordUnreadable),
		Entry("when its record has an unknown version", withMessage(func(cfg record.Config) string {
			return strings.Replace(measured(cfg), `"version":1`, `"version":99`, 1)
		}), "version 99"),
		Entry("when its record is of another attempt", withMessage(func(cfg record.Config) string {
			cfg.Attempt.Repetition += 7
			return measured(cfg)
		}), "of another attempt"),
		Entry("when its record says that OpenSearch was restarted", withMessage(func(cfg record.Config) string {
			b, err := record.Encode(wrappers.ErroredRecord(cfg.Attempt, "NodeRestarted", "node-0 was restarted during the trial"))
			Expect(err).NotTo(HaveOccurred())
			return string(b)
		}), "was restarted during the trial"),
	)

	It("is measured again, without being charged to the retries, when its pod is deleted", func() {
		ns := newNamespace()
		nodes.Behave(ns, kubernetes.Behaviour{Trial: func(cfg record.Config) *corev1.PodStatus {
			if cfg.Attempt.Phase == record.Sweep && cfg.Attempt.N == 1 {
				return kubernetes.TrialRunning()
			}
			return withMessage(measured)(cfg)
		}})
		c := start(wrappers.MakeCampaign("drained").Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0).Retries(0))
		var pod corev1.Pod
		Eventually(func() bool {
			var pods corev1.PodList
			Expect(cluster.List(ctx, &pods, client.InNamespace(ns), client.MatchingLabels{resources.LabelPhase: string(record.Sweep)}, client.HasLabels{batchv1.JobNameLabel})).To(Succeed())
			for _, p := range pods.Items {
				pod = p
			}
			return pod.Status.Phase == corev1.PodRunning
		}).Should(BeTrue())
		Expect(cluster.Delete(ctx, &pod, client.GracePeriodSeconds(0))).To(Succeed())
		Eventually(ready(c)).Should(Equal("True/Finished"))
		sweep := recordsOf(ns, record.Sweep)
		Expect(sweep).To(HaveLen(2))
		lost := sweep["a/1p0r/Sweep/1 clients/repetition 1/attempt 1"]
		Expect(lost.Error).NotTo(BeNil())
		Expect(lost.Error.Reason).To(Equal(record.ReasonRecordLost))
		Expect(get(c).Status.Cells[0].NotMeasured).To(BeEmpty())
	})
})

// TestDecode_truncatedRecord_fails checks that Decode refuses a record that was cut off at any byte.
func TestDecode_truncatedRecord_fails(t *testing.T) {
	whole, err := record.Encode(wrappers.MeasuredRecord(record.Attempt{Trial: record.Trial{Campaign: "u", Cell: "c", Phase: record.Sweep, Clients: 8, Repetition: 1, Placement: 1}, N: 1}, 123456))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := record.Decode(whole); err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if rec, err := record.Decode(whole[:n]); err == nil {
			t.Errorf("%d of %d bytes are read as %+v", n, len(whole), rec)
		}
	}
}
