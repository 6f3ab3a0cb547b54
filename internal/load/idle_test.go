package load

import (
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/access"
	"github.com/knee-bench/knee/internal/record"
)

// trusting returns the access of a client that trusts the certificate of the server.
func trusting(t *testing.T, s *httptest.Server) access.Access {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.crt")
	err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	a, err := access.Read(record.External{CAFile: file})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestLoad_idleConnectionsClosedByServer_dialsAgain checks connections that the server closes before the first request.
// Proxies close idle connections after a minute, and a loader that is ready may wait longer for the other loader
// pods.
func TestLoad_idleConnectionsClosedByServer_dialsAgain(t *testing.T) {
	f := newFake(t, created)
	for _, c := range []struct {
		name  string
		start func(*httptest.Server)
	}{{"plain", (*httptest.Server).Start}, {"TLS", (*httptest.Server).StartTLS}} {
		t.Run(c.name, func(t *testing.T) {
			const workers = 3
			var mu sync.Mutex
			var made []net.Conn
			all := make(chan struct{})
			server := httptest.NewUnstartedServer(f.Config.Handler)
			server.Config.ConnState = func(conn net.Conn, state http.ConnState) {
				mu.Lock()
				defer mu.Unlock()
				if state != http.StateNew || len(made) == workers {
					return
				}
				if made = append(made, conn); len(made) == workers {
					close(all)
				}
			}
			server.Config.ErrorLog = log.New(io.Discard, "", 0) // hides errors of handshakes that the test interrupts
			c.start(server)
			defer server.Close()
			a := access.Access{}
			config := f.config(func(c *Config) { c.URL, c.Workers = server.URL, workers })
			if server.TLS != nil {
				a = trusting(t, server)
			}
			l, err := Prepare(t.Context(), config, a)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			<-all // all connections exist, but no request was sent yet
			mu.Lock()
			for _, conn := range made {
				_ = conn.Close()
			}
			mu.Unlock()
			for _, c := range l.dialled {
				for began := time.Now(); !c.isClosedByServer(); time.Sleep(time.Millisecond) {
					if time.Since(began) > time.Minute {
						t.Fatal("the end of a connection does not come")
					}
				}
			}
			r, err := l.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if r.Documents != (Documents{Added: 1000, Acknowledged: 1000}) || r.Ended != "" {
				t.Errorf("documents %+v, refused %+v, ended %q", r.Documents, r.Refused, r.Ended)
			}
		})
	}
}
