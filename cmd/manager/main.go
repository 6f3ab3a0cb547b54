// Command manager is the operator: it brings the BenchmarkCampaigns of a cluster, or of one namespace, to
// their verdict.
package main

import (
	"flag"
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/knee-bench/knee/controllers"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/internal/version"
)

type flags struct {
	options        resources.Options
	leaderElect    bool
	metricsAddress string
	probeAddress   string
	namespace      string
	zap            zap.Options
}

func parse() flags {
	var f flags
	flag.StringVar(&f.options.OpenSearchImage, "opensearch-image", "opensearchproject/opensearch",
		"repository of the OpenSearch image; a campaign's version is the tag")
	flag.StringVar(&f.options.OSBImage, "osb-image", "opensearchproject/opensearch-benchmark",
		"repository of the opensearch-benchmark image; a campaign's version is the tag")
	flag.StringVar(&f.options.AgentImage, "agent-image", "ghcr.io/knee-bench/knee:"+version.Version,
		"full reference of Knee's own image, which holds knee-agent")
	flag.BoolVar(&f.leaderElect, "leader-elect", false, "let one of several managers work at a time")
	flag.StringVar(&f.metricsAddress, "metrics-bind-address", "0", "address of the metrics endpoint; 0 turns it off")
	flag.StringVar(&f.probeAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz")
	flag.StringVar(&f.namespace, "namespace", "", "look after the campaigns of this namespace only; empty means all")
	f.zap.BindFlags(flag.CommandLine)
	flag.Parse()
	return f
}

func main() {
	if err := run(parse()); err != nil {
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(1)
	}
}

func run(f flags) error {
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&f.zap)))
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme.New(),
		Cache:                         cacheOptions(f.namespace),
		Metrics:                       server.Options{BindAddress: f.metricsAddress},
		HealthProbeBindAddress:        f.probeAddress,
		LeaderElection:                f.leaderElect,
		LeaderElectionID:              "knee.dev",
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return err
	}
	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		return err
	}
	reconciler := &controllers.CampaignReconciler{
		Client:   mgr.GetClient(),
		Uncached: mgr.GetAPIReader(),
		Recorder: mgr.GetEventRecorder("knee"),
		Clock:    clock.RealClock{},
		Options:  f.options,
	}
	if err := reconciler.SetupWithManager(mgr); err != nil {
		return err
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}

// cacheOptions keep in memory only what Knee made, of the one namespace if there is only one.
func cacheOptions(namespace string) cache.Options {
	ours := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{resources.LabelManagedBy: resources.ManagedBy})}
	o := cache.Options{ByObject: map[client.Object]cache.ByObject{
		&appsv1.StatefulSet{}: ours, &batchv1.Job{}: ours, &corev1.ConfigMap{}: ours, &corev1.Pod{}: ours,
		&corev1.Service{}: ours, &corev1.PersistentVolumeClaim{}: ours, &networkingv1.NetworkPolicy{}: ours,
	}}
	if namespace != "" {
		o.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	return o
}
