package resources_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/security"
	"github.com/knee-bench/knee/test/wrappers"
)

// secured returns a campaign of one variant with security on.
func secured() *wrappers.Campaign {
	c := wrappers.MakeCampaign("x").Variant("a")
	c.Spec.OpenSearch.Security = ptr.To(true)
	return c
}

func securedPodOf(c *wrappers.Campaign, cell plan.Cell) corev1.PodSpec {
	return resources.StatefulSet(c.Obj(), cell, resources.Placement{Number: 1}, options, time.Minute, now).Spec.Template.Spec
}

func TestStatefulSet_securityOn_usesTLSAndSecret(t *testing.T) {
	c := secured()
	_, cell := cellOf(c)
	pod := securedPodOf(c, cell)
	os := pod.Containers[0]
	if got := env(os, "DISABLE_SECURITY_PLUGIN"); got != "(unset)" {
		t.Errorf("DISABLE_SECURITY_PLUGIN=%s", got)
	}
	if got := env(os, "DISABLE_INSTALL_DEMO_CONFIG"); got != "true" {
		t.Errorf("DISABLE_INSTALL_DEMO_CONFIG=%s: the demo's passwords are well known", got)
	}
	for name, probe := range map[string]*corev1.Probe{"startup": os.StartupProbe, "readiness": os.ReadinessProbe} {
		if get := probe.HTTPGet; get.Scheme != corev1.URISchemeHTTPS || get.Path != "/_plugins/_security/health" || len(get.HTTPHeaders) > 0 {
			t.Errorf("%s probe %+v", name, get)
		}
	}
	var keys []string
	for _, v := range pod.Volumes {
		if v.Secret == nil {
			continue
		}
		if v.Secret.SecretName != resources.SecuritySecretName(c.Obj()) || *v.Secret.DefaultMode != 0o440 {
			t.Errorf("%+v", v.Secret)
		}
		for _, item := range v.Secret.Items {
			keys = append(keys, item.Key)
		}
	}
	if diff := cmp.Diff([]string{"ca.crt", "tls.crt", "tls.key", "internal_users.yml"}, keys); diff != "" {
		t.Errorf("OpenSearch mounts (-want +got; the password is not among it):\n%s", diff)
	}
	var settings map[string]any
	if err := yaml.Unmarshal([]byte(resources.Settings(cell)), &settings); err != nil {
		t.Fatal(err)
	}
	if settings["plugins.security.ssl.http.enabled"] != true || settings["plugins.security.ssl.transport.pemkey_filepath"] != "certificates/tls.key" {
		t.Errorf("%v", settings)
	}
}

func TestOpenStatefulSet_hasNoTraceOfSecurity(t *testing.T) {
	c := wrappers.MakeCampaign("x").Variant("a")
	c.Spec.OpenSearch.Security = ptr.To(false)
	_, cell := cellOf(c)
	text, err := yaml.Marshal(securedPodOf(c, cell))
	if err != nil {
		t.Fatal(err)
	}
	if s := string(text) + resources.Settings(cell); strings.Contains(s, "plugins.security") || strings.Contains(s, "ecret") {
		t.Error(s)
	}
}

func TestJob_securityOn_hasCredentialsAndCA(t *testing.T) {
	c := secured()
	p, cell := cellOf(c)
	got := resources.Config(c.Obj(), p, cell, attemptOf(cell, record.Sweep), resources.Running{})
	name := resources.SecuritySecretName(c.Obj())
	want := &record.External{CredentialsDir: "/knee/secrets/credentials", CAFile: "/knee/secrets/ca/ca.crt", AllowIndexDeletion: true,
		CredentialsSecret: name, CASecret: name, Own: true}
	if diff := cmp.Diff(want, got.External); diff != "" {
		t.Error(diff)
	}
	if got.Endpoint != "https://"+cell.Name+"."+c.Obj().Namespace+".svc:9200" || len(got.Probes) != 1 {
		t.Errorf("endpoint %s, probes %v", got.Endpoint, got.Probes)
	}
	job, err := resources.Job(c.Obj(), p, cell, attemptOf(cell, record.Sweep), resources.Running{}, options)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, v := range job.Spec.Template.Spec.Volumes {
		if v.Secret != nil {
			for _, item := range v.Secret.Items {
				keys = append(keys, item.Key)
			}
		}
	}
	if diff := cmp.Diff([]string{"username", "password", "ca.crt"}, keys); diff != "" {
		t.Errorf("trials mount (-want +got; the nodes' key is not among it):\n%s", diff)
	}
}

