package e2e_test

import (
	"context"
	"maps"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/crypto/bcrypt"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/security"
	"github.com/knee-bench/knee/test/wrappers"
)

// serve runs a container in its own pod behind a Service of the same name, and waits until the pod is ready.
func serve(ctx context.Context, ns, name string, container corev1.Container, port int32, secrets ...string) {
	GinkgoHelper()
	container.Name = "main"
	container.SecurityContext = &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
	if container.ReadinessProbe == nil {
		container.ReadinessProbe = &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(port)}}}
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Labels: map[string]string{"served": name}},
		Spec: corev1.PodSpec{
			AutomountServiceAccountToken:  ptr.To(false),
			TerminationGracePeriodSeconds: ptr.To[int64](1),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](1000), FSGroup: ptr.To[int64](1000),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
		},
	}
	for _, s := range secrets {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: s, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: s}}})
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: s, MountPath: "/secrets/" + s, ReadOnly: true})
	}
	pod.Spec.Containers = []corev1.Container{container}
	Expect(cluster.Create(ctx, pod)).To(Succeed())
	Expect(cluster.Create(ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec:       corev1.ServiceSpec{Selector: pod.Labels, Ports: []corev1.ServicePort{{Port: port, TargetPort: intstr.FromInt32(port)}}},
	})).To(Succeed())
	Eventually(func() bool {
		Expect(cluster.Get(ctx, client.ObjectKeyFromObject(pod), pod)).To(Succeed())
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady {
				return c.Status == corev1.ConditionTrue
			}
		}
		return false
	}).Should(BeTrue(), "pod %s is ready", name)
}

func secret(ctx context.Context, ns, name string, kind corev1.SecretType, data map[string][]byte) {
	GinkgoHelper()
	Expect(cluster.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Type: kind, Data: data})).To(Succeed())
}

// basicAuth makes a Secret with a user and a password.
func basicAuth(ctx context.Context, ns, name, user, password string) {
	GinkgoHelper()
	secret(ctx, ns, name, corev1.SecretTypeBasicAuth, map[string][]byte{"username": []byte(user), "password": []byte(password)})
}

// securityFile returns a configuration file of the security plugin.
func securityFile(kind string, entries map[string]any) []byte {
	GinkgoHelper()
	entries["_meta"] = map[string]any{"type": kind, "config_version": 2}
	out, err := yaml.Marshal(entries)
	Expect(err).NotTo(HaveOccurred())
	return out
}

