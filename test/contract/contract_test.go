package contract

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestCluster_environmentVariable_isReadHereOnly checks that every test gets the real OpenSearch from Cluster, which makes sure
// that make test-real runs the test.
func TestCluster_environmentVariable_isReadHereOnly(t *testing.T) {
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (isHidden(d.Name()) || path == "../../bin" || path == "../../dist") {
			return filepath.SkipDir // built files, which may change meanwhile
		}
		if err != nil || filepath.Ext(path) != ".go" || path == "../../test/contract/contract.go" {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), clusterEnv) {
			t.Errorf("%s reads %s itself: use contract.Cluster", path, clusterEnv)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func isHidden(name string) bool { return strings.HasPrefix(name, ".") && name != ".." }

// namedTest is a test with another name. It skips nothing and notes whether it failed.
type namedTest struct {
	testing.TB
	name   string
	failed bool
}

func (n *namedTest) Name() string          { return n.name }
func (n *namedTest) Helper()               {}
func (n *namedTest) Fatalf(string, ...any) { n.failed = true }
func (n *namedTest) Skip(...any)           {}
func (n *namedTest) Cleanup(func())        {}

func TestCluster_nameThatMakeDoesNotRun_fails(t *testing.T) {
	for name, fails := range map[string]bool{"TestRealOSB_x": false, "TestFake_repliesAsRealOne/really": false, "TestFake_repliesAsOriginal": true, "TestFake/asRealOne": true} {
		n := &namedTest{name: name}
		if Cluster(n); n.failed != fails {
			t.Errorf("%s: failed %t", name, n.failed)
		}
	}
}

func TestCompare_findsDifferences(t *testing.T) {
	original := Reply{Request: "GET /", Status: 200, Body: []byte(`{"nodes":{"n-1":{"count":3,"name":"a","list":[{"a":1}]}}}`)}
	read := []string{"/nodes/*/count"}
	for name, c := range map[string]struct {
		status int
		body   string
		want   int
	}{
		"same shape":         {200, `{"nodes":{"other-2":{"count":0,"list":[]}}}`, 0},
		"status":             {404, `{}`, 1},
		"additional":         {200, `{"nodes":{"n-1":{"count":3}},"more":1}`, 1},
		"type":               {200, `{"nodes":{"n-1":{"count":"3"}}}`, 1},
		"lacks what is read": {200, `{"nodes":{}}`, 1},
		"no JSON":            {200, `ok`, 1},
	} {
		if got := Compare(original, Reply{Request: "GET /", Status: c.status, Body: []byte(c.body)}, read, nil); len(got) != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := Compare(original, Reply{Status: 200, Body: []byte(`{"nodes":{}}`)}, read, []string{"/nodes/*"}); len(got) != 0 {
		t.Errorf("an optional path: %q", got)
	}
}

func TestRead_findsPathsThatReaderUses(t *testing.T) {
	reader := func(text []byte) any {
		var out struct {
			A struct{ B int }
			C *struct{}
		}
		_ = json.Unmarshal(text, &out)
		return []any{out.A.B, out.C != nil}
	}
	got, err := Read([]byte(`{"a":{"b":1,"other":2},"c":{},"d":[1]}`), reader)
	if want := []string{"/a", "/a/b", "/c"}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}
