package resources_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

// atEndpoint returns a campaign of one variant at an endpoint.
func atEndpoint(e v1alpha1.Endpoint) *wrappers.Campaign {
	c := wrappers.MakeCampaign("x").Variant("a")
	c.Spec.Variants[0].NodePool, c.Spec.Variants[0].Endpoint = v1alpha1.NodePool{}, &e
	return c
}

func TestJob_endpoint_mountsItsSecrets(t *testing.T) {
	c := atEndpoint(v1alpha1.Endpoint{URL: "https://search.example.org", CredentialsSecret: "login", CASecret: "authority",
		ClientCertificateSecret: "card", AllowIndexDeletion: ptr.To(true)})
	c.Spec.Workload.OSB.From = &v1alpha1.WorkloadSource{Image: &v1alpha1.ImageSource{Image: "w:1", Path: "/w"}}
	p, cell := cellOf(c)
	job, err := resources.Job(c.Obj(), p, cell, attemptOf(cell, record.Sweep), resources.Running{}, options)
	if err != nil {
		t.Fatal(err)
	}
	if got := job.Spec.Template.Annotations[resources.AnnotationEndpoint]; got != "search.example.org:443" {
		t.Errorf("the pod's endpoint is %q", got)
	}
	pod := job.Spec.Template.Spec
	keys := map[string][]string{}
	volumes := map[string]bool{}
	for _, v := range pod.Volumes {
		if s := v.Secret; s != nil {
			volumes[v.Name] = true
			if *s.DefaultMode != 0o440 || *s.Optional {
				t.Errorf("%s: mode %o, optional %t", v.Name, *s.DefaultMode, *s.Optional)
			}
			for _, item := range s.Items {
				keys[s.SecretName] = append(keys[s.SecretName], item.Key+"="+item.Path)
			}
		}
	}
	if diff := cmp.Diff(map[string][]string{"login": {"username=username", "password=password"}, "authority": {"ca.crt=ca.crt"},
		"card": {"tls.crt=tls.crt", "tls.key=tls.key"}}, keys); diff != "" {
		t.Error(diff)
	}
	var mounted []string
	for i, container := range append(pod.InitContainers, pod.Containers...) {
		for _, m := range container.VolumeMounts {
			if !volumes[m.Name] {
				continue
			}
			if i < len(pod.InitContainers) || !m.ReadOnly || m.SubPath != "" {
				t.Errorf("container %s mounts %+v", container.Name, m)
			}
			mounted = append(mounted, m.MountPath)
		}
		for _, e := range container.Env {
			if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
				t.Errorf("container %s has a Secret in its environment", container.Name)
			}
		}
		if len(container.EnvFrom) > 0 {
			t.Errorf("container %s takes its environment from elsewhere", container.Name)
		}
	}
	if diff := cmp.Diff([]string{record.CredentialsPath, record.CAPath, record.ClientCertificatePath}, mounted); diff != "" {
		t.Error(diff)
	}
	if *pod.SecurityContext.FSGroup != *pod.SecurityContext.RunAsGroup {
		t.Error("the files' group is not the trial's")
	}
}

func TestConfig_endpoint(t *testing.T) {
	c := atEndpoint(v1alpha1.Endpoint{URL: "https://search.example.org", CredentialsSecret: "login", CASecret: "authority", AllowIndexDeletion: ptr.To(true)})
	c.Spec.Topologies[0].Nodes = ptr.To[int32](3)
	p, cell := cellOf(c)
	got := resources.Config(c.Obj(), p, cell, attemptOf(cell, record.Sweep), resources.Running{})
	if got.Endpoint != "https://search.example.org:443" || got.Nodes != 3 || got.Probes != nil {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(&record.External{CredentialsDir: "/knee/secrets/credentials", CAFile: "/knee/secrets/ca/ca.crt", AllowIndexDeletion: true,
		CredentialsSecret: "login", CASecret: "authority"}, got.External); diff != "" {
		t.Error(diff)
	}
	own := wrappers.MakeCampaign("x").Variant("a")
	p, cell = cellOf(own)
	if got := resources.Config(own.Obj(), p, cell, attemptOf(cell, record.Sweep), resources.Running{}); got.External != nil || len(got.Probes) != 1 {
		t.Errorf("a cluster of Knee's own: %+v", got)
	}
}

// TestJob_noSecrets_mountsNone checks that the pod mounts no Secret if the endpoint names none, or if Knee provisions the
// cluster.
func TestJob_noSecrets_mountsNone(t *testing.T) {
	for name, c := range map[string]*wrappers.Campaign{
		"an endpoint without": atEndpoint(v1alpha1.Endpoint{URL: "http://h"}),
		"a cluster":           wrappers.MakeCampaign("x").Variant("a"),
	} {
		p, cell := cellOf(c)
		job, err := resources.Job(c.Obj(), p, cell, attemptOf(cell, record.Sweep), resources.Running{}, options)
		if err != nil {
			t.Fatal(err)
		}
		text, err := yaml.Marshal(job)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(strings.ToLower(string(text)), "secret") {
			t.Errorf("%s: %s", name, text)
		}
		if _, told := job.Spec.Template.Annotations[resources.AnnotationEndpoint]; told == (name == "a cluster") {
			t.Errorf("%s: annotations %v", name, job.Spec.Template.Annotations)
		}
	}
}

// TestJob_endpointWithSigV4_mountsKeys checks the Secret with signing keys. It is mounted without a list of keys,
// because the session token may be missing.
func TestJob_endpointWithSigV4_mountsKeys(t *testing.T) {
	c := atEndpoint(v1alpha1.Endpoint{URL: "https://search.example.org", AllowIndexDeletion: ptr.To(true),
		SigV4: &v1alpha1.SigV4{Region: "eu-central-1", Service: "es", CredentialsSecret: "keys"}})
	p, cell := cellOf(c)
	job, err := resources.Job(c.Obj(), p, cell, attemptOf(cell, record.Sweep), resources.Running{}, options)
	if err != nil {
		t.Fatal(err)
	}
	var mounted []string
	for _, v := range job.Spec.Template.Spec.Volumes {
		if v.Secret != nil && (v.Secret.Items != nil || *v.Secret.Optional) {
			t.Errorf("%+v", v.Secret)
		}
		if v.Secret != nil {
			mounted = append(mounted, v.Secret.SecretName)
		}
	}
	got := resources.Config(c.Obj(), p, cell, attemptOf(cell, record.Sweep), resources.Running{})
	want := &record.External{CredentialsDir: "/knee/secrets/credentials", AllowIndexDeletion: true, CredentialsSecret: "keys",
		SigV4: &record.SigV4{Region: "eu-central-1", Service: "es"}}
	if diff := cmp.Diff(want, got.External) + cmp.Diff([]string{"keys"}, mounted); diff != "" {
		t.Error(diff)
	}
}
