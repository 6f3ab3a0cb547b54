package synthetic_test

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/agent/process"
	"github.com/knee-bench/knee/internal/agent/trial"
	"github.com/knee-bench/knee/internal/drivers/agentside"
	"github.com/knee-bench/knee/internal/drivers/osb/osbconfig"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/contract"
	"github.com/knee-bench/knee/test/driverconfig"
	"github.com/knee-bench/knee/test/synthetic/opensearch"
)

// keyID, secretKey and token are the keys that requests are signed with.
const (
	keyID       = "AKIDOFATEST"
	secretKey   = "k3epM3/Hidden+Key"
	token       = "k3epM3//Hidden+Token=="
	signingZone = "eu-central-1"
)

// signedWell reports whether a request is signed with the test's keys. It makes its own signature of the headers that
// the request lists as signed, and compares the two signatures. It uses the AWS SDK, not the code of
// opensearch-benchmark.
func signedWell(r *http.Request, body []byte) bool {
	fields := map[string]string{}
	for _, field := range strings.Split(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 "), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		fields[name] = value
	}
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil {
		return false
	}
	again := &http.Request{Method: r.Method, URL: &url.URL{Scheme: "https", Host: r.Host, Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}, Host: r.Host, Header: http.Header{}}
	for _, name := range strings.Split(fields["SignedHeaders"], ";") {
		switch name {
		case "host", "x-amz-date":
		case "content-length":
			again.ContentLength = r.ContentLength
		default:
			again.Header[http.CanonicalHeaderKey(name)] = slices.Clone(r.Header.Values(name))
		}
	}
	sum := sha256.Sum256(body)
	keys := aws.Credentials{AccessKeyID: keyID, SecretAccessKey: secretKey, SessionToken: token}
	if err := v4.NewSigner().SignHTTP(r.Context(), keys, again, hex.EncodeToString(sum[:]), "es", signingZone, at); err != nil {
		return false
	}
	return strings.HasSuffix(again.Header.Get("Authorization"), "Signature="+fields["Signature"])
}

