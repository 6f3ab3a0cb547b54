package synthetic_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"io/fs"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/agent/process"
	"github.com/knee-bench/knee/internal/agent/trial"
	"github.com/knee-bench/knee/internal/drivers/agentside"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/synthetic/opensearch"
	"github.com/knee-bench/knee/test/synthetic/osb"
)

// user and password are the credentials that the endpoint requires.
const (
	user     = "bench"
	password = `k3epM3-Hidden "quoted"`
)

// authority signs certificates for a test.
type authority struct {
	t    *testing.T
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	a := authority{t: t}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority for tests"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return a
}

// issue returns a certificate and its key in PEM.
func (a authority) issue(name string, usage x509.ExtKeyUsage) (cert, key []byte) {
	a.t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, ExtKeyUsage: []x509.ExtKeyUsage{usage},
		KeyUsage: x509.KeyUsageDigitalSignature, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &own.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		a.t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

func (a authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// guarded is a FAKE of a cluster with the security plugin: a reverse proxy in front of the synthetic OpenSearch. It
// requires TLS, a client certificate and basic authentication.
type guarded struct {
	*httptest.Server
	behind *opensearch.Server
	trust  authority

	refuseBulks bool // bulk requests get status 401
}

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	behind := opensearch.New(opensearch.Machine{Curve: func(int) float64 { return 2000 }, Seed: 1})
	open := httptest.NewServer(behind)
	t.Cleanup(open.Close)
	g := guard(t, open.URL)
	g.behind = behind
	return g
}

// guard starts a guarded endpoint in front of a cluster.
func guard(t *testing.T, cluster string) *guarded {
	t.Helper()
	g := &guarded{trust: newAuthority(t)}
	target, err := url.Parse(cluster)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ErrorLog = log.New(io.Discard, "", 0) // otherwise readings that are cancelled at the end of a load would be logged
	g.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, p, ok := r.BasicAuth(); !ok || u != user || p != password {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte("Unauthorized: " + r.Header.Get("Authorization"))) // repeats the secret, as some real proxies do
			return
		}
		if g.refuseBulks && strings.HasSuffix(r.URL.Path, "/_bulk") {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte("Unauthorized: " + r.Header.Get("Authorization")))
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	cert, key := g.trust.issue("the stand-in", x509.ExtKeyUsageServerAuth)
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AddCert(g.trust.cert)
	g.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert}
	g.Config.ErrorLog = log.New(io.Discard, "", 0) // otherwise handshakes that must fail would be logged
	g.StartTLS()
	t.Cleanup(g.Close)
	return g
}

// secretsOf writes the endpoint's Secrets to files as the kubelet mounts them.
func (g *guarded) secretsOf(t *testing.T) record.External {
	t.Helper()
	dir := t.TempDir()
	cert, key := g.trust.issue("a client", x509.ExtKeyUsageClientAuth)
	for path, data := range map[string][]byte{
		"credentials/username": []byte(user), "credentials/password": []byte(password + "\n"), "ca/ca.crt": g.trust.pem(),
		"client/tls.crt": cert, "client/tls.key": key,
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o440); err != nil {
			t.Fatal(err)
		}
	}
	return record.External{CredentialsDir: filepath.Join(dir, "credentials"), CAFile: filepath.Join(dir, "ca/ca.crt"),
		ClientCertificateDir: filepath.Join(dir, "client"), AllowIndexDeletion: true}
}

// endpointTrial is one trial against the fake endpoint (guarded).
type endpointTrial struct {
	config record.Config
	output bytes.Buffer
	seen   spy
	dirs   []string // all folders that the trial writes to
	strict bool     // mustHide also checks the driver's own log
}

func (g *guarded) trial(t *testing.T) *endpointTrial {
	t.Helper()
	c := study([]int32{2})
	p := plan.Build(c)
	e := &endpointTrial{config: config(p, c, record.Trial{Campaign: "c", Cell: p.Cells[0].Hash, Phase: record.Sweep, Clients: 2, Repetition: 1, Placement: 1})}
	external := g.secretsOf(t)
	e.config.Endpoint, e.config.External = g.URL, &external
	e.config.SettleSeconds, e.config.Measure = 30, "Whole"
	e.config.Artifacts = filepath.Join(t.TempDir(), "artifacts")
	return e
}

