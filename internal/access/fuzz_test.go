package access

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// marker makes a secret so long that it occurs in no other text.
const marker = "s3cr3t-of-the-fuzzer"

// FuzzRead reads Secrets of any content. No error contains the content, and everything that an accepted Secret adds to a request
// is masked.
func FuzzRead(f *testing.F) {
	f.Add("admin\n", "pa ss:w\"ord\r\n", "", false)
	f.Add("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY\n", "IQoJb3JpZ2luX2VjE//=", true)
	f.Add("a:b", `<&>\"'%`, "\n", true)
	f.Add("", "\x00", "é", false)
	f.Fuzz(func(t *testing.T, name, password, token string, signed bool) {
		password, token = marker+password, token+marker
		files := map[string]string{record.UsernameKey: name, record.PasswordKey: password}
		external := record.External{}
		if signed {
			files = map[string]string{record.AccessKeyIDKey: name, record.SecretAccessKeyKey: password, record.SessionTokenKey: token}
			external.SigV4 = &record.SigV4{Region: "eu-west-1", Service: "es"}
		}
		external.CredentialsDir = folder(t, files)
		a, err := Read(external)
		if err != nil {
			if strings.Contains(err.Error(), marker) {
				t.Errorf("the error contains the Secret: %v", err)
			}
			return
		}
		hidden := Secrets(a.Secret())
		for _, word := range a.words() {
			checkMasked(t, hidden, word)
		}
		var sent http.Header
		network := a.Signing(roundTripper(func(r *http.Request) (*http.Response, error) {
			sent = r.Header
			return nil, errors.New("no network")
		}))
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://search.example/_bulk", nil)
		if err != nil {
			t.Fatal(err)
		}
		if !signed {
			r.SetBasicAuth(a.User, a.Password)
		}
		if answer, err := network.RoundTrip(r); err == nil {
			_ = answer.Body.Close()
		}
		credentials := strings.TrimPrefix(sent.Get("Authorization"), "Basic ")
		text := hidden.Hide(credentials + " " + sent.Get("X-Amz-Security-Token"))
		if credentials == "" || strings.Contains(text, marker) || !signed && strings.Contains(text, credentials) {
			t.Errorf("the headers %v are not masked or have no credentials: %q", sent, text)
		}
	})
}

// checkMasked checks that a secret is masked in the spellings of URLs and JSON, also if a writer gets it byte by byte.
func checkMasked(t *testing.T, hidden Secrets, word string) {
	quoted, err := json.Marshal(map[string]string{"password": word})
	if err != nil {
		t.Fatal(err)
	}
	text := word + " " + string(quoted) + " https://u:" + url.QueryEscape(word) + "@h/" + url.PathEscape(word) + "\n"
	if strings.Contains(hidden.Hide(text), marker) {
		t.Errorf("%q is not masked: %q", text, hidden.Hide(text))
	}
	var out bytes.Buffer
	w := hidden.Writer(&out)
	for i := range len(text) {
		if _, err := w.Write([]byte{text[i]}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil || strings.Contains(out.String(), marker) {
		t.Errorf("%q is not masked by a writer: %q, %v", text, out.String(), err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// FuzzReadCertificates reads certificates of any content. No error contains a key, and an accepted file gives a TLS configuration.
func FuzzReadCertificates(f *testing.F) {
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"), []byte("-----BEGIN PRIVATE KEY-----\n"+marker+"\n-----END PRIVATE KEY-----\n"))
	certificate, key := newCertificate(f)
	f.Add(certificate, key)
	f.Add(append(certificate, key...), key)
	f.Add([]byte{}, []byte(marker))
	f.Fuzz(func(t *testing.T, certificate, key []byte) {
		dir := folder(t, map[string]string{record.CertificateKey: string(certificate), record.PrivateKeyKey: string(key)})
		for what, external := range map[string]record.External{
			"the authority": {CAFile: filepath.Join(dir, record.CertificateKey)}, "the client certificate": {ClientCertificateDir: dir},
		} {
			a, err := Read(external)
			if err != nil {
				if strings.Contains(err.Error(), marker) {
					t.Errorf("%s: the error contains the key: %v", what, err)
				}
				continue
			}
			if tls := a.TLS(); tls.RootCAs == nil && tls.GetClientCertificate == nil {
				t.Errorf("%s is accepted, but not used", what)
			}
		}
	})
}

// newCertificate returns a certificate and its key in PEM.
func newCertificate(t testing.TB) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<32, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}
