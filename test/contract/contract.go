// Package contract compares a fake with the program that it replaces in tests. Both get the same requests. The replies of the
// fake must have the same status, and no JSON field that the original lacks or whose type differs. They must have every field
// that Knee reads in the replies of the original.
package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// clusterEnv is the environment variable with the URL of a real OpenSearch of one node without security. `make test-real`
// sets it.
const clusterEnv = "KNEE_TEST_OPENSEARCH"

// realName matches the names of the tests that `make test-real` runs in the packages that call Cluster.
var realName = regexp.MustCompile(`^[^/]*[rR]eal[A-Z_]`)

// Cluster returns the URL of a real OpenSearch. It skips the test if there is none, and fails if `make test-real` would not run
// the test.
func Cluster(t testing.TB) string {
	t.Helper()
	if !realName.MatchString(t.Name()) {
		t.Fatalf("the name of a test that needs a real OpenSearch must match %s, or make test-real does not run it", realName)
	}
	url := os.Getenv(clusterEnv)
	if url == "" {
		t.Skip(clusterEnv + " is not set: run make test-real")
	}
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return url
}

// Reply is the reply to one request.
type Reply struct {
	Request string // method, path and query
	Status  int
	Body    []byte
}

// Recorder is an http.RoundTripper that keeps all replies.
type Recorder struct {
	Network http.RoundTripper
	Replies []Reply
}

// RoundTrip implements http.RoundTripper.
func (n *Recorder) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := n.Network.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	n.Replies = append(n.Replies, Reply{Request: r.Method + " " + r.URL.RequestURI(), Status: resp.StatusCode, Body: body})
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// Replay is an http.RoundTripper that answers with kept replies, in their order.
type Replay struct{ Replies []Reply }

// RoundTrip implements http.RoundTripper.
func (n *Replay) RoundTrip(*http.Request) (*http.Response, error) {
	if len(n.Replies) == 0 {
		return nil, errors.New("there are no more replies")
	}
	next := n.Replies[0]
	n.Replies = n.Replies[1:]
	return &http.Response{StatusCode: next.Status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(next.Body))}, nil
}

// fieldName matches the names of fields and settings, and percentiles, such as 99_9. All other keys of an object are identifiers,
// such as node IDs and numbers of shards. A path has "*" for an identifier.
var fieldName = regexp.MustCompile(`^([a-z_.-]+|\d+_\d+)$`)

// Shape returns the JSON type of each value in a JSON text, by its path. The values of an array have the same path.
func Shape(text []byte) (map[string]string, error) {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, fmt.Errorf("not JSON: %w: %.200s", err, text)
	}
	out := map[string]string{}
	shape(out, "", value)
	return out, nil
}

func shape(out map[string]string, path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		out[path] = "object"
		for key, inner := range v {
			shape(out, join(path, key), inner)
		}
	case []any:
		out[path] = "array"
		for _, inner := range v {
			shape(out, path+"[]", inner)
		}
	case nil:
		out[path] = "null"
	default:
		out[path] = reflect.TypeOf(v).String()
	}
}

func join(path, key string) string {
	if !fieldName.MatchString(key) {
		key = "*"
	}
	return path + "/" + key
}

// Compare returns the differences between a reply of the original and of the fake. read lists the paths that Knee reads in the
// reply of the original. optional lists beginnings of paths that the fake may lack.
func Compare(original, fake Reply, read, optional []string) []string {
	if original.Status != fake.Status {
		return []string{fmt.Sprintf("%s: the original has status %d, the fake %d: %.300s", original.Request, original.Status, fake.Status, fake.Body)}
	}
	if strings.HasPrefix(original.Request, http.MethodHead+" ") {
		return nil // a reply without a body
	}
	want, err := Shape(original.Body)
	if err != nil {
		return []string{original.Request + ": the original: " + err.Error()}
	}
	got, err := Shape(fake.Body)
	if err != nil {
		return []string{original.Request + ": the fake: " + err.Error()}
	}
	request, _, _ := strings.Cut(original.Request, "?")
	var out []string
	for _, path := range slices.Sorted(maps.Keys(got)) {
		if kind, known := want[path]; !known {
			out = append(out, fmt.Sprintf("%s: only the fake has %s", request, path))
		} else if kind != got[path] {
			out = append(out, fmt.Sprintf("%s: %s is %s, but %s in the fake", request, path, kind, got[path]))
		}
	}
	for _, path := range read {
		has := func(prefix string) bool { return strings.HasPrefix(path, prefix) }
		if _, known := got[path]; !known && !slices.ContainsFunc(optional, has) {
			out = append(out, fmt.Sprintf("%s: the fake lacks %s, which Knee reads", request, path))
		}
	}
	return out
}

// Read returns the paths that a reader reads in a JSON text: those whose value changes what the reader returns. It changes
// and deletes one value after the other, and calls the reader each time.
func Read(text []byte, reader func([]byte) any) ([]string, error) {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	usual := reader(text)
	found := map[string]bool{}
	try := func(path string) {
		changed, err := json.Marshal(value)
		if err == nil && !reflect.DeepEqual(reader(changed), usual) {
			found[path] = true
		}
	}
	vary(value, "", try)
	return slices.Sorted(maps.Keys(found)), nil
}

// vary changes each value of an object in turn, calls try, and restores the value.
func vary(value any, path string, try func(path string)) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Collect(maps.Keys(v)) {
			at, inner := join(path, key), v[key]
			delete(v, key)
			try(at)
			if other := another(inner); other != nil {
				v[key] = other
				try(at)
			}
			v[key] = inner
			vary(inner, at, try)
		}
	case []any:
		for i, inner := range v {
			if other := another(inner); other != nil {
				v[i] = other
				try(path + "[]")
				v[i] = inner
			}
			vary(inner, path+"[]", try)
		}
	}
}

// another returns another value of the same type, or nil for objects, arrays and null.
func another(value any) any {
	switch v := value.(type) {
	case float64:
		return v + 17
	case string:
		return v + "x"
	case bool:
		return !v
	}
	return nil
}