// serveSecured runs the real OpenSearch with the real security plugin, TLS and two users. User bench has exactly the
// permissions that docs/endpoints.md lists; user guest has none. serveSecured also makes the Secret search-ca.
func serveSecured(ctx context.Context, ns, name string, passwords map[string]string) {
	GinkgoHelper()
	bundle, err := security.Generate(time.Now(), name+"."+ns+".svc")
	Expect(err).NotTo(HaveOccurred())
	users := map[string]any{}
	for user, password := range passwords {
		hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
		Expect(err).NotTo(HaveOccurred())
		users[user] = map[string]any{"hash": string(hash)}
	}
	files := map[string][]byte{
		"internal_users.yml": securityFile("internalusers", users),
		"roles.yml": securityFile("roles", map[string]any{"knee": map[string]any{
			"cluster_permissions": []string{
				"cluster:monitor/health", "cluster:monitor/state", "cluster:monitor/nodes/info", "cluster:monitor/nodes/stats", "cluster:monitor/main",
				"indices:admin/template/put", "indices:admin/template/delete", "indices:data/write/bulk",
				"indices:admin/template/get", "cluster:monitor/stats", // needed by opensearch-benchmark itself
			},
			"index_permissions": []any{map[string]any{
				"index_patterns": []string{"nyc_taxis"}, "allowed_actions": []string{"indices_all", "cluster:monitor/state"},
			}},
		}}),
		"roles_mapping.yml": securityFile("rolesmapping", map[string]any{"knee": map[string]any{"users": []string{"bench"}}}),
	}
	data := map[string][]byte{"ca.crt": bundle.CA, "tls.crt": bundle.Certificate, "tls.key": bundle.Key}
	const config = "/usr/share/opensearch/config/"
	mounts := []corev1.VolumeMount{{Name: "node", MountPath: config + "certificates", ReadOnly: true}}
	for file, text := range files {
		data[file] = text
		mounts = append(mounts, corev1.VolumeMount{Name: "node", MountPath: config + "opensearch-security/" + file, SubPath: file, ReadOnly: true})
	}
	secret(ctx, ns, "node", corev1.SecretTypeOpaque, data)
	secret(ctx, ns, name+"-ca", corev1.SecretTypeOpaque, map[string][]byte{"ca.crt": bundle.CA})
	env := []corev1.EnvVar{
		{Name: "DISABLE_INSTALL_DEMO_CONFIG", Value: "true"}, {Name: "discovery.type", Value: "single-node"},
		{Name: "cluster.routing.allocation.disk.threshold_enabled", Value: "false"},
		{Name: "OPENSEARCH_JAVA_OPTS", Value: "-Xms512m -Xmx512m"}, {Name: "network.host", Value: "0.0.0.0"},
		{Name: "plugins.security.ssl.http.enabled", Value: "true"}, {Name: "plugins.security.allow_default_init_securityindex", Value: "true"},
		{Name: "plugins.security.nodes_dn", Value: "CN=" + security.NodeName},
	}
	for _, layer := range []string{"http", "transport"} {
		for setting, file := range map[string]string{"pemcert": "tls.crt", "pemkey": "tls.key", "pemtrustedcas": "ca.crt"} {
			env = append(env, corev1.EnvVar{Name: "plugins.security.ssl." + layer + "." + setting + "_filepath", Value: "certificates/" + file})
		}
	}
	serve(ctx, ns, name, corev1.Container{
		Image: "knee.local/opensearch:" + securedVersion, Env: env, VolumeMounts: mounts,
		ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Scheme: corev1.URISchemeHTTPS, Path: "/_plugins/_security/health", Port: intstr.FromInt32(9200),
		}}},
	}, 9200, "node")
}