// signed starts a FAKE of a managed domain in front of an open cluster. It uses TLS, and refuses and counts requests
// that are not signed correctly.
func signed(t *testing.T, cluster string) (g *guarded, refused *atomic.Int64) {
	t.Helper()
	g, refused = &guarded{trust: newAuthority(t)}, &atomic.Int64{}
	target, err := url.Parse(cluster)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ErrorLog = log.New(io.Discard, "", 0) // otherwise readings that are cancelled at the end of a load would be logged
	g.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !signedWell(r, body) {
			refused.Add(1)
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"message":"The request signature we calculated does not match the signature you provided: ` + r.Method + " " + strconv.Quote(r.URL.RequestURI()) + `"}`))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	cert, key := g.trust.issue("the stand-in", x509.ExtKeyUsageServerAuth)
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	g.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	g.Config.ErrorLog = log.New(io.Discard, "", 0)
	g.StartTLS()
	t.Cleanup(g.Close)
	return g, refused
}

// sign makes the trial sign its requests with the given secret.
func (e *endpointTrial) sign(t *testing.T, secret string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{record.AccessKeyIDKey: keyID, record.SecretAccessKeyKey: secret + "\n", record.SessionTokenKey: token} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o440); err != nil {
			t.Fatal(err)
		}
	}
	e.config.External = &record.External{CredentialsDir: dir, CAFile: e.config.External.CAFile, AllowIndexDeletion: true,
		SigV4: &record.SigV4{Region: signingZone, Service: "es"}}
}

// leaks returns the places where a trial left the key that it signs with. Only the driver's environment may contain the
// key.
func (e *endpointTrial) leaks(t *testing.T, r record.Record) []string {
	t.Helper()
	texts := map[string]string{"its output": e.output.String(), "its record": fmt.Sprintf("%+v %+v", r, r.Error), "the driver's arguments": e.seen.arguments}
	for _, dir := range e.dirs {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			texts[path] = string(data)
			return err
		})
		if err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
	}
	var out []string
	for where, text := range texts {
		if strings.Contains(text, "k3epM3") {
			out = append(out, where)
		}
	}
	return out
}

// TestAgent_sigV4_signsRequests checks that the agent signs its own requests correctly, and that it reports a wrong key as such.
func TestAgent_sigV4_signsRequests(t *testing.T) {
	t.Parallel()
	behind := newGuarded(t).behind
	open := httptest.NewServer(behind)
	t.Cleanup(open.Close)
	for secret, want := range map[string]string{secretKey: "", "another": "refuses the AWS signature (SigV4)"} {
		g, refused := signed(t, open.URL)
		e := (&guarded{Server: g.Server, trust: g.trust}).trial(t)
		e.sign(t, secret)
		r := e.run(t) // the load is refused, because the fake driver does not sign
		if r.Error == nil || want != "" && (r.Error.Reason != record.ReasonClusterNotReady || !strings.Contains(r.Error.Message, want)) ||
			want == "" && r.Error.Reason == record.ReasonClusterNotReady {
			t.Errorf("%s: %+v, %d refused\n%s", secret, r.Error, refused.Load(), e.output.String())
		}
		if found := e.leaks(t, r); len(found) > 0 {
			t.Errorf("the key is in %q", found)
		}
	}
}

// TestLoader_sigV4_signsRequests checks that all workers of Knee's own loader sign their requests.
func TestLoader_sigV4_signsRequests(t *testing.T) {
	t.Parallel()
	behind := opensearch.New(opensearch.Machine{Curve: func(int) float64 { return bulkRate }, Seed: 1})
	open := httptest.NewServer(behind)
	t.Cleanup(open.Close)
	g, refused := signed(t, open.URL)
	at := g.trial(t)
	at.sign(t, secretKey)
	b := newBulkTrial(t, g.URL, v1alpha1.Bulk{Dataset: v1alpha1.DatasetSmall, Documents: ptr.To[int64](20_000), FlushDocuments: ptr.To[int32](100)})
	b.config.External = at.config.External
	r := b.run(t)
	if r.Error != nil || r.Ingest.Count != 20_000 || refused.Load() > 0 {
		t.Errorf("%+v, %d refused\n%s", r.Error, refused.Load(), b.output.String())
	}
	if strings.Contains(b.output.String()+b.spy.command+fmt.Sprintf("%+v", r), "k3epM3") {
		t.Error("the key is in the loader's command, its output or the record")
	}
}

// TestRealOSB_sigV4_signsRequests checks that the real opensearch-benchmark signs its requests to a real OpenSearch, trusts the given
// CA, and leaves no key in its files. `make test-real` runs it, like TestRealOSB_guardedEndpoint_leaksNoSecret.
func TestRealOSB_sigV4_signsRequests(t *testing.T) {
	cluster := contract.Cluster(t)
	_, program := realOSB(t)
	g, refused := signed(t, cluster)
	e := g.trial(t)
	e.sign(t, secretKey)
	driverconfig.Change(&e.config, func(c *osbconfig.Config) { c.Path, c.Params["bulk_size"] = tinyWorkload(t), "100" })
	work := shortFolder(t)
	e.dirs = []string{work, e.config.Artifacts}
	e.seen.Programs = process.OwnMachine()
	r := trial.Run(t.Context(), trial.Options{Drivers: agentside.Drivers(), Config: e.config, Work: work, Program: program, Output: &e.output, Programs: &e.seen})
	if r.Error != nil || r.Ingest.Count != 4000 || refused.Load() > 0 {
		log, _ := os.ReadFile(filepath.Join(work, "home/.benchmark/logs/benchmark.log"))
		t.Errorf("%+v, %d refused\n%s\n%s", r.Error, refused.Load(), e.output.String(), log)
	}
	if found := e.leaks(t, r); len(found) > 0 {
		t.Errorf("the key is in %q", found)
	}
}

// TestLoader_guardedEndpoint_hidesPassword checks that Knee's own loader uses user, password and certificate, and hides the
// password.
func TestLoader_guardedEndpoint_hidesPassword(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	external := g.secretsOf(t)
	b := newBulkTrial(t, g.URL, v1alpha1.Bulk{Dataset: v1alpha1.DatasetSmall, Documents: ptr.To[int64](20_000), FlushDocuments: ptr.To[int32](100)})
	b.config.External = &external
	for _, refuse := range []bool{false, true} {
		g.refuseBulks = refuse
		r := b.run(t)
		if refuse != (r.Error != nil) || !refuse && r.Ingest.Count != 20_000 {
			t.Errorf("bulks refused %t: %+v\n%s", refuse, r.Error, b.output.String())
		}
		if strings.Contains(b.output.String()+b.spy.command+fmt.Sprintf("%+v %+v", r, r.Error), "k3epM3") {
			t.Error("the password is in the loader's command, its output or the record")
		}
	}
	if templates, indices := g.behind.Left(); templates+indices > 0 {
		t.Errorf("%d templates and %d indices are left", templates, indices)
	}
}
