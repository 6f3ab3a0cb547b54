package opensearch

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/access"
)

// TestClient_redirect_isNotFollowed checks that the client does not follow a redirect. It reports status 307 and sends
// nothing to the other host.
func TestClient_redirect_isNotFollowed(t *testing.T) {
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
	client, err := Connect(nil, server.URL, access.Access{User: "admin", Password: "s3cr3t"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
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
		client, err := Connect(nil, c.url, access.Access{User: c.user, Password: "s3cr3t"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		_, err = client.Health(t.Context())
		if got := RefusalOf(err); got != c.want {
			t.Errorf("%s as %s: %q, want %q: %v", c.url, c.user, got, c.want, err)
		}
		_ = client.Close()
	}
}
