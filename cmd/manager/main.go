// Command manager is Knee's controller. It runs the BenchmarkCampaigns of a Kubernetes cluster, or of one namespace.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	registry "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/knee-bench/knee/controllers"
	"github.com/knee-bench/knee/controllers/metrics"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/internal/version"
)

// syncWait is how long a request to /readyz waits for the caches. It is shorter than the timeout of the readiness probe.
const syncWait = time.Second

func main() {
	f, err := parse(flag.CommandLine, os.Args[1:])
	if err == nil {
		err = run(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(1)
	}
}

func run(f flags) error {
	if f.version {
		fmt.Println(version.Version)
		return nil
	}
	logger := zap.New(zap.UseFlagOptions(&f.zap))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger) // client-go and the leader election
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("cannot load the kubeconfig or in-cluster configuration for the Kubernetes API server: %w", err)
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                  scheme.New(),
		Cache:                   controllers.CacheOptions(f.namespace),
		Metrics:                 metricsOptions(f),
		HealthProbeBindAddress:  f.probeAddress,
		LeaderElection:          f.leaderElect,
		LeaderElectionID:        "knee.dev",
		LeaderElectionNamespace: f.leaseNamespace,
		// Releasing the lease is safe: the program ends when Start returns, so no manager works without the lease.
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return err
	}
	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("caches", cachesSynced(mgr.GetCache())); err != nil {
		return err
	}
	reconciler := &controllers.CampaignReconciler{
		Client:    mgr.GetClient(),
		Uncached:  mgr.GetAPIReader(),
		Recorder:  mgr.GetEventRecorder("knee"),
		Clock:     clock.RealClock{},
		Options:   f.options,
		Namespace: f.namespace,
		Metrics:   metrics.NewRecorder(),
	}
	if err := registerMetrics(mgr, reconciler.Metrics); err != nil {
		return err
	}
	if reconciler.LeaseNamespace, err = findLeaseNamespace(f); err != nil {
		return err
	}
	if err := reconciler.SetupWithManager(mgr); err != nil {
		return err
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}

// registerMetrics adds Knee's metrics to those of controller-runtime.
func registerMetrics(mgr ctrl.Manager, recorder *metrics.Recorder) error {
	collector := &metrics.Collector{Reader: mgr.GetCache(), Elected: mgr.Elected(), Clock: clock.RealClock{}, Log: mgr.GetLogger().WithName("metrics")}
	for _, c := range []prometheus.Collector{recorder, collector} {
		if err := registry.Registry.Register(c); err != nil {
			return fmt.Errorf("cannot register the metrics: %w", err)
		}
	}
	return nil
}

// findLeaseNamespace returns the namespace of the leader election, or an empty text if no leader is elected. Without the flag, it is the
// namespace of the manager's pod.
func findLeaseNamespace(f flags) (string, error) {
	switch {
	case !f.leaderElect:
		return "", nil
	case f.leaseNamespace != "":
		return f.leaseNamespace, nil
	}
	const file = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
	namespace, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("cannot find the namespace of the manager; set --leader-elect-namespace: %w", err)
	}
	return strings.TrimSpace(string(namespace)), nil
}

// cachesSynced reports whether the caches are filled. They stay empty if the manager lacks a permission or an API. A manager
// that waits for its election has no caches to fill, so it is ready.
func cachesSynced(c cache.Cache) healthz.Checker {
	return func(req *http.Request) error {
		ctx, cancel := context.WithTimeout(req.Context(), syncWait)
		defer cancel()
		if !c.WaitForCacheSync(ctx) {
			return errors.New("the caches of the manager are not filled: look in the manager's log for requests that the API server refuses")
		}
		return nil
	}
}

// metricsOptions serves metrics to clients that the API server authorizes.
func metricsOptions(f flags) server.Options {
	o := server.Options{
		BindAddress:    f.metricsAddress,
		SecureServing:  true,
		CertDir:        f.metricsCertDir,
		FilterProvider: filters.WithAuthenticationAndAuthorization,
	}
	if !f.http2 { // a few clients can exhaust an HTTP/2 server: CVE-2023-44487, CVE-2023-39325
		o.TLSOpts = []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }}
	}
	return o
}
