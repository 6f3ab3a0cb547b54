package driver

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// OSBAccess is what the program needs to reach a cluster that is not open to everybody. Files are named by their paths.
type OSBAccess struct {
	User, Password string // empty: no authentication
	CAFile         string // empty: the certificates that the program brings
	CertFile       string // of the client, with KeyFile; empty: none is shown
	KeyFile        string
	Signed         bool // requests are signed with what OSBRun.Access holds
}

// option is one of the program's client, as it reads both its command line and a file.
type option struct {
	name  string
	value any
}

// clientOptions are those of the program's client for every cluster. It would try a request thrice more after a status of
// 502, 503 or 504 or a lost connection, and retries nothing: one failed request is one line of output and one count of the
// error rate.
func clientOptions(u *url.URL) []option {
	out := []option{{"timeout", 60}, {"max_retries", 0}} // seconds, times
	if u.Scheme == "https" {
		out = append(out, option{"use_ssl", true})
	}
	return out
}

// commandLine spells client options as the program's command line takes them.
func commandLine(options []option) string {
	var out []string
	for _, o := range options {
		out = append(out, fmt.Sprintf("%s:%v", o.name, o.value))
	}
	return strings.Join(out, ",")
}

// OSBClientOptions is the content of the file that OSBRun.ClientOptionsFile names: the program takes its client's options
// from a JSON file as well as from its command line, which everybody on the machine can read. It masks the password where
// it logs the options (OsClientFactory of osbenchmark/client.py). Keys that sign it would log as they are, so that it has
// them from its environment.
func OSBClientOptions(endpoint string, access OSBAccess) ([]byte, error) {
	u, err := parseEndpoint(endpoint)
	if err != nil {
		return nil, err
	}
	options := map[string]any{}
	for _, o := range clientOptions(u) {
		options[o.name] = o.value
	}
	if u.Scheme == "https" {
		options["verify_certs"] = true
		if access.CAFile != "" {
			options["ca_certs"] = access.CAFile
		}
		if access.CertFile != "" {
			options["client_cert"], options["client_key"] = access.CertFile, access.KeyFile
		}
	}
	switch {
	case access.Signed:
		options["amazon_aws_log_in"] = "environment"
	case access.Password != "":
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
	if u.Port() == "" {
		return nil, fmt.Errorf("the endpoint %q names no port", endpoint)
	}
	return u, nil
}
