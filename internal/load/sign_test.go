package load

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/access"
	"github.com/knee-bench/knee/internal/load/documents"
	"github.com/knee-bench/knee/internal/record"
)

// signing returns the access of a client that signs its requests.
func signing(t *testing.T) access.Access {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{record.AccessKeyIDKey: "AKID", record.SecretAccessKeyKey: "secret"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o400); err != nil {
			t.Fatal(err)
		}
	}
	a, err := access.Read(record.External{CredentialsDir: dir, SigV4: &record.SigV4{Region: "eu-central-1", Service: "es"}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestEndpoint_signedHeader_hostWithoutDefaultPort checks that the header Host contains no default port. The signature covers the header exactly as it
// is sent. The headers of the signature must occur once in each request.
func TestEndpoint_signedHeader_hostWithoutDefaultPort(t *testing.T) {
	a := signing(t)
	for url, want := range map[string]struct{ host, address string }{
		"https://search.example.org:443":  {"search.example.org", "search.example.org:443"},
		"https://search.example.org":      {"search.example.org", "search.example.org:443"},
		"https://search.example.org:9200": {"search.example.org:9200", "search.example.org:9200"},
		"http://search.example.org:443":   {"search.example.org:443", "search.example.org:443"},
	} {
		e, err := newEndpoint(Config{URL: url, Index: "i"}, a)
		if err != nil {
			t.Fatal(err)
		}
		query := e.url.RawQuery
		c := newConnection(e, 0)
		if err := c.writeHead(t.Context(), documents.Bulk{}); err != nil {
			t.Fatal(err)
		}
		head := string(c.head)
		if e.address != want.address || !strings.Contains(head, "\r\nHost: "+want.host+"\r\n") {
			t.Errorf("%s: to %s with %s", url, e.address, head)
		}
		for _, once := range []string{"\r\nAuthorization: AWS4-HMAC-SHA256 Credential=AKID/", "\r\nX-Amz-Date: ", "\r\nX-Amz-Content-Sha256: ", "\r\nContent-Length: 0\r\n\r\n"} {
			if strings.Count(head, once) != 1 {
				t.Errorf("%s: %q is not there once: %s", url, once, head)
			}
		}
		if e.url.RawQuery != query {
			t.Errorf("%s: what all workers share was changed", url)
		}
	}
}

// TestLoad_signing_isNotWaitingTime checks that the work of the loader for a request, such as signing, does not count as time
// waiting for the server.
func TestLoad_signing_isNotWaitingTime(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.Close() // so the client never waits for an answer
		}
	}()
	e, err := newEndpoint(Config{URL: "http://" + listener.Addr().String(), Index: "i"}, signing(t))
	if err != nil {
		t.Fatal(err)
	}
	part := make([]byte, 1<<20)
	b := documents.Bulk{Documents: 1}
	for range 256 {
		b.Parts, b.Bytes = append(b.Parts, part), b.Bytes+int64(len(part))
	}
	var took, wait time.Duration
	for range 10 { // on a busy machine, the server may be late some of the times
		w := &worker{connection: newConnection(e, time.Minute), tally: tally{latency: newLatency()}}
		began := time.Now()
		w.send(t.Context(), b)
		took, wait = time.Since(began), w.tally.wait
		w.connection.close()
		if wait <= 3*took/4 {
			return
		}
	}
	t.Errorf("%s of %s count as waiting for a server that ends the connection at once", wait, took)
}
