package main

import (
	"flag"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/version"
)

type flags struct {
	options         resources.Options
	networkPolicies bool
	podUserIDs      bool
	leaderElect     bool
	leaseNamespace  string
	metricsAddress  string
	metricsCertDir  string
	http2           bool
	probeAddress    string
	namespace       string
	version         bool
	zap             zap.Options
}

// parse reads the flags of a command line. It checks image references here, because a wrong reference would otherwise fail only
// in a campaign's pods.
func parse(set *flag.FlagSet, args []string) (flags, error) {
	var f flags
	set.StringVar(&f.options.OpenSearchImage, "opensearch-image", "opensearchproject/opensearch",
		"repository of the OpenSearch image, without tag and digest: the tag is the version in the campaign (to use a digest, set the image in the campaign)")
	set.StringVar(&f.options.OSBImage, "osb-image", "opensearchproject/opensearch-benchmark",
		"repository of the opensearch-benchmark image, without tag and digest: the tag is the version in the campaign (to use a digest, set the image in the campaign)")
	set.StringVar(&f.options.AgentImage, "agent-image", "ghcr.io/knee-bench/knee:"+version.Version,
		"full reference of Knee's own image, with a tag or digest; this image contains knee-agent")
	set.BoolVar(&f.options.AllowSysctlInit, "allow-sysctl-init", false,
		"allow campaigns to raise vm.max_map_count of their nodes with a privileged init container (spec.opensearch.sysctlInit)")
	set.BoolVar(&f.networkPolicies, "network-policies", true,
		"create NetworkPolicies for each cell; without NetworkPolicies, every client on the pod network can reach a cluster that has no authentication")
	set.BoolVar(&f.podUserIDs, "pod-user-ids", true,
		"run pods as user and group 1000, as the official images expect; with false, pods set no user and no group, so that OpenShift can choose them")
	set.BoolVar(&f.leaderElect, "leader-elect", false, "elect a leader, so that only one of several managers works at a time")
	set.StringVar(&f.leaseNamespace, "leader-elect-namespace", "", "namespace of the Lease for the leader election; empty means the namespace of the manager")
	set.StringVar(&f.metricsAddress, "metrics-bind-address", "0",
		"address of the metrics endpoint, such as :8443; 0 disables the endpoint. The endpoint uses TLS, and asks the API server to authenticate and authorize each reader")
	set.StringVar(&f.metricsCertDir, "metrics-cert-dir", "",
		"folder with tls.crt and tls.key for the metrics endpoint; empty means a self-signed certificate")
	set.BoolVar(&f.http2, "enable-http2", false, "allow HTTP/2 at the metrics endpoint")
	set.StringVar(&f.probeAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz")
	set.StringVar(&f.namespace, "namespace", "", "handle the campaigns of this namespace only; empty means all")
	set.BoolVar(&f.version, "version", false, "print the version and exit")
	f.zap.BindFlags(set)
	if err := set.Parse(args); err != nil {
		return f, err
	}
	f.options.NoPolicies, f.options.NoUserIDs = !f.networkPolicies, !f.podUserIDs
	for name, image := range map[string]string{"opensearch-image": f.options.OpenSearchImage, "osb-image": f.options.OSBImage} {
		if hasTag(image) {
			return f, fmt.Errorf("--%s=%s: the image must have no tag and no digest, because Knee takes the tag from the version in the campaign; to use a digest, set the image in the campaign", name, image)
		}
	}
	return f, nil
}

// hasTag reports whether an image's reference has a tag or a digest. A colon before the last slash belongs to a registry's
// port.
func hasTag(image string) bool {
	return strings.ContainsAny(image[strings.LastIndex(image, "/")+1:], ":@")
}