func TestSecuritySecret(t *testing.T) {
	c := secured()
	_, cell := cellOf(c)
	b, err := security.Generate(now, resources.SecurityDNSNames(c.Obj())...)
	if err != nil {
		t.Fatal(err)
	}
	s := resources.SecuritySecret(c.Obj(), b)
	if len(s.OwnerReferences) != 1 || s.OwnerReferences[0].UID != c.Obj().UID {
		t.Errorf("owners %v: nothing would delete it", s.OwnerReferences)
	}
	mounted := securedPodOf(c, cell).Volumes
	for _, v := range mounted {
		if v.Secret == nil {
			continue
		}
		for _, item := range v.Secret.Items {
			if len(s.Data[item.Key]) == 0 {
				t.Errorf("the Secret has no key %s", item.Key)
			}
		}
	}
	long := wrappers.MakeCampaign(strings.Repeat("n", 253)).Obj()
	if n := len(resources.SecuritySecretName(long)); n > 253 {
		t.Errorf("a name of %d characters", n)
	}
	other := c.Obj().DeepCopy()
	other.UID = "another"
	if resources.SecuritySecretName(other) == s.Name {
		t.Error("a later campaign of the same name would take the Secret over")
	}
}

// TestPluginCheck runs the shell command that checks the image, on a folder with the plugin and on a folder without
// the plugin.
func TestPluginCheck(t *testing.T) {
	c := secured()
	_, cell := cellOf(c)
	check := securedPodOf(c, cell).InitContainers[0]
	script := check.Command[2]
	for folder, want := range map[string]bool{t.TempDir(): true, "/nowhere": false} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(script, "[ -d /usr/share/opensearch/plugins/opensearch-security", "[ -d "+folder)).CombinedOutput()
		if (err == nil) != want {
			t.Errorf("%s: %v %s", folder, err, out)
		}
		if !want && !strings.Contains(string(out), "the image has no security plugin") {
			t.Errorf("%s", out)
		}
	}
}

func TestValidateSecurity(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkCampaignSpec)
		want   []string
	}{
		"on":  {func(s *v1alpha1.BenchmarkCampaignSpec) { s.OpenSearch.Security = ptr.To(true) }, nil},
		"off": {func(s *v1alpha1.BenchmarkCampaignSpec) { s.OpenSearch.Security = ptr.To(false) }, nil},
		"on by default, and a variant of the operator's": {func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.OpenSearch.Security, s.Variants[0].OpenSearch.Provisioner = ptr.To(true), v1alpha1.ProvisionOpenSearchCluster
		}, nil},
		"settings of a variant of the operator's": {func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.OpenSearch.Security, s.Variants[0].OpenSearch.Provisioner = ptr.To(true), v1alpha1.ProvisionOpenSearchCluster
			s.Variants[0].OpenSearch.Settings = map[string]v1alpha1.ParamValue{"plugins.security.nodes_dn": "CN=x"}
		}, nil},
		"off in a variant of the operator's": {func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.OpenSearch.Provisioner, s.Variants[0].OpenSearch.Security = v1alpha1.ProvisionOpenSearchCluster, ptr.To(false)
		}, []string{"spec.variants[0].opensearch.security"}},
		"a setting of Knee's": {func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.OpenSearch.Settings = map[string]v1alpha1.ParamValue{"plugins.security.nodes_dn": "CN=x", "plugins.security.audit.type": "log4j"}
			s.Variants[0].OpenSearch = v1alpha1.OpenSearch{Security: ptr.To(true), Settings: map[string]v1alpha1.ParamValue{"plugins.security.disabled": "true"}}
		}, []string{"spec.opensearch.settings[plugins.security.nodes_dn]", "spec.variants[0].opensearch.settings[plugins.security.disabled]"}},
		"the same where security is off": {func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.OpenSearch.Settings = map[string]v1alpha1.ParamValue{"plugins.security.disabled": "true"}
		}, nil},
	} {
		c := wrappers.MakeCampaign("x").Variant("a")
		tc.change(&c.Spec)
		var got []string
		for _, err := range resources.Validate(c.Obj(), options) {
			got = append(got, err.Field)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
