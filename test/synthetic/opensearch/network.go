package opensearch

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
)

// Network is HTTP without a machine's network: it hands a client's request to a handler and the handler's answer to
// the client, in the caller's goroutine. A test may stop the clock in it (testing/synctest), as it cannot in a socket,
// and a sweep, which is tens of thousands of requests, takes half the time that pipes and a server take. Whatever the
// host, one handler answers.
type Network struct {
	handler http.Handler
	underWay,
	ended atomic.Int64
}

// NewNetwork serves the handler until End.
func NewNetwork(h http.Handler) *Network { return &Network{handler: h} }

// RoundTrip makes Network an http.RoundTripper. A handler that waits does so no longer than the request's context.
func (n *Network) RoundTrip(r *http.Request) (*http.Response, error) {
	n.underWay.Add(1)
	defer n.underWay.Add(-1)
	if n.ended.Load() > 0 {
		return nil, errors.New("the synthetic network has ended")
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	served := r.Clone(r.Context())
	served.RequestURI = r.URL.RequestURI()
	if served.Host == "" {
		served.Host = r.URL.Host
	}
	if served.Body == nil {
		served.Body = http.NoBody
	}
	defer func() { _ = served.Body.Close() }()
	answer := httptest.NewRecorder()
	n.handler.ServeHTTP(answer, served)
	if err := r.Context().Err(); err != nil {
		return nil, err // who gave up gets no answer
	}
	out := answer.Result()
	out.Request = r
	return out, nil
}

// End ends the network. A request that is still under way then is an error: who sent it does not wait for its work.
func (n *Network) End() error {
	n.ended.Add(1)
	if left := n.underWay.Load(); left > 0 {
		return errors.New("requests are still under way at the network's end")
	}
	return nil
}
