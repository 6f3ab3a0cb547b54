package driver

import (
	"encoding/json"
	"fmt"
	"net/url"
)

// OSBAccess is what the program needs to reach a cluster that is not open to everybody. Files are named by their paths.
type OSBAccess struct {
	User, Password string // empty: no authentication
	CAFile         string // empty: the certificates that the program brings
	CertFile       string // of the client, with KeyFile; empty: none is shown
	KeyFile        string
}

// OSBClientOptions is the content of the file that OSBRun.ClientOptionsFile names: the program takes its client's options
// from a JSON file as well as from its command line, which everybody on the machine can read. It masks the password where
// it logs the options (OsClientFactory of osbenchmark/client.py).
func OSBClientOptions(endpoint string, access OSBAccess) ([]byte, error) {
	u, err := parseEndpoint(endpoint)
	if err != nil {
		return nil, err
	}
	options := map[string]any{"timeout": 60, "max_retries": 0}
	if u.Scheme == "https" {
		options["use_ssl"], options["verify_certs"] = true, true
		if access.CAFile != "" {
			options["ca_certs"] = access.CAFile
		}
		if access.CertFile != "" {
			options["client_cert"], options["client_key"] = access.CertFile, access.KeyFile
		}
	}
	if access.Password != "" {
		options["basic_auth_user"], options["basic_auth_password"] = access.User, access.Password
	}
	return json.Marshal(map[string]any{"default": options}) // by the name of a cluster, of which there is one
}

func parseEndpoint(endpoint string) (*url.URL, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Hostname() == "" {
		return nil, fmt.Errorf("the endpoint %q is not a URL", endpoint)
	}
	if u.User != nil {
		return nil, fmt.Errorf("the endpoint's URL must not hold a user")
	}
	return u, nil
}

// targetHost gives an endpoint in the program's words.
func targetHost(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return u.Hostname() + ":" + port
}
