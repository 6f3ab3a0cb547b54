package osbtool

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// Access holds the credentials that the program needs for a secured cluster. Certificates and keys are paths of files.
type Access struct {
	User, Password string // empty: no authentication
	CAFile         string // empty: the certificates that the program contains
	CertFile       string // client certificate, used with KeyFile; empty: no client certificate
	KeyFile        string
	Signed         bool // requests are signed with the keys in Run.Access
}

// option is one option of the program's client. The command line and the options file have different formats for it.
type option struct {
	name  string
	value any
}

// clientOptions returns the options of the program's client that apply to every cluster. By default, the client would retry a
// request three times after status 502, 503, 504 or a lost connection. Retries are disabled, so each failed request gives one
// line of output and counts once in the error rate.
func clientOptions(u *url.URL) []option {
	out := []option{{"timeout", 60}, {"max_retries", 0}} // timeout in seconds; number of retries
	if u.Scheme == "https" {
		out = append(out, option{"use_ssl", true})
	}
	return out
}

// commandLine formats client options for the program's command line.
func commandLine(options []option) string {
	var out []string
	for _, o := range options {
		out = append(out, fmt.Sprintf("%s:%v", o.name, o.value))
	}
	return strings.Join(out, ",")
}

// ClientOptions returns the content of the file that Run.ClientOptionsFile names. The options are in a file, because every
// user of the machine can read a command line. The program masks the password when it logs the options (OsClientFactory of
// osbenchmark/client.py), but not the signing keys. Therefore the signing keys are in the program's environment.
func ClientOptions(endpoint string, access Access) ([]byte, error) {
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
	return json.Marshal(map[string]any{"default": options}) // the key is the name of a cluster; the program uses only the cluster "default"
}

func parseEndpoint(endpoint string) (*url.URL, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Hostname() == "" {
		return nil, fmt.Errorf("the endpoint %q is not a URL", endpoint)
	}
	if u.User != nil {
		return nil, fmt.Errorf("the endpoint's URL must not contain a user name: use the field credentialsSecret of the endpoint")
	}
	if u.Port() == "" {
		return nil, fmt.Errorf("the endpoint %q has no port: add the port to the URL", endpoint)
	}
	return u, nil
}