// run runs the trial and returns its record as the controller gets it.
func (e *endpointTrial) run(t *testing.T) record.Record {
	t.Helper()
	w := newWorkshop(t)
	e.dirs = []string{w.work, e.config.Artifacts}
	e.seen.Programs = osb.Programs{Network: http.DefaultTransport, Corpus: 4000}
	r := trial.Run(t.Context(), trial.Options{Drivers: agentside.Drivers(), Config: e.config, Work: w.work, Program: w.program, Output: &e.output, Programs: &e.seen})
	data, err := record.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	e.output.Write(data)
	return message(t, r)
}

// spy keeps the arguments and the environment of all started programs, and the mode of the file of client options.
type spy struct {
	process.Programs
	command   string // arguments and environment of all started programs, as one text
	arguments string
	mode      fs.FileMode
}

func (s *spy) Start(name string, args, env []string, dir string, output io.Writer) (process.Running, error) {
	s.arguments += strings.Join(args, "\n")
	s.command += strings.Join(args, "\n") + strings.Join(env, "\n")
	for _, a := range args {
		if path, found := strings.CutPrefix(a, "--client-options="); found {
			if info, err := os.Stat(path); err == nil {
				s.mode = info.Mode()
			}
		}
	}
	return s.Programs.Start(name, args, env, dir, output)
}

// mustHide checks that nothing that a trial writes contains the password, in any encoding.
func (e *endpointTrial) mustHide(t *testing.T) {
	t.Helper()
	config, err := json.Marshal(e.config)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"its output and record": e.output.String(), "the driver's command": e.seen.command, "its configuration": string(config)}
	for _, dir := range e.dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
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
	hidden := []string{password, strings.ReplaceAll(password, `"`, `\"`), url.QueryEscape(password), "k3epM3",
		base64.StdEncoding.EncodeToString([]byte(user + ":" + password)), "PRIVATE KEY"}
	for where, text := range texts {
		for _, secret := range hidden {
			if strings.Contains(text, secret) && !e.ownLog(where) {
				t.Errorf("%s holds %q", where, secret)
			}
		}
	}
}

// ownLog reports whether the file is the driver's own log in the scratch folder. This log is deleted with the pod, and
// the agent is responsible only for the copy among the artifacts. If strict is set, ownLog returns false for every
// file.
func (e *endpointTrial) ownLog(path string) bool {
	return !e.strict && strings.HasPrefix(path, e.dirs[0]) && strings.HasSuffix(path, ".log")
}

func TestTrial_guardedEndpoint_leaksNoSecret(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	e := g.trial(t)
	r := e.run(t)
	if r.Error != nil || r.Ingest == nil || r.Ingest.Count != 4000 {
		t.Fatalf("%+v, %+v\n%s", r.Error, r.Ingest, e.output.String())
	}
	n := r.Nodes[0]
	if n.CPU != nil || n.Pressure != nil || n.Disk != nil || n.Network != nil || n.Throttled != nil || n.Probe != 0 || n.Environment.CPUModel != "" {
		t.Errorf("telemetry that nobody measured: %+v", n)
	}
	if n.HeapUsedMax == 0 || n.Environment.OpenSearch == "" {
		t.Errorf("what the API tells is missing: %+v", n)
	}
	if e.seen.mode.Perm() != 0o600 {
		t.Errorf("the client options' mode is %v", e.seen.mode)
	}
	if _, err := os.Stat(filepath.Join(e.dirs[0], "client-options.json")); !os.IsNotExist(err) {
		t.Errorf("the client options are still there: %v", err)
	}
	if !strings.Contains(e.output.String(), "artifacts in ") {
		t.Errorf("no artifacts:\n%s", e.output.String())
	}
	kept, err := os.ReadFile(filepath.Join(e.config.Artifacts, "osb.log"))
	if err != nil || !strings.Contains(string(kept), "*****") {
		t.Errorf("the tactless driver's log is kept as %.200q, %v", kept, err)
	}
	if templates, indices := g.behind.Left(); templates+indices > 0 {
		t.Errorf("%d templates and %d indices are left", templates, indices)
	}
	if unknown := g.behind.Unknown(); len(unknown) > 0 {
		t.Errorf("the agent asks what the fake does not know: %q", unknown)
	}
	e.mustHide(t)
}

