package opensearch

import (
	"bytes"
	"context"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/access"
)

// FuzzConnect connects to endpoints of any text. The credentials go only to the host of an accepted endpoint.
func FuzzConnect(f *testing.F) {
	f.Add("http://opensearch.example:9200", "nyc_taxis")
	f.Add("https://search.example:443/prefix/", "logs-*")
	f.Add("https://user:word@[::1]:9200?x=y#z", "a/../b")
	f.Add("//h", "%2e%zz")
	f.Add("http:opaque", " ")
	f.Fuzz(func(t *testing.T, endpoint, index string) {
		u, err := url.Parse(endpoint)
		asked := 0
		network := roundTripper(func(r *http.Request) (*http.Response, error) {
			asked++
			if r.URL.Host != u.Host || r.URL.Scheme != u.Scheme {
				t.Errorf("%s was asked in place of %s", r.URL, endpoint)
			}
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}")), Header: http.Header{}, Request: r}, nil
		})
		c, connectErr := Connect(network, endpoint, access.Access{User: "admin", Password: "word"})
		if connectErr != nil {
			return
		}
		if err != nil {
			t.Fatalf("the endpoint %q is accepted, but is no URL: %v", endpoint, err)
		}
		_ = c.Answers(t.Context())
		_, _ = c.IndexHealth(t.Context(), index)
		if asked > 2 {
			t.Errorf("%d requests of two calls", asked)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// FuzzAnswers gives one answer to every call of the client. The seeds are answers of real clusters.
func FuzzAnswers(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(http.StatusOK, data)
	}
	f.Add(http.StatusNotFound, []byte(`{"error":{"type":"index_not_found_exception","reason":"no such index [x]","caused_by":null},"status":404}`))
	f.Add(http.StatusBadGateway, []byte("<html>"))
	f.Add(http.StatusOK, []byte(`{"x":null,"y":{"settings":{"index":{"uuid":1}}},"nodes":{"a":null},"_shards":{"failures":[null]}}`))
	f.Fuzz(func(t *testing.T, status int, answer []byte) {
		c, err := New(roundTripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Body: io.NopCloser(bytes.NewReader(answer)), Header: http.Header{}, Request: r}, nil
		}), "http://h:9200")
		if err != nil {
			t.Fatal(err)
		}
		callAll(t.Context(), c)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// callAll makes each call of the client that reads an answer.
func callAll(ctx context.Context, c *Client) {
	for _, name := range []string{"x", "x*"} {
		if body, err := c.BodyOf(ctx, name); err == nil {
			_, _ = IndexBody(body, Topology{})
			_, _ = StreamTemplate(body, name, Topology{})
		}
		_, _ = c.ReadIndex(ctx, name)
		_, _ = c.IndexExists(ctx, name)
		_, _ = c.IndexState(ctx, name)
		_, _ = c.IndexHealth(ctx, name)
		_, _ = c.IndexWork(ctx, name)
		_, _ = c.Count(ctx, name)
		_, _ = c.Allocations(ctx, name)
		_, _ = c.IsDataStream(ctx, name)
		_ = c.Refresh(ctx, name)
		_ = c.DeleteIndex(ctx, name)
		_ = c.CreateIndex(ctx, name, map[string]any{})
		_ = c.CreateDataStream(ctx, name)
		_ = c.PutPolicy(ctx, name, map[string]any{})
	}
	_, _, _ = c.Nodes(ctx)
	_, _ = c.NodeInfos(ctx)
	_, _ = c.Vitals(ctx)
	_, _ = c.Health(ctx)
	_, _ = c.WhyUnassigned(ctx)
	_, err := c.BenchmarkStream(ctx, "/_benchmark/stream", nil)
	_, _, _, _, _ = NotFound(err), LacksPlugin(err), RefusalOf(err), ErrorType(err), NoHandler(err)
	_ = ServerFailed(err)
}

// FuzzSeconds reads intervals of any text.
func FuzzSeconds(f *testing.F) {
	for _, text := range []string{"30s", "-1", "1ms", "1.5h", "1e400s", "NaN", "infs", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, ok := Seconds(text); ok && (math.IsNaN(s) || math.IsInf(s, 0)) {
			t.Errorf("%q is %v s", text, s)
		}
	})
}
