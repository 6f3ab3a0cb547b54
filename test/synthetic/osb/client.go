package osb

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
)

// clientOptions are the values of the program's option --client-options, from a file or from the command line.
type clientOptions struct {
	SSL      bool   `json:"use_ssl"`
	Verify   bool   `json:"verify_certs"`
	CA       string `json:"ca_certs"`
	Cert     string `json:"client_cert"`
	Key      string `json:"client_key"`
	User     string `json:"basic_auth_user"`
	Password string `json:"basic_auth_password"`
}

// readClientOptions reads the options as the program does: a value that ends in .json is the path of a file, which
// holds the options by cluster.
func (r *run) readClientOptions(value string) error {
	if !strings.HasSuffix(value, ".json") {
		r.options.SSL = strings.Contains(value, "use_ssl:true")
		return nil
	}
	data, err := os.ReadFile(value)
	if err != nil {
		return err
	}
	var clusters map[string]clientOptions
	if err := json.Unmarshal(data, &clusters); err != nil {
		return err
	}
	r.options = clusters["default"]
	if r.options.Password != "" && (r.options.SSL && !r.options.Verify) {
		return fmt.Errorf("a password would go to a server without a verified certificate")
	}
	return nil
}

// connect makes the HTTP client that the options require. Like the real program, it prints the options with all
// secrets. The agent must not pass them on.
func (r *run) connect() error {
	if !r.options.SSL {
		return nil
	}
	r.url = strings.Replace(r.url, "http://", "https://", 1)
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if r.options.CA != "" {
		data, err := os.ReadFile(r.options.CA)
		if err != nil {
			return err
		}
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(data)
	}
	if r.options.Cert != "" {
		pair, err := tls.LoadX509KeyPair(r.options.Cert, r.options.Key)
		if err != nil {
			return err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	r.http.Transport = &http.Transport{TLSClientConfig: config, MaxIdleConnsPerHost: 64}
	r.say("[INFO] the fake's client options are %+v", r.options)
	return nil
}

// authenticate adds user and password to a request.
func (r *run) authenticate(req *http.Request) {
	if r.options.Password != "" {
		req.SetBasicAuth(r.options.User, r.options.Password)
	}
}
