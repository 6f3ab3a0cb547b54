package rbac_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// checkMetrics reads the metrics without an account, with an account that lacks the right, and with an account that has
// it.
func checkMetrics(m *manager) {
	GinkgoHelper()
	Expect(m.metrics).NotTo(BeEmpty(), "config/default serves metrics")
	curious, prometheus := tokenOf("curious"), tokenOf("prometheus")
	Expect(cluster.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "prometheus"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "knee-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: "prometheus"}},
	})).To(Succeed())
	Expect(get(m, "")).To(Equal(http.StatusUnauthorized))
	Expect(get(m, "nonsense")).To(Equal(http.StatusInternalServerError), "controller-runtime's word for a token that is none")
	Expect(get(m, curious)).To(Equal(http.StatusForbidden))
	Eventually(func() int { return get(m, prometheus) }).Should(Equal(http.StatusOK), "at once, unless the role was not known yet: a refusal holds for 30 s")
}

// get reads the metrics with a token and returns the status of the answer.
func get(m *manager, token string) int {
	GinkgoHelper()
	insecure := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true} // the manager signs its own certificate
	defer insecure.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+m.metrics+"/metrics", nil)
	Expect(err).NotTo(HaveOccurred())
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := (&http.Client{Transport: insecure, Timeout: 10 * time.Second}).Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	Expect(response.ProtoMajor).To(Equal(1), "HTTP/2 is off")
	if response.StatusCode == http.StatusOK {
		Expect(string(body)).To(ContainSubstring("controller_runtime_reconcile_total"))
	} else {
		Expect(string(body)).NotTo(ContainSubstring("controller_runtime"))
	}
	return response.StatusCode
}

// tokenOf creates a service account and returns a token of it.
func tokenOf(name string) string {
	GinkgoHelper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	Expect(cluster.Create(ctx, account)).To(Succeed())
	var request authenticationv1.TokenRequest
	Expect(cluster.SubResource("token").Create(ctx, account, &request)).To(Succeed())
	return request.Status.Token
}

// holder returns the holder of the leader election's lease.
func holder(namespace string) string {
	GinkgoHelper()
	return ptr.Deref(lease(namespace).Spec.HolderIdentity, "")
}

func lease(namespace string) *coordinationv1.Lease {
	GinkgoHelper()
	var l coordinationv1.Lease
	Expect(cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "knee.dev"}, &l)).To(Succeed())
	return &l
}

// takeLease gives the lease to another identity.
func takeLease(namespace string) {
	GinkgoHelper()
	Eventually(func() error {
		l := lease(namespace)
		l.Spec.HolderIdentity = ptr.To("another-manager")
		l.Spec.RenewTime = ptr.To(metav1.NowMicro())
		l.Spec.LeaseDurationSeconds = ptr.To[int32](3600)
		return cluster.Update(ctx, l)
	}).Should(Succeed())
}
