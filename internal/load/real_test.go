package load

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/knee-bench/knee/test/contract"
)

// bulkReplyOf sends a bulk request with the loader's filter and returns the reply.
func bulkReplyOf(t *testing.T, cluster, index, body string) contract.Reply {
	t.Helper()
	address := cluster + "/" + index + "/_bulk?" + url.Values{"filter_path": {filterPath}}.Encode()
	return send(t.Context(), t, http.MethodPost, address, "application/x-ndjson", body)
}

func send(ctx context.Context, t *testing.T, method, address, kind, body string) contract.Reply {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return contract.Reply{Request: method + " " + address, Status: resp.StatusCode, Body: data}
}

// TestFake_repliesAsRealOpenSearch sends the same bulk requests to a real OpenSearch and to the fake of this package, and compares
// the replies and what the loader reads in them.
func TestFake_repliesAsRealOpenSearch(t *testing.T) {
	cluster := contract.Cluster(t)
	const index = "knee-load-contract"
	ask := func(method, path, body string, status int) {
		t.Helper()
		if r := send(t.Context(), t, method, cluster+path, "application/json", body); r.Status != status {
			t.Fatalf("%s %s: status %d: %s", method, path, r.Status, r.Body)
		}
	}
	ask(http.MethodDelete, "/"+index+"?ignore_unavailable=true", "", http.StatusOK)
	ask(http.MethodPut, "/"+index, `{"settings":{"number_of_replicas":0},"mappings":{"dynamic":"strict","properties":{"a":{"type":"long"}}}}`, http.StatusOK)
	t.Cleanup(func() {
		send(context.Background(), t, http.MethodDelete, cluster+"/"+index, "application/json", "")
	})
	for name, c := range map[string]struct {
		documents []string
		action    string
		statuses  []int
	}{
		"created":                   {[]string{`{"a":1}`, `{"a":2}`}, "index", []int{201, 201}},
		"created in a data stream":  {[]string{`{"a":1}`}, "create", []int{201}},
		"a document is refused":     {[]string{`{"a":1}`, `{"b":2}`}, "index", []int{201, 400}},
		"every document is refused": {[]string{`{"b":1}`, `{"a":"x"}`}, "create", []int{400, 400}},
	} {
		t.Run(name, func(t *testing.T) {
			var body strings.Builder
			for _, d := range c.documents {
				body.WriteString(`{"` + c.action + `":{}}` + "\n" + d + "\n")
			}
			f := newFake(t, func(int, http.ResponseWriter, *http.Request, []string) []int { return slices.Clone(c.statuses) })
			original, fake := bulkReplyOf(t, cluster, index, body.String()), bulkReplyOf(t, f.URL, index, body.String())
			paths, err := contract.Read(original.Body, func(text []byte) any { return readReply(t, text, len(c.documents)) })
			if err != nil {
				t.Fatal(err)
			}
			for _, difference := range contract.Compare(original, fake, paths, nil) {
				t.Error(difference)
			}
			want, got := readReply(t, original.Body, len(c.documents)), readReply(t, fake.Body, len(c.documents))
			want.refused, got.refused = nil, nil // types and reasons of errors differ
			if !want.equal(got) {
				t.Errorf("the original: %+v\nthe fake: %+v", want, got)
			}
		})
	}
}

// readReply reads a reply as the loader does.
func readReply(t *testing.T, text []byte, documents int) reply {
	t.Helper()
	var r replyReader
	out, err := r.read(strings.NewReader(string(text)), documents)
	if err != nil {
		return reply{silent: -1}
	}
	return *out
}

func (r reply) equal(o reply) bool {
	return r.acknowledged == o.acknowledged && r.rejected == o.rejected && r.unavailable == o.unavailable && r.failed == o.failed &&
		r.silent == o.silent && slices.Equal(r.retry, o.retry)
}
