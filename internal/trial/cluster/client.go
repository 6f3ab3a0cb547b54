// Package cluster asks and tells OpenSearch what a trial needs, over its REST API. Every call has a deadline.
package cluster

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

// Client talks to one OpenSearch cluster.
type Client struct {
	transport opensearchtransport.Interface
}

// callTimeout bounds one call: the API's answers here are small and quick, but for a refresh.
const callTimeout = 15 * time.Second

// New gives a client of an open cluster; see Connect.
func New(network http.RoundTripper, endpoint string) (*Client, error) {
	return Connect(network, endpoint, access.Access{})
}

// Connect gives a client of the cluster at an endpoint, http://host:9200, over a network: nil stands for the machine's
// own, with the access's TLS. It retries nothing: a repeated call would hide what a trial has to see. It follows no
// redirection, which would carry the credentials elsewhere.
func Connect(network http.RoundTripper, endpoint string, with access.Access) (*Client, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("the endpoint %q is not a URL", endpoint)
	}
	if network == nil {
		network = with.Network()
	}
	transport, err := opensearchtransport.New(opensearchtransport.Config{
		URLs:              []*url.URL{u},
		DisableRetry:      true,
		NodeStatsInterval: -1, // else it asks for statistics of its own every 5 s, of the cluster under test
		Transport:         with.Signing(network),
		Username:          with.User,
		Password:          with.Password,
	})
	if err != nil {
		return nil, fmt.Errorf("a client for %s: %w", endpoint, err)
	}
	return &Client{transport: transport}, nil
}

// Close ends what the client runs beside its calls.
func (c *Client) Close() error {
	if closer, ok := c.transport.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}

// StatusError is an answer of the API that is not a success.
type StatusError struct {
	Method, Path string
	Status       int
	Type         string // the API's name for the error, such as illegal_argument_exception; empty if it gave none
	Reason       string // the API's own words
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s %s: status %d: %s", e.Method, e.Path, e.Status, e.Reason)
}

// NotFound says whether an error is the API's status 404.
func NotFound(err error) bool {
	var s *StatusError
	return errors.As(err, &s) && s.Status == http.StatusNotFound
}

// call makes one request within callTimeout.
func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return c.within(ctx, method, path, in, out)
}

// within makes one request within the context's deadline; in and out are JSON, either may be nil.
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
		return fmt.Errorf("%s %s: the answer is not what it should be: %w", method, name, err)
	}
	return nil
}

// Answers asks the node that the endpoint leads to for nothing that another node, or the cluster's state, has a part in. Its
// error says that it does not answer: what it refuses, it answers.
func (c *Client) Answers(ctx context.Context) error {
	err := c.call(ctx, http.MethodGet, "/", nil, nil)
	var s *StatusError
	if errors.As(err, &s) && s.Status < http.StatusInternalServerError {
		return nil
	}
	return err
}

// reason is the API's own words in an error's body.
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

// errorType returns the type of the error in an answer, or "".
func errorType(body []byte) string {
	var answer struct {
		Error struct {
			Type string `json:"type"`
		} `json:"error"`
	}
	_ = json.Unmarshal(body, &answer) // an answer whose error is a text has no type
	return answer.Error.Type
}
