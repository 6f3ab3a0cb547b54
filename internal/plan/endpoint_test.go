package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// endpoints returns a campaign of variants at the given URLs, on one topology.
func endpoints(urls ...string) *v1alpha1.BenchmarkCampaign {
	c := study()
	c.Spec.Variants = nil
	for i, url := range urls {
		c.Spec.Variants = append(c.Spec.Variants, v1alpha1.Variant{
			Name: v1alpha1.Name(rune('a' + i)), Endpoint: &v1alpha1.Endpoint{URL: url},
		})
	}
	return c
}

func TestIdentity_fieldsOfEndpoint(t *testing.T) {
	hash := func(change func(*v1alpha1.BenchmarkCampaign)) string {
		c := endpoints("https://search.example.org")
		change(c)
		return Build(c).Cells[0].Hash
	}
	first := func(c *v1alpha1.BenchmarkCampaign) *v1alpha1.Endpoint { return c.Spec.Variants[0].Endpoint }
	base := hash(func(*v1alpha1.BenchmarkCampaign) {})
	for name, change := range map[string]func(*v1alpha1.BenchmarkCampaign){
		"its port said":              func(c *v1alpha1.BenchmarkCampaign) { first(c).URL = "https://search.example.org:443" },
		"capitals":                   func(c *v1alpha1.BenchmarkCampaign) { first(c).URL = "https://Search.Example.ORG" },
		"credentials":                func(c *v1alpha1.BenchmarkCampaign) { first(c).CredentialsSecret = "s" },
		"a CA":                       func(c *v1alpha1.BenchmarkCampaign) { first(c).CASecret = "s" },
		"a client certificate":       func(c *v1alpha1.BenchmarkCampaign) { first(c).ClientCertificateSecret = "s" },
		"index deletion":             func(c *v1alpha1.BenchmarkCampaign) { first(c).AllowIndexDeletion = p(true) },
		"what others are made of":    func(c *v1alpha1.BenchmarkCampaign) { c.Spec.OpenSearch.Version = "3.2.0" },
		"the volumes of the others":  func(c *v1alpha1.BenchmarkCampaign) { c.Spec.OpenSearch.Storage.Size = "2Ti" },
		"disk limits, only judgment": func(c *v1alpha1.BenchmarkCampaign) { c.Spec.OpenSearch.DiskLimits.IOPS = p(int32(9)) },
	} {
		if got := hash(change); got != base {
			t.Errorf("%s: another identity", name)
		}
	}
	for name, change := range map[string]func(*v1alpha1.BenchmarkCampaign){
		"another port":   func(c *v1alpha1.BenchmarkCampaign) { first(c).URL = "https://search.example.org:9200" },
		"another host":   func(c *v1alpha1.BenchmarkCampaign) { first(c).URL = "https://find.example.org" },
		"another scheme": func(c *v1alpha1.BenchmarkCampaign) { first(c).URL = "http://search.example.org:443" },
		"a node pool":    func(c *v1alpha1.BenchmarkCampaign) { c.Spec.Variants[0].Endpoint = nil },
	} {
		if got := hash(change); got == base {
			t.Errorf("%s: the same identity", name)
		}
	}
	c := endpoints("https://search.example.org")
	c.Spec.OpenSearch.DiskLimits.IOPS = p(int32(9))
	cell := Build(c).Cells[0]
	if cell.Provisioned() || cell.Spec.Endpoint.URL != "https://search.example.org:443" || cell.DiskLimits.IOPS != nil {
		t.Errorf("%+v", cell)
	}
}

func TestGroups_sameEndpoint_sharesGroup(t *testing.T) {
	c := endpoints("https://one.example", "https://ONE.example:443", "https://two.example", "http://one.example")
	c.Spec.Variants = append(c.Spec.Variants, v1alpha1.Variant{Name: "anywhere"}, v1alpha1.Variant{Name: "anywhere-else"})
	got := Build(c).Groups
	if !slices.EqualFunc(got, [][]int{{0, 1}, {2}, {3}, {4, 5}}, slices.Equal) {
		t.Errorf("groups %v", got)
	}
}

func TestValidate_endpoints(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*v1alpha1.Endpoint)
		want   string // empty: valid
	}{
		{"a URL", func(*v1alpha1.Endpoint) {}, ""},
		{"an address", func(e *v1alpha1.Endpoint) { e.URL = "https://10.0.0.7:9200" }, ""},
		{"capitals", func(e *v1alpha1.Endpoint) { e.URL = "https://Search.example.org" }, ""},
		{"Secrets", func(e *v1alpha1.Endpoint) {
			e.CredentialsSecret, e.CASecret, e.ClientCertificateSecret = "a.b", "c-d", "e"
		}, ""},
		{"port 0", func(e *v1alpha1.Endpoint) { e.URL = "https://h:0" }, "spec.variants[0].endpoint.url"},
		{"a port too high", func(e *v1alpha1.Endpoint) { e.URL = "https://h:65536" }, "from 1 to 65535"},
		{"an empty label", func(e *v1alpha1.Endpoint) { e.URL = "https://a..b" }, "spec.variants[0].endpoint.url"},
		{"credentials that are no name", func(e *v1alpha1.Endpoint) { e.CredentialsSecret = "../x" }, "spec.variants[0].endpoint.credentialsSecret"},
		{"a CA in capitals", func(e *v1alpha1.Endpoint) { e.CASecret = "CA" }, "spec.variants[0].endpoint.caSecret"},
		{"a certificate with a blank", func(e *v1alpha1.Endpoint) { e.ClientCertificateSecret = "a b" }, "spec.variants[0].endpoint.clientCertificateSecret"},
	} {
		c := endpoints("https://search.example.org:9200")
		test.change(c.Spec.Variants[0].Endpoint)
		errs := Validate(c)
		if test.want == "" && len(errs) > 0 || test.want != "" && (len(errs) == 0 || !strings.Contains(errs.ToAggregate().Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.name, errs, test.want)
		}
	}
}
