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

// Endpoint is a cell's OpenSearch where Knee does not provision it. Only its URL is part of the identity: another
// password or another CA measures nothing else.
type Endpoint struct {
	URL string `json:"url"` // scheme://host:port, always with its port

	Access v1alpha1.Endpoint `json:"-"` // the names of its Secrets, and what a trial may do there
}

// Host is what tells one endpoint from another: host:port. Two names of one cluster cannot be told to be one.
func (e *Endpoint) Host() string {
	_, host, _ := strings.Cut(e.URL, "://")
	return host
}

// unknown is the endpoint of cells whose load says by itself what it loads. No two of them run at once: for all that Knee
// knows it is one system.
const unknown = "-"

// Provisioned says whether Knee makes the cell's cluster, and ends it. Where it does not, the cluster is there already, or
// the load needs none.
func (c Cell) Provisioned() bool { return c.Spec.Pool.Endpoint == "" }

// Operated says whether the opensearch-k8s-operator makes the cell's cluster for Knee.
func (c Cell) Operated() bool {
	return c.Provisioned() && c.Spec.OpenSearch.Provisioner == v1alpha1.ProvisionOpenSearchCluster
}

// Secured reports whether Knee's own StatefulSet runs with the security plugin on.
func (c Cell) Secured() bool {
	return c.Provisioned() && !c.Operated() && value(c.Spec.OpenSearch.Security, false)
}

// toUnknown makes a cell's spec that of a load that brings what it loads itself.
func toUnknown(spec *CellSpec) {
	spec.Pool = Pool{Endpoint: unknown}
	spec.OpenSearch = v1alpha1.OpenSearch{}
	spec.Topology.Zones = 0
}

// toEndpoint makes a cell's spec that of a cluster that is there already. What the campaign says of the OpenSearch that
// it provisions is not about this one.
func toEndpoint(spec *CellSpec, e v1alpha1.Endpoint) {
	spec.Endpoint = &Endpoint{URL: canonical(e.URL), Access: e}
	spec.Pool = Pool{Endpoint: spec.Endpoint.Host()}
	spec.OpenSearch = v1alpha1.OpenSearch{}
	spec.Topology.Zones = 0
}

// canonical spells a URL that the API server admitted in one way: in lower case and with its port.
func canonical(text string) string {
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

// endpoint finds what the schema's pattern lets through of a URL, and names that no Secret can have.
func endpoint(e *v1alpha1.Endpoint, path *field.Path) field.ErrorList {
	if e == nil {
		return nil
	}
	var errs field.ErrorList
	at := path.Child("url")
	switch u, err := url.Parse(e.URL); {
	case err != nil:
		errs = append(errs, field.Invalid(at, e.URL, "is not a URL"))
	default:
		if port := u.Port(); port != "" {
			if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
				errs = append(errs, field.Invalid(at, e.URL, "the port must be from 1 to 65535"))
			}
		}
		if net.ParseIP(u.Hostname()) == nil {
			errs = append(errs, check(strings.ToLower(u.Hostname()), at, validation.IsDNS1123Subdomain)...)
		}
	}
	if e.SigV4 != nil {
		errs = append(errs, check(e.SigV4.CredentialsSecret, path.Child("sigV4", "credentialsSecret"), validation.IsDNS1123Subdomain)...)
	}
	for _, secret := range []struct{ field, name string }{
		{"credentialsSecret", e.CredentialsSecret}, {"caSecret", e.CASecret}, {"clientCertificateSecret", e.ClientCertificateSecret},
	} {
		errs = append(errs, check(secret.name, path.Child(secret.field), validation.IsDNS1123Subdomain)...)
	}
	return errs
}
