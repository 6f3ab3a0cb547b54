// Package opensearch is a client for the REST API of the measured OpenSearch cluster. Every call has a deadline.
package opensearch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/opensearch-project/opensearch-go/v4/opensearchtransport"

	"github.com/knee-bench/knee/internal/access"
)

// Client sends requests to one OpenSearch cluster.
type Client struct {
	transport opensearchtransport.Interface
}

// callTimeout limits the duration of one call. All calls here have small and quick answers, except a refresh.
const callTimeout = 15 * time.Second

// New returns a client for a cluster without TLS and authentication; see Connect.
func New(network http.RoundTripper, endpoint string) (*Client, error) {
	return Connect(network, endpoint, access.Access{})
}

// Connect returns a client for the cluster at an endpoint, such as http://host:9200. If network is nil, it uses a transport
// of its own with the TLS settings of the access. The client does not retry, because a retry would hide errors that a trial
// must record. It does not follow redirects, because a redirect would send the credentials to another host.
func Connect(network http.RoundTripper, endpoint string, with access.Access) (*Client, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("the endpoint %q is not a URL such as http://host:9200", endpoint)
	}
	if network == nil {
		network = with.Network()
	}
	transport, err := opensearchtransport.New(opensearchtransport.Config{
		URLs:              []*url.URL{u},
		DisableRetry:      true,
		NodeStatsInterval: -1, // disabled: otherwise the library reads statistics of the measured cluster every 5 s
		Transport:         with.Signing(network),
		Username:          with.User,
		Password:          with.Password,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot create an HTTP client for %s: %w", endpoint, err)
	}
	return &Client{transport: transport}, nil
}

// Close ends the background work of the client.
func (c *Client) Close() error {
	if closer, ok := c.transport.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}

// StatusError is an answer of the API with an error status.
type StatusError struct {
	Method, Path string
	Status       int
	Type         string // error type, such as illegal_argument_exception; empty if the answer has none
	Reason       string // error reason from the answer
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s %s: status %d: %s", e.Method, e.Path, e.Status, e.Reason)
}

// NotFound reports whether an error is an answer of the API with status 404.
func NotFound(err error) bool {
	var s *StatusError
	return errors.As(err, &s) && s.Status == http.StatusNotFound
}

// call makes one request. It fails after callTimeout.
func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return c.within(ctx, method, path, in, out)
}

// within makes one request. It fails at the deadline of the context. The parameter in becomes the JSON body of the request,
// and the JSON answer is decoded into out. Both may be nil.
func (c *Client) within(ctx context.Context, method, path string, in, out any) error {
	name, _, _ := strings.Cut(path, "?")
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, path, body)
	if err != nil {
		return err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.transport.Perform(req)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, name, err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, name, err)
	}
	if resp.StatusCode >= 300 {
		return &StatusError{Method: method, Path: name, Status: resp.StatusCode, Type: errorType(data), Reason: reason(data)}
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("cannot decode the JSON answer of %s %s: %w", method, name, err)
	}
	return nil
}

// Answers checks whether the node at the endpoint answers. The request needs neither other nodes nor the cluster state. A
// status below 500 counts as an answer, even an error such as 401.
func (c *Client) Answers(ctx context.Context) error {
	err := c.call(ctx, http.MethodGet, "/", nil, nil)
	var s *StatusError
	if errors.As(err, &s) && s.Status < http.StatusInternalServerError {
		return nil
	}
	return err
}

// reason returns the text of the error in an answer of the API.
func reason(body []byte) string {
	var e struct {
		Error json.RawMessage `json:"error"`
	}
	var detail struct {
		Type   string `json:"type"`
		Reason string `json:"reason"`
		Cause  *struct {
			Reason string `json:"reason"`
		} `json:"caused_by"`
	}
	if json.Unmarshal(body, &e) == nil && json.Unmarshal(e.Error, &detail) == nil && detail.Reason != "" {
		text := detail.Type + ": " + detail.Reason
		if detail.Cause != nil && detail.Cause.Reason != "" {
			text += ": " + detail.Cause.Reason
		}
		return text
	}
	var words string
	if json.Unmarshal(e.Error, &words) == nil {
		return words
	}
	return string(body[:min(len(body), 300)])
}

// errorType returns the type of the error in an answer, or "" if the answer has none.
func errorType(body []byte) string {
	var answer struct {
		Error struct {
			Type string `json:"type"`
		} `json:"error"`
	}
	_ = json.Unmarshal(body, &answer) // fails if the error is a plain text, which has no type
	return answer.Error.Type
}
