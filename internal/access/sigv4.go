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
	signer                        *v4.Signer // keeps the day's key that it derives from a secret, by AccessKeyID alone
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

// OSBEnv is how opensearch-benchmark is told to sign likewise, when its client options say
// "amazon_aws_log_in": "environment" (osbenchmark/cloud_provider/vendors/aws.py). Its client options themselves it writes
// into its log as they are.
func (s *SigV4) OSBEnv() []string {
	env := []string{"OSB_AWS_ACCESS_KEY_ID=" + s.AccessKeyID, "OSB_AWS_SECRET_ACCESS_KEY=" + s.secretAccessKey,
		"OSB_REGION=" + s.Region, "OSB_SERVICE=" + s.Service}
	if s.sessionToken != "" {
		env = append(env, "OSB_AWS_SESSION_TOKEN="+s.sessionToken)
	}
	return env
}

// Signing gives a network over which requests go signed, where the access wants that; else the network itself. A request
// with a body needs its GetBody, which http.NewRequest sets for what is in memory: it is read twice.
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

// RoundTrip is part of http.RoundTripper.
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

// Sign adds to a request the headers that prove who sends it: the digest is its body's SHA-256 in hexadecimal digits, and the
// body itself is not read, so that a client which writes to its connection by itself may leave it out and take the headers.
// The method, the URL, Host, ContentLength and the headers that are there already are signed. Of a default port the Host is
// signed, and must be sent, without it.
func (s *SigV4) Sign(r *http.Request, digest string, at time.Time) error {
	r.Header.Set("X-Amz-Content-Sha256", digest) // the service aoss asks for it
	own := *r.URL                                // the signer spells its query anew, and the caller may share it
	r.URL = &own
	keys := aws.Credentials{AccessKeyID: s.AccessKeyID, SecretAccessKey: s.secretAccessKey, SessionToken: s.sessionToken}
	if err := s.signer.SignHTTP(r.Context(), keys, r, digest, s.Service, s.Region, at); err != nil {
		return fmt.Errorf("sign %s %s: %w", r.Method, r.URL.Path, err)
	}
	return nil
}

// bodyDigest is the SHA-256 of what a request sends.
func bodyDigest(r *http.Request) (string, error) {
	sum := sha256.New()
	if r.Body != nil && r.Body != http.NoBody {
		if r.GetBody == nil {
			return "", fmt.Errorf("the body of %s %s cannot be read twice, and so not be signed", r.Method, r.URL.Path)
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
