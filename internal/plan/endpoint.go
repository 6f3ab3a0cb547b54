package plan

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// Endpoint is a cell's OpenSearch that Knee does not provision. Only its URL is part of the identity: a new password or a new
// CA does not change the measurement.
type Endpoint struct {
	URL string `json:"url"` // scheme://host:port; the port is always present

	Access v1alpha1.Endpoint `json:"-"` // names of the endpoint's Secrets, and what a trial may do at the endpoint
}

// Host returns host:port, which identifies an endpoint. Knee cannot detect that two host names refer to one cluster.
func (e *Endpoint) Host() string {
	_, host, _ := strings.Cut(e.URL, "://")
	return host
}

// unknown is the endpoint of cells without an OpenSearch whose campaign names no endpoint. Knee cannot detect which system such a cell
// loads. Two of these cells may load the same system, so Knee runs them one after the other.
const unknown = "-"

// Provisioned reports whether Knee creates and deletes the cell's cluster. It returns false if the cluster exists already, or if the load
// needs no cluster.
func (c Cell) Provisioned() bool { return c.Spec.Pool.Endpoint == "" }

// Operated reports whether the opensearch-k8s-operator creates the cell's cluster for Knee.
func (c Cell) Operated() bool {
	return c.Provisioned() && c.Spec.OpenSearch.Provisioner == v1alpha1.ProvisionOpenSearchCluster
}

// Secured reports whether Knee's own StatefulSet runs with the security plugin on.
func (c Cell) Secured() bool {
	return c.Provisioned() && !c.Operated() && value(c.Spec.OpenSearch.Security, false)
}

// clearOpenSearch changes spec to the spec of a cell without an OpenSearch.
func clearOpenSearch(spec *CellSpec) {
	spec.Pool = Pool{Endpoint: unknown}
	if spec.Command != nil && spec.Command.Endpoint != "" {
		spec.Pool.Endpoint = strings.ToLower(spec.Command.Endpoint) // like the host name of a URL
	}
	spec.OpenSearch = v1alpha1.OpenSearch{}
	spec.Topology.Zones = 0
}

// setEndpoint changes spec to the spec of a cell at an existing cluster. The campaign's OpenSearch fields do not describe that
// cluster, so setEndpoint removes them.
func setEndpoint(spec *CellSpec, e v1alpha1.Endpoint) {
	if e.SigV4 != nil {
		signing := *e.SigV4
		signing.Service = first(signing.Service, v1alpha1.DefaultSigV4Service)
		e.SigV4 = &signing
	}
	spec.Endpoint = &Endpoint{URL: canonicalURL(e.URL), Access: e}
	spec.Pool = Pool{Endpoint: spec.Endpoint.Host()}
	spec.OpenSearch = v1alpha1.OpenSearch{}
	spec.Topology.Zones = 0
}

// canonicalURL returns the URL in lower case and with its port.
func canonicalURL(text string) string {
	u, err := url.Parse(strings.ToLower(text))
	if err != nil || u.Port() != "" {
		return strings.ToLower(text)
	}
	port := "80"
	if u.Scheme == "https" {
		port = "443"
	}
	return u.Scheme + "://" + net.JoinHostPort(u.Hostname(), port)
}

// checkEndpoint finds wrong URLs that match the schema's pattern, and names that are not valid for a Secret.
func checkEndpoint(e *v1alpha1.Endpoint, path *field.Path) field.ErrorList {
	if e == nil {
		return nil
	}
	var errs field.ErrorList
	at := path.Child("url")
	switch u, err := url.Parse(e.URL); {
	case err != nil:
		errs = append(errs, field.Invalid(at, e.URL, "is not a URL: use the form http://opensearch.example:9200"))
	default:
		if port := u.Port(); port != "" {
			if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
				errs = append(errs, field.Invalid(at, e.URL, "the port must be from 1 to 65535"))
			}
		}
		if net.ParseIP(u.Hostname()) == nil {
			errs = append(errs, checkName(strings.ToLower(u.Hostname()), at, validation.IsDNS1123Subdomain)...)
		}
	}
	if e.SigV4 != nil {
		errs = append(errs, checkName(e.SigV4.CredentialsSecret, path.Child("sigV4", "credentialsSecret"), validation.IsDNS1123Subdomain)...)
	}
	for _, secret := range []struct{ field, name string }{
		{"credentialsSecret", e.CredentialsSecret}, {"caSecret", e.CASecret}, {"clientCertificateSecret", e.ClientCertificateSecret},
	} {
		errs = append(errs, checkName(secret.name, path.Child(secret.field), validation.IsDNS1123Subdomain)...)
	}
	return errs
}
