package e2e_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/test/wrappers"
)

// serve runs a container in a pod of its own behind a Service of the same name, and waits until it is ready.
func serve(ctx context.Context, ns, name string, container corev1.Container, port int32, secrets ...string) {
	GinkgoHelper()
	container.Name = "main"
	container.SecurityContext = &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
	container.ReadinessProbe = &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(port)}}}
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

// certificate makes the Secrets of a server's certificate: its own, and what it is checked against.
func certificate(ctx context.Context, ns, name, host string) {
	GinkgoHelper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	Expect(err).NotTo(HaveOccurred())
	private, err := x509.MarshalPKCS8PrivateKey(key)
	Expect(err).NotTo(HaveOccurred())
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	secret(ctx, ns, name, corev1.SecretTypeTLS, map[string][]byte{
		"tls.crt": cert, "tls.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	})
	secret(ctx, ns, name+"-ca", corev1.SecretTypeOpaque, map[string][]byte{"ca.crt": cert})
}

func secret(ctx context.Context, ns, name string, kind corev1.SecretType, data map[string][]byte) {
	GinkgoHelper()
	Expect(cluster.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Type: kind, Data: data})).To(Succeed())
}

// A real OpenSearch that no campaign made, open, and behind a STAND-IN for the security plugin: a proxy with TLS and basic
// authentication.
var _ = Describe("an OpenSearch that is there already", Ordered, func() {
	const password = `Hidden "k3epM3"`
	var ns string

	BeforeAll(func(ctx SpecContext) {
		ns = newNamespace(ctx)
		serve(ctx, ns, "search", corev1.Container{
			Image: "knee.local/opensearch:3.1.0",
			Env: []corev1.EnvVar{
				{Name: "DISABLE_SECURITY_PLUGIN", Value: "true"}, {Name: "discovery.type", Value: "single-node"},
				{Name: "cluster.routing.allocation.disk.threshold_enabled", Value: "false"},
				{Name: "OPENSEARCH_JAVA_OPTS", Value: "-Xms512m -Xmx512m"}, {Name: "network.host", Value: "0.0.0.0"},
			},
		}, 9200)
		host := "guard." + ns + ".svc"
		certificate(ctx, ns, "guard", host)
		secret(ctx, ns, "login", corev1.SecretTypeBasicAuth, map[string][]byte{"username": []byte("bench"), "password": []byte(password)})
		serve(ctx, ns, "guard", corev1.Container{Image: fakes, Command: []string{
			"/bin/guard", "--listen=:9443", "--target=http://search." + ns + ".svc:9200", "--certificate=/secrets/guard", "--login=/secrets/login",
		}}, 9443, "guard", "login")
	}, NodeTimeout(5*time.Minute))

	at := func(name string) *wrappers.Campaign {
		w := fixed(name, ns, 2).VariantOnAnyNode("open").VariantOnAnyNode("guarded").Parallelism(1)
		w.Spec.OpenSearch = v1alpha1.OpenSearch{}
		w.Spec.Variants[0].Endpoint = &v1alpha1.Endpoint{URL: "http://search." + ns + ".svc:9200", AllowIndexDeletion: ptr.To(true)}
		w.Spec.Variants[1].Endpoint = &v1alpha1.Endpoint{
			URL: "https://guard." + ns + ".svc:9443", CredentialsSecret: "login", CASecret: "guard-ca", AllowIndexDeletion: ptr.To(true),
		}
		return w
	}
	measures := func(ctx SpecContext, w *wrappers.Campaign) {
		GinkgoHelper()
		before := len(records(ctx, ns))
		c := start(ctx, w)
		Eventually(ready(ctx, c)).WithTimeout(8 * time.Minute).Should(Or(HavePrefix("True/"), HavePrefix("False/")))
		Expect(ready(ctx, c)()).To(HavePrefix("True/Finished"))
		all := records(ctx, ns)
		Expect(len(all)-before).To(Equal(4), "a Warmup and a Final at each URL")
		for _, r := range finals(all) {
			Expect(r.Ingest.Count).To(BeNumerically(">", 0))
			Expect(r.Ingest.Count).To(Equal(r.Ingest.TotalIndexed))
			Expect(r.Nodes).To(HaveLen(1))
			Expect(r.Nodes[0].CPU).To(BeNil(), "nobody can look at its machine: absent, not zero")
		}
		Expect(kubectl(ctx, "-n", ns, "get", "bcamp,job,cm,pod", "-o", "yaml")).NotTo(ContainSubstring("k3epM3"))
	}

	It("is measured by opensearch-benchmark, with and without authentication", func(ctx SpecContext) {
		measures(ctx, at("endpoint-osb"))
	}, SpecTimeout(10*time.Minute))

	It("is measured by Knee's own loader, with and without authentication", func(ctx SpecContext) {
		w := at("endpoint-bulk")
		w.Spec.Workload = v1alpha1.Workload{
			Index: v1alpha1.Index{Name: "small"},
			Bulk:  &v1alpha1.Bulk{Dataset: v1alpha1.DatasetSmall, Documents: ptr.To[int64](200_000), FlushBytes: "200k"},
		}
		measures(ctx, w)
	}, SpecTimeout(10*time.Minute))
})
