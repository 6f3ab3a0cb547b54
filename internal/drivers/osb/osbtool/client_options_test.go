package osbtool

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestClientOptions(t *testing.T) {
	all := Access{User: "admin", Password: `a"b,c:d`, CAFile: "/s/ca.crt", CertFile: "/s/tls.crt", KeyFile: "/s/tls.key"}
	for name, c := range map[string]struct {
		endpoint string
		access   Access
		want     map[string]any
	}{
		"everything": {"https://h:443", all, map[string]any{"timeout": 60.0, "max_retries": 0.0, "use_ssl": true, "verify_certs": true, "ca_certs": "/s/ca.crt",
			"client_cert": "/s/tls.crt", "client_key": "/s/tls.key", "basic_auth_user": "admin", "basic_auth_password": `a"b,c:d`}},
		"the program's certificates": {"https://h:443", Access{}, map[string]any{"timeout": 60.0, "max_retries": 0.0, "use_ssl": true, "verify_certs": true}},
		"an open cluster":            {"http://h:80", Access{}, map[string]any{"timeout": 60.0, "max_retries": 0.0}},
		"signed": {"https://h:443", Access{CAFile: "/s/ca.crt", Signed: true}, map[string]any{"timeout": 60.0, "max_retries": 0.0, "use_ssl": true, "verify_certs": true,
			"ca_certs": "/s/ca.crt", "amazon_aws_log_in": "environment"}},
	} {
		data, err := ClientOptions(c.endpoint, c.access)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]map[string]any
		if err := json.Unmarshal(data, &got); err != nil || !maps.Equal(got["default"], c.want) {
			t.Errorf("%s: %s, %v, want %v", name, data, err, c.want)
		}
	}
	for _, bad := range []string{"h:9200", "https://admin:secret@h"} {
		if _, err := ClientOptions(bad, all); err == nil {
			t.Errorf("%s was taken for an endpoint", bad)
		}
	}
}

// TestArgs_clientOptionsFile_givesOnlyItsPath checks that the command line contains only the path of the file with client options.
func TestArgs_clientOptionsFile_givesOnlyItsPath(t *testing.T) {
	args, err := Run{Version: "2.4.0", Endpoint: "https://h:443", ID: "id", ClientOptionsFile: "/w/client.json"}.Args()
	if err != nil || !slices.Contains(args, "--client-options=/w/client.json") || strings.Contains(strings.Join(args, " "), "use_ssl") {
		t.Errorf("%q, %v", args, err)
	}
}

// TestArgs_accessKeys_onlyInEnvironment checks that keys are only in the environment of the program and not on its command
// line.
func TestArgs_accessKeys_onlyInEnvironment(t *testing.T) {
	r := Run{Version: "2.4.0", Home: "/h", Endpoint: "https://h:443", ID: "id", ClientOptionsFile: "/w/client.json", Access: []string{"OSB_AWS_SECRET_ACCESS_KEY=s3cr3t"}}
	args, err := r.Args()
	if err != nil || strings.Contains(strings.Join(args, " "), "s3cr3t") || !slices.Contains(r.Env("/t"), "OSB_AWS_SECRET_ACCESS_KEY=s3cr3t") {
		t.Errorf("%q, %v, %q", args, err, r.Env("/t"))
	}
}
