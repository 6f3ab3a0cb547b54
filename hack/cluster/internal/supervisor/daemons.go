package supervisor

import (
	"os/exec"
	"time"

	"github.com/knee-bench/knee/hack/cluster/internal/pki"
	"github.com/knee-bench/knee/hack/cluster/internal/state"
)

// These are the names of the daemons and of their logs.
const (
	etcd              = "etcd"
	containerd        = "containerd"
	apiserver         = "kube-apiserver"
	controllerManager = "kube-controller-manager"
	scheduler         = "kube-scheduler"
	coredns           = "coredns"
	kubelet           = "kubelet"
	kubeProxy         = "kube-proxy"
	provision         = "provisioner"
	networkPolicies   = "network-policies"
)

const (
	etcdURL      = "http://127.0.0.1:2379"
	apiAddress   = "127.0.0.1:6443"
	domain       = "cluster.local"
	nodePoolName = "knee.dev/node-pool=demo"
)

// DaemonNames lists the daemons in the order in which they are started.
func DaemonNames() []string {
	return []string{etcd, containerd, apiserver, controllerManager, scheduler, coredns, provision, networkPolicies, kubelet, kubeProxy}
}

// flags returns the flags of each daemon. All other settings of containerd are in its configuration file.
func flags(config state.Config) map[string][]string {
	in := state.Inside
	key := func(file string) string { return in.Path("pki", file) }
	kubeconfig := func(identity string) string { return in.Path("etc", identity+".kubeconfig") }
	return map[string][]string{
		etcd: {
			"--name=" + config.Name, "--data-dir=" + in.Path("etcd"), "--log-level=warn",
			// No fsync: the state of a development cluster may be lost in a power failure.
			"--unsafe-no-fsync",
			"--listen-client-urls=" + etcdURL, "--advertise-client-urls=" + etcdURL,
			"--listen-peer-urls=http://127.0.0.1:2380",
		},
		containerd: {"--config=" + in.Path("etc", "containerd.toml")},
		apiserver: {
			"--etcd-servers=" + etcdURL,
			"--bind-address=0.0.0.0", "--secure-port=6443", "--advertise-address=" + NodeIP,
			"--service-cluster-ip-range=" + ServiceCIDR,
			"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
			"--allow-privileged=true",
			"--client-ca-file=" + key("ca.crt"),
			"--tls-cert-file=" + key("apiserver.crt"), "--tls-private-key-file=" + key("apiserver.key"),
			"--kubelet-certificate-authority=" + key("ca.crt"),
			"--kubelet-client-certificate=" + key("apiserver-kubelet.crt"), "--kubelet-client-key=" + key("apiserver-kubelet.key"),
			"--kubelet-preferred-address-types=InternalIP",
			"--service-account-issuer=https://kubernetes.default.svc." + domain,
			"--service-account-signing-key-file=" + key("sa.key"), "--service-account-key-file=" + key("sa.pub"),
			"--profiling=false",
			"--audit-policy-file=" + in.Path("etc", "audit.yaml"),
			// The audit log has at most 8 files of 64 MB; the newest file has this name. In the mode blocking, every
			// request is in the file when a reader needs it.
			"--audit-log-path=" + in.Audit(), "--audit-log-maxsize=64", "--audit-log-maxbackup=7", "--audit-log-mode=blocking",
			// Without this flag, open watches of pods and of the host delay the API server's shutdown for a minute.
			"--shutdown-watch-termination-grace-period=1s",
		},
		controllerManager: {
			"--kubeconfig=" + kubeconfig(controllerManager), "--leader-elect=false",
			"--kube-api-qps=300", "--kube-api-burst=600",
			"--use-service-account-credentials",
			"--root-ca-file=" + key("ca.crt"), "--service-account-private-key-file=" + key("sa.key"),
			"--cluster-signing-cert-file=" + key("ca.crt"), "--cluster-signing-key-file=" + key("ca.key"),
			"--flex-volume-plugin-dir=" + in.Path("volume-plugins"),
			// Ended pods must stay until their owner is deleted, so that their logs and status can be read.
			"--terminated-pod-gc-threshold=0",
			"--bind-address=127.0.0.1", "--profiling=false",
		},
		scheduler: {
			"--kubeconfig=" + kubeconfig(scheduler), "--leader-elect=false",
			"--kube-api-qps=300", "--kube-api-burst=600",
			"--bind-address=127.0.0.1", "--profiling=false",
		},
		coredns:   {"-conf=" + in.Path("etc", "Corefile")},
		provision: {"--kubeconfig=" + kubeconfig(provision), "--root=" + in.Volumes()},
		networkPolicies: {
			"--kubeconfig=" + kubeconfig(networkPolicies), "--node-ip=" + NodeIP, "--outcome=" + in.Policies(),
		},
		kubelet: {
			"--config=" + in.Path("etc", "kubelet.yaml"), "--kubeconfig=" + kubeconfig(kubelet),
			"--root-dir=" + in.Path("kubelet"), "--cert-dir=" + in.Path("kubelet", "pki"),
			"--hostname-override=" + config.Name, "--node-ip=" + NodeIP, "--node-labels=" + nodePoolName,
		},
		kubeProxy: {"--config=" + in.Path("etc", "kube-proxy.yaml")},
	}
}

// newDaemons makes the daemons of the configuration without starting them.
func newDaemons(config state.Config, reaper *reaper) (map[string]*daemon, error) {
	daemons := map[string]*daemon{}
	for name, args := range flags(config) {
		// Use this program itself, even if its file has been replaced in the meantime.
		path := "/proc/self/exe"
		if name == containerd {
			var err error
			if path, err = exec.LookPath(name); err != nil {
				return nil, err
			}
		}
		argv := append([]string{name}, args...)
		daemons[name] = &daemon{
			name: name, path: path, argv: append(argv, config.ExtraArgs[name]...), log: state.Inside.Log(name),
			reaper: reaper, grace: 10 * time.Second,
		}
	}
	return daemons, nil
}

// kubeconfigs are the identities that need a kubeconfig.
var kubeconfigs = []string{controllerManager, scheduler, kubelet, kubeProxy, coredns, provision, networkPolicies, "admin"}

// writeKubeconfigs writes the kubeconfigs of the daemons. They contain the API server's address in the namespace, not
// its port on the host.
func writeKubeconfigs() error {
	for _, identity := range kubeconfigs {
		data, err := pki.Kubeconfig(state.Inside.PKI(), identity, "knee", "https://"+apiAddress)
		if err != nil {
			return err
		}
		if err := state.WriteFile(state.Inside.Path("etc", identity+".kubeconfig"), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}
