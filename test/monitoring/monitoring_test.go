package monitoring_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/monitoring"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/wrappers"
)

// measured ends a trial with a record. All trials of a test have one JVM.
func measured(cfg record.Config) *corev1.PodStatus {
	r := wrappers.MeasuredRecord(cfg.Attempt, 1000*float64(cfg.Attempt.Clients))
	r.StartedAt = time.Now().UnixMilli()
	r.FinishedAt, r.JVMStart = r.StartedAt, 1
	status, err := kubernetes.Recorded(r)
	if err != nil {
		panic(err)
	}
	return status
}

// failsThenHangs fails the first attempt at one client, and lets the trial at four clients run forever.
func failsThenHangs(cfg record.Config) *corev1.PodStatus {
	switch {
	case cfg.Attempt.Phase == record.Sweep && cfg.Attempt.Clients == 1 && cfg.Attempt.N == 1:
		return kubernetes.Ended(resources.ContainerTrial, 1, "")
	case cfg.Attempt.Clients == 4:
		return kubernetes.TrialRunning()
	}
	return measured(cfg)
}

// imageMissing is the status of a pod whose image cannot be pulled.
func imageMissing(corev1.Pod) *corev1.PodStatus {
	return &corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
		Name:  resources.ContainerOpenSearch,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "InvalidImageName", Message: "no such image"}},
	}}}
}

// campaign creates a campaign on a pool of nodes, and waits until its condition Ready has a reason.
func (e environment) campaign(t *testing.T, namespace, name, pool, reason string, edit func(*v1alpha1.BenchmarkCampaignSpec)) {
	t.Helper()
	w := wrappers.MakeCampaign(name).Namespace(namespace).VariantOnAnyNode("a").Clients(1, 2, 4).Repetitions(0).Retries(1).OnNodes(pool)
	edit(&w.Spec)
	if err := e.Create(t.Context(), w.Obj()); err != nil {
		t.Fatal(err)
	}
	eventually(t, name+" is "+reason, func() error {
		var c v1alpha1.BenchmarkCampaign
		if err := e.Get(t.Context(), client.ObjectKeyFromObject(w.Obj()), &c); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
		if ready == nil || ready.Reason != reason || reason == v1alpha1.ReasonProgressing && c.Status.ActiveSince == nil {
			return fmt.Errorf("condition %+v", ready)
		}
		return nil
	})
}

// TestPrometheus_everyExpression_returnsData runs campaigns in several states while Prometheus scrapes the manager.
func TestPrometheus_everyExpression_returnsData(t *testing.T) {
	e := start(t)
	p := startPrometheus(t, e)
	e.namespace(t, "good", kubernetes.Behaviour{Trial: measured})
	e.namespace(t, "slow", kubernetes.Behaviour{Trial: failsThenHangs})
	e.namespace(t, "bad", kubernetes.Behaviour{OpenSearch: imageMissing})
	none := func(*v1alpha1.BenchmarkCampaignSpec) {}
	e.campaign(t, "good", "first", "x", v1alpha1.ReasonProgressing, none)
	e.campaign(t, "good", "kept", "x", v1alpha1.ReasonFinished, func(s *v1alpha1.BenchmarkCampaignSpec) { s.Retain = v1alpha1.RetainAlways }) // waits for first
	e.campaign(t, "slow", "running", "y", v1alpha1.ReasonProgressing, none)
	e.campaign(t, "slow", "queued", "y", v1alpha1.ReasonQueued, none)
	e.campaign(t, "bad", "stalled", "z", v1alpha1.ReasonImagePullFailed, none)

	variables := strings.NewReplacer("$namespace", ".*", "$campaign", ".*", "$__rate_interval", "1m", "$__range", "10m")
	expressions := map[string]string{}
	for _, a := range monitoring.Alerts() {
		expressions["alert "+a.Name] = a.Value
	}
	for _, panel := range monitoring.NewDashboard().Panels {
		for _, target := range panel.Targets {
			expressions["panel "+panel.Title+" "+target.RefID] = variables.Replace(target.Expr)
		}
	}
	for name, expression := range expressions {
		eventually(t, name, func() error {
			samples, err := p.query(expression)
			return errors.Join(err, atLeastOne(samples))
		})
	}
	for expression, want := range map[string]int{
		`knee_campaign_info{namespace="slow", campaign="queued", reason="Queued"}`:       1,
		`knee_campaign_nodes{namespace="slow", campaign="running", state="loaded"} == 1`: 1,
		`knee_campaign_nodes{namespace="good", campaign="kept", state="idle"} == 1`:      1,
		`knee_campaign_nodes{campaign="first"}`:                                          0,
		`knee_cell_throughput{campaign="running", variant="a", unit="docs/s"} == 2000`:   1,
		`knee_retries_total{reason="PodFailed"} == 1`:                                    1,
		`knee_queue_wait_seconds_count == 1`:                                             1,
		`sum(knee_attempts_total{phase="Sweep", verdict="Measured"}) == 8`:               1,
		`sum(knee_records) == 12`:                                                        1,
		`increase(knee_node_seconds_total{state="loaded"}[1m]) > 0`:                      1,
		`{__name__=~"knee_.*", exported_namespace!=""}`:                                  0,
	} {
		eventually(t, expression, func() error {
			samples, err := p.query(expression)
			if err == nil && len(samples) != want {
				err = fmt.Errorf("%d samples, want %d: %v", len(samples), want, samples)
			}
			return err
		})
	}
	eventually(t, "alerts", func() error {
		alerts, err := p.alerts()
		if slices.Sort(alerts); err == nil && !slices.Equal(alerts, []string{"KneeCampaignStalled stalled", "KneeNodesIdle kept"}) {
			err = fmt.Errorf("alerts %v", alerts)
		}
		return err
	})
	checkLog(t, e.log)
}

// checkLog checks that the manager's log has one JSON object a line, and that a message about an attempt identifies the attempt.
func checkLog(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	collected := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, "\n") {
			continue // it is being written
		}
		var message map[string]any
		if err := json.Unmarshal([]byte(line), &message); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if message["msg"] != "created the record of an attempt" {
			continue
		}
		collected++
		keys := []string{"BenchmarkCampaign", "reconcileID", "cell", "trial", "attempt", "verdict"}
		if message["verdict"] == "Errored" {
			keys = append(keys, "reason")
		}
		for _, key := range keys {
			if message[key] == nil || message[key] == "" {
				t.Errorf("no %s: %s", key, line)
			}
		}
	}
	if collected != 12 {
		t.Errorf("the log has %d messages about records, want 12", collected)
	}
}

// TestPromtool checks the rules and the scrape configuration of docs/metrics.md, and runs the tests of the alerts.
func TestPromtool(t *testing.T) {
	page, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	config := regexp.MustCompile("(?s)```\n(scrape_configs:.*?)```").FindSubmatch(page)
	if config == nil {
		t.Fatal("docs/metrics.md has no scrape_configs")
	}
	file := filepath.Join(t.TempDir(), "prometheus.yml")
	if err := os.WriteFile(file, config[1], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"check", "config", "--syntax-only", file},
		{"check", "rules", "--lint-fatal", "../../config/prometheus/rules.yaml"},
		{"test", "rules", "testdata/alerts.yaml"},
	} {
		if out, err := exec.CommandContext(t.Context(), "promtool", args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v; make test-prometheus installs it\n%s", args, err, out)
		}
	}
}