func TestTrial_endpointRefuses_reportsCause(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	other := newAuthority(t)
	write := func(t *testing.T, data []byte) string {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, data, 0o440); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		change func(*testing.T, *record.Config)
		reason string
		words  []string
	}{
		"another authority": {func(t *testing.T, c *record.Config) { c.External.CAFile = write(t, other.pem()) },
			record.ReasonClusterNotReady, []string{"authority", "caSecret", g.URL}},
		"another host": {func(_ *testing.T, c *record.Config) { c.Endpoint = strings.Replace(g.URL, "127.0.0.1", "localhost", 1) },
			record.ReasonClusterNotReady, []string{"localhost", "certificate is not valid", "caSecret"}},
		"no client certificate": {func(_ *testing.T, c *record.Config) { c.External.ClientCertificateDir = "" },
			record.ReasonClusterNotReady, []string{"client certificate", "clientCertificateSecret"}},
		"another password": {func(t *testing.T, c *record.Config) {
			dir := c.External.CredentialsDir
			if err := os.Remove(filepath.Join(dir, "password")); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "password"), []byte("k3epM3-Wrong"), 0o440); err != nil {
				t.Fatal(err)
			}
		}, record.ReasonClusterNotReady, []string{"credentialsSecret", "status 401"}},
		"no credentials": {func(_ *testing.T, c *record.Config) { c.External.CredentialsDir = "" },
			record.ReasonClusterNotReady, []string{"credentialsSecret", "status 401"}},
		"no TLS": {func(_ *testing.T, c *record.Config) { c.Endpoint = strings.Replace(g.URL, "https", "http", 1) },
			record.ReasonClusterNotReady, []string{"speaks TLS", g.Listener.Addr().String()}},
		"a missing key": {func(t *testing.T, c *record.Config) {
			if err := os.Remove(filepath.Join(c.External.CredentialsDir, "username")); err != nil {
				t.Fatal(err)
			}
		}, record.ReasonClusterNotReady, []string{"spec.variants[].endpoint", "username"}},
		"too few nodes": {func(_ *testing.T, c *record.Config) { c.Nodes, c.DeadlineSeconds = 3, 5 },
			record.ReasonDeadline, []string{"has 1 nodes, not 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := g.trial(t)
			e.config.DeadlineSeconds = 120
			c.change(t, &e.config)
			began := time.Now()
			r := e.run(t)
			if r.Error == nil || r.Error.Reason != c.reason {
				t.Fatalf("%+v, want %s after %s", r.Error, c.reason, time.Since(began))
			}
			t.Log(r.Error.Message)
			for _, want := range c.words {
				if !strings.Contains(r.Error.Message, want) {
					t.Errorf("%q does not say %q", r.Error.Message, want)
				}
			}
			if e.config.External.CredentialsDir != "" {
				e.mustHide(t)
			}
		})
	}
}

// TestTrial_indexDeletionNotAllowed_keepsIndex checks that a trial does not delete an existing index unless the campaign allows it.
func TestTrial_indexDeletionNotAllowed_keepsIndex(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	first := g.trial(t)
	first.config.External.AllowIndexDeletion = false
	if r := first.run(t); r.Error != nil {
		t.Fatalf("where no index is there: %+v", r.Error)
	}
	if templates, indices := g.behind.Left(); templates != 0 || indices != 1 {
		t.Errorf("%d templates and %d indices are left", templates, indices)
	}
	second := g.trial(t)
	second.config.External.AllowIndexDeletion = false
	r := second.run(t)
	if r.Error == nil || r.Error.Reason != record.ReasonIndexNotMade || !strings.Contains(r.Error.Message, "allowIndexDeletion") {
		t.Errorf("%+v", r.Error)
	}
	if _, indices := g.behind.Left(); indices != 1 {
		t.Error("the index is gone")
	}
	third := g.trial(t)
	if r := third.run(t); r.Error != nil {
		t.Errorf("where it may go: %+v", r.Error)
	}
}
