package access

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/knee-bench/knee/internal/record"
)

// SigV4 signs requests by Signature Version 4 of AWS.
type SigV4 struct {
	Region, Service string
	AccessKeyID     string

	secretAccessKey, sessionToken string     // sessionToken: empty for keys that do not expire
	signer                        *v4.Signer // caches the signing key of the day; compares only AccessKeyID, not the secret key
}

func readSigV4(s record.SigV4, dir string) (*SigV4, error) {
	out := &SigV4{Region: s.Region, Service: s.Service, signer: v4.NewSigner()}
	var err error
	if out.AccessKeyID, err = readWord(filepath.Join(dir, record.AccessKeyIDKey)); err != nil {
		return nil, err
	}
	if out.secretAccessKey, err = readWord(filepath.Join(dir, record.SecretAccessKeyKey)); err != nil {
		return nil, err
	}
	if out.sessionToken, err = readWord(filepath.Join(dir, record.SessionTokenKey)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return out, nil
}

// OSBEnv returns environment variables with which opensearch-benchmark signs its requests, if its client options contain
// "amazon_aws_log_in": "environment" (osbenchmark/cloud_provider/vendors/aws.py). The keys must not be in the client options,
// because opensearch-benchmark writes its client options into its log.
func (s *SigV4) OSBEnv() []string {
	env := []string{"OSB_AWS_ACCESS_KEY_ID=" + s.AccessKeyID, "OSB_AWS_SECRET_ACCESS_KEY=" + s.secretAccessKey,
		"OSB_REGION=" + s.Region, "OSB_SERVICE=" + s.Service}
	if s.sessionToken != "" {
		env = append(env, "OSB_AWS_SESSION_TOKEN="+s.sessionToken)
	}
	return env
}

// Signing returns a transport that signs requests if the access has SigV4. Otherwise it returns network. The body is read
// twice, so a request with a body needs GetBody. http.NewRequest sets GetBody for a body in memory.
func (a Access) Signing(network http.RoundTripper) http.RoundTripper {
	if a.SigV4 == nil {
		return network
	}
	return &signing{network: network, keys: a.SigV4}
}

type signing struct {
	network http.RoundTripper
	keys    *SigV4
}

// RoundTrip implements http.RoundTripper.
func (s *signing) RoundTrip(r *http.Request) (*http.Response, error) {
	digest, err := bodyDigest(r)
	if err != nil {
		return nil, err
	}
	signed := r.Clone(r.Context())
	if err := s.keys.Sign(signed, digest, time.Now()); err != nil {
		return nil, err
	}
	return s.network.RoundTrip(signed)
}

// Sign adds the headers of a signature to a request. digest is the SHA-256 of the body in hexadecimal digits. Sign does not
// read the body, so a client that writes to its own connection can use only the headers. The signature covers the method, the
// URL, Host, ContentLength and the existing headers. A default port is not part of the signed Host, so the client must not send
// it.
func (s *SigV4) Sign(r *http.Request, digest string, at time.Time) error {
	r.Header.Set("X-Amz-Content-Sha256", digest) // the service aoss requires this header
	own := *r.URL                                // a copy, because the signer changes the query and the caller may share the URL
	r.URL = &own
	keys := aws.Credentials{AccessKeyID: s.AccessKeyID, SecretAccessKey: s.secretAccessKey, SessionToken: s.sessionToken}
	if err := s.signer.SignHTTP(r.Context(), keys, r, digest, s.Service, s.Region, at); err != nil {
		return fmt.Errorf("cannot sign the request %s %s: %w", r.Method, r.URL.Path, err)
	}
	return nil
}

// bodyDigest returns the SHA-256 of a request's body.
func bodyDigest(r *http.Request) (string, error) {
	sum := sha256.New()
	if r.Body != nil && r.Body != http.NoBody {
		if r.GetBody == nil {
			return "", fmt.Errorf("cannot sign the request %s %s, because the request body cannot be read twice", r.Method, r.URL.Path)
		}
		body, err := r.GetBody()
		if err != nil {
			return "", err
		}
		defer func() { _ = body.Close() }()
		if _, err := io.Copy(sum, body); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