// These specs use two real OpenSearch clusters that no campaign made: one without security, and one with the real
// security plugin.
var _ = Describe("an OpenSearch that is there already", Ordered, func() {
	passwords := map[string]string{"bench": `Hidden "k3epM3" of-bench`, "guest": `Hidden "k3epM3" of-guest`}
	var ns string

	BeforeAll(func(ctx SpecContext) {
		ns = newNamespace(ctx)
		serveSecured(ctx, ns, "search", passwords)
		basicAuth(ctx, ns, "bench-login", "bench", passwords["bench"])
		basicAuth(ctx, ns, "guest-login", "guest", passwords["guest"])
		basicAuth(ctx, ns, "wrong-login", "bench", passwords["guest"])
		other, err := security.Generate(time.Now())
		Expect(err).NotTo(HaveOccurred())
		secret(ctx, ns, "other-ca", corev1.SecretTypeOpaque, map[string][]byte{"ca.crt": other.CA})
		serve(ctx, ns, "open", corev1.Container{
			Image: "knee.local/opensearch:3.1.0",
			Env: []corev1.EnvVar{
				{Name: "DISABLE_SECURITY_PLUGIN", Value: "true"}, {Name: "discovery.type", Value: "single-node"},
				{Name: "cluster.routing.allocation.disk.threshold_enabled", Value: "false"},
				{Name: "OPENSEARCH_JAVA_OPTS", Value: "-Xms512m -Xmx512m"}, {Name: "network.host", Value: "0.0.0.0"},
			},
		}, 9200)
	}, NodeTimeout(5*time.Minute))

	// at returns a campaign with one variant per endpoint.
	at := func(name string, endpoints map[string]v1alpha1.Endpoint) *wrappers.Campaign {
		w := fixed(name, ns, 2).Parallelism(1)
		w.Spec.OpenSearch = v1alpha1.OpenSearch{}
		for _, variant := range slices.Sorted(maps.Keys(endpoints)) {
			w.VariantOnAnyNode(variant)
			e := endpoints[variant]
			e.AllowIndexDeletion = ptr.To(true)
			w.Spec.Variants[len(w.Spec.Variants)-1].Endpoint = &e
		}
		return w
	}
	secured := func(login, ca string) v1alpha1.Endpoint {
		return v1alpha1.Endpoint{URL: "https://search." + ns + ".svc:9200", CredentialsSecret: login, CASecret: ca}
	}
	hidden := func(ctx context.Context) {
		GinkgoHelper()
		Expect(kubectl(ctx, "-n", ns, "get", "bcamp,job,cm,pod,events", "-o", "yaml")).NotTo(ContainSubstring("k3epM3"))
	}
	measures := func(ctx SpecContext, w *wrappers.Campaign) {
		GinkgoHelper()
		before := len(records(ctx, ns))
		c := start(ctx, w)
		Eventually(ready(ctx, c)).WithTimeout(8 * time.Minute).Should(Or(HavePrefix("True/"), HavePrefix("False/")))
		Expect(ready(ctx, c)()).To(HavePrefix("True/Finished"))
		all := records(ctx, ns)
		Expect(len(all)-before).To(Equal(2*len(w.Spec.Variants)), "a Warmup and a Final at each URL")
		for _, r := range finals(all) {
			Expect(r.Ingest.Count).To(BeNumerically(">", 0))
			Expect(r.Ingest.Count).To(Equal(r.Ingest.TotalIndexed))
			Expect(r.Nodes).To(HaveLen(1))
			Expect(r.Nodes[0].CPU).To(BeNil(), "nobody can look at its machine: absent, not zero")
		}
		hidden(ctx)
	}

	It("is measured by opensearch-benchmark as a user with the documented permissions, over TLS", func(ctx SpecContext) {
		measures(ctx, at("endpoint-osb", map[string]v1alpha1.Endpoint{"secured": secured("bench-login", "search-ca")}))
	}, SpecTimeout(10*time.Minute))

	It("is measured by Knee's own loader, with and without authentication", func(ctx SpecContext) {
		w := at("endpoint-bulk", map[string]v1alpha1.Endpoint{
			"open": {URL: "http://open." + ns + ".svc:9200"}, "secured": secured("bench-login", "search-ca"),
		})
		w.Spec.Workload = smallBulk
		measures(ctx, w)
	}, SpecTimeout(10*time.Minute))

	It("refuses a wrong password, a user without rights and an unknown authority, and the record says what to correct", func(ctx SpecContext) {
		w := at("endpoint-refused", map[string]v1alpha1.Endpoint{
			"password": secured("wrong-login", "search-ca"), "rights": secured("guest-login", "search-ca"), "authority": secured("bench-login", "other-ca"),
		})
		w.Spec.Workload = smallBulk
		c := start(ctx, w)
		Eventually(ready(ctx, c)).WithTimeout(4 * time.Minute).Should(HavePrefix("False/NothingMeasured"))
		said := map[string]string{}
		for _, r := range records(ctx, ns) {
			if r.Error != nil {
				Expect(r.Error.Reason).To(Equal(record.ReasonClusterNotReady))
				said[r.Attempt.Variant] = r.Error.Message
				AddReportEntry(r.Attempt.Variant, r.Error.Message)
			}
		}
		Expect(said).To(HaveKeyWithValue("password", And(ContainSubstring("status 401"),
			ContainSubstring("keys username and password of Secret wrong-login"), ContainSubstring("endpoint.credentialsSecret"))))
		Expect(said).To(HaveKeyWithValue("rights", And(ContainSubstring("status 403"),
			ContainSubstring("user of Secret guest-login"), ContainSubstring("cluster:monitor/"))))
		Expect(said).To(HaveKeyWithValue("authority", And(ContainSubstring("unknown authority"),
			ContainSubstring("key ca.crt of Secret other-ca"), ContainSubstring("endpoint.caSecret"))))
		hidden(ctx)
	}, SpecTimeout(5*time.Minute))
})
