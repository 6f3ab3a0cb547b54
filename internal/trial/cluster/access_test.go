package cluster

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/record"
)

// folder makes files of a Secret as the kubelet would mount it.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o400); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReadAccess(t *testing.T) {
	good := folder(t, map[string]string{"username": "admin", "password": "pa ss:w\"ord\n"})
	a, err := ReadAccess(record.External{CredentialsDir: good})
	if err != nil || a.User != "admin" || a.Password != "pa ss:w\"ord" {
		t.Errorf("%+v, %v", a, err)
	}
	for _, spelling := range []string{`pa ss:w"ord`, `pa ss:w\"ord`, "pa+ss%3Aw%22ord", "cGEgc3M6dyJvcmQ=", "YWRtaW46cGEgc3M6dyJvcmQ="} {
		found := false
		for _, s := range a.Secret() {
			found = found || s == spelling
		}
		if !found {
			t.Errorf("%q is not among %q", spelling, a.Secret())
		}
	}
	if a, err := ReadAccess(record.External{}); err != nil || a.Secret() != nil {
		t.Errorf("nothing to read: %+v, %v", a, err)
	}
	const secret = "s3cr3t-of-the-test"
	for name, c := range map[string]struct {
		external record.External
		want     string
	}{
		"no password":      {record.External{CredentialsDir: folder(t, map[string]string{"username": "admin"})}, "password: no such file"},
		"an empty one":     {record.External{CredentialsDir: folder(t, map[string]string{"username": "admin", "password": "\n"})}, "password is empty"},
		"two lines":        {record.External{CredentialsDir: folder(t, map[string]string{"username": "admin", "password": secret + "\n" + secret})}, "printable ASCII"},
		"another script":   {record.External{CredentialsDir: folder(t, map[string]string{"username": "admin", "password": secret + "ü"})}, "printable ASCII"},
		"a colon":          {record.External{CredentialsDir: folder(t, map[string]string{"username": "a:b", "password": secret})}, "colon"},
		"no authority":     {record.External{CAFile: "/nowhere/ca.crt"}, "/nowhere/ca.crt"},
		"an authority of":  {record.External{CAFile: filepath.Join(folder(t, map[string]string{"ca.crt": secret}), "ca.crt")}, "no certificate in PEM"},
		"no certificate":   {record.External{ClientCertificateDir: "/nowhere"}, "/nowhere"},
		"one that is none": {record.External{ClientCertificateDir: folder(t, map[string]string{"tls.crt": secret, "tls.key": secret})}, "client certificate"},
	} {
		if _, err := ReadAccess(c.external); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A redirection is an answer like another: nothing is sent to where it points.
func TestRedirectionsAreNotFollowed(t *testing.T) {
	reached := make(chan string, 8)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { reached <- r.Header.Get("Authorization") }))
	defer elsewhere.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); !ok || user != "admin" || password != "s3cr3t" {
			t.Errorf("user %q", user)
		}
		http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	client, err := Connect(nil, server.URL, Access{User: "admin", Password: "s3cr3t"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	_, err = client.Health(t.Context())
	if err == nil || !strings.Contains(err.Error(), "status 307") || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("%v", err)
	}
	select {
	case got := <-reached:
		t.Errorf("the other host was asked, with %q", got)
	default:
	}
}

func TestRefusals(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := map[string]int{"admin": 200, "stranger": 401, "guest": 403, "busy": 503}
		user, _, _ := r.BasicAuth()
		w.WriteHeader(status[user])
		_, _ = w.Write([]byte("{}"))
	}))
	defer plain.Close()
	secure := httptest.NewTLSServer(plain.Config.Handler)
	defer secure.Close()
	for _, c := range []struct {
		url, user string
		want      Refusal
	}{
		{plain.URL, "admin", NoRefusal},
		{plain.URL, "stranger", RefusedUser},
		{plain.URL, "guest", RefusedPermission},
		{plain.URL, "busy", NoRefusal},
		{secure.URL, "admin", RefusedServer},
		{strings.Replace(plain.URL, "http:", "https:", 1), "admin", RefusedProtocol},
		{"http://127.0.0.1:1", "admin", NoRefusal},
	} {
		client, err := Connect(nil, c.url, Access{User: c.user, Password: "s3cr3t"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Health(t.Context())
		if got := RefusalOf(err); got != c.want {
			t.Errorf("%s as %s: %q, want %q: %v", c.url, c.user, got, c.want, err)
		}
		_ = client.Close()
	}
}
