package opensearch

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func settings(name string, primaries int) string {
	return fmt.Sprintf(`%q:{"settings":{"index.uuid":"u-%s","index.number_of_shards":"%d","index.number_of_replicas":"0","index.refresh_interval":"5s"},"mappings":{}}`, name, name, primaries)
}

func TestReadIndex_pattern(t *testing.T) {
	path := "GET /logs-%2A"
	read := func(answer string) (Made, error) {
		return fakeCluster(t, map[string]string{path: answer, "GET /logs-*": answer}).ReadIndex(t.Context(), "logs-*")
	}
	made, err := read("{" + settings("logs-1", 5) + "," + settings("logs-2", 5) + "}")
	if err != nil || made.Primaries != 5 || made.RefreshInterval != "5s" || made.Digest == "" {
		t.Errorf("%+v, %v", made, err)
	}
	if more, err := read("{" + settings("logs-1", 5) + "," + settings("logs-2", 5) + "," + settings("logs-3", 5) + "}"); err != nil || more.Digest == made.Digest {
		t.Errorf("another set of indices has the same digest (%v)", err)
	}
	if _, err := read("{" + settings("logs-1", 5) + "," + settings("logs-2", 1) + "}"); err == nil || !strings.Contains(err.Error(), "logs-2 has 1 primaries") {
		t.Errorf("indices that differ: %v", err)
	}
	if _, err := read("{}"); err == nil {
		t.Error("no index was taken for one")
	}
}

// TestDeleteIndex_pattern_deletesEachByName checks that DeleteIndex deletes the indices of a pattern one by one. A
// cluster with action.destructive_requires_name refuses patterns, and so does this fake.
func TestDeleteIndex_pattern_deletesEachByName(t *testing.T) {
	there := []string{"logs-1", "logs-2"}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		switch {
		case r.Method == http.MethodGet && name == "logs-*/_settings/index.uuid":
			var parts []string
			for _, index := range there {
				parts = append(parts, settings(index, 1))
			}
			fmt.Fprintf(w, "{%s}", strings.Join(parts, ","))
		case r.Method == http.MethodDelete && !strings.Contains(name, "*"):
			there = slices.DeleteFunc(there, func(index string) bool { return index == name })
		default:
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	defer server.Close()
	c, err := New(nil, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	defer func() { _ = c.Close() }()
	if exists, err := c.IndexExists(t.Context(), "logs-*"); err != nil || !exists {
		t.Errorf("exists: %t, %v", exists, err)
	}
	if err := c.DeleteIndex(t.Context(), "logs-*"); err != nil || len(there) > 0 {
		t.Errorf("%v, left: %v", err, there)
	}
	if exists, err := c.IndexExists(t.Context(), "logs-*"); err != nil || exists {
		t.Errorf("exists: %t, %v", exists, err)
	}
}

func TestTemplateName_pattern(t *testing.T) {
	if got := templateName("logs-*"); got != "knee-logs-" {
		t.Error(got)
	}
}

// TestPattern_realCluster runs the pattern operations against a real OpenSearch.
func TestPattern_realCluster(t *testing.T) {
	c, _ := realCluster(t)
	const pattern = "knee-pattern-*"
	topology := Topology{Primaries: 2, RefreshInterval: "5s"}
	if err := c.DeleteIndex(t.Context(), pattern); err != nil {
		t.Fatal(err)
	}
	if err := c.PutTemplate(t.Context(), pattern, topology); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = c.DeleteIndex(t.Context(), pattern)
		_ = c.DeleteTemplate(t.Context(), pattern)
	}()
	if exists, err := c.IndexExists(t.Context(), pattern); err != nil || exists {
		t.Fatalf("exists: %t, %v", exists, err)
	}
	for _, name := range []string{"knee-pattern-1", "knee-pattern-2"} {
		if err := c.CreateIndex(t.Context(), name, map[string]any{}); err != nil {
			t.Fatal(err)
		}
	}
	made, err := c.ReadIndex(t.Context(), pattern)
	if err != nil || made.Primaries != 2 || made.RefreshInterval != "5s" {
		t.Errorf("%+v, %v", made, err)
	}
	if err := c.Refresh(t.Context(), pattern); err != nil {
		t.Error(err)
	}
	if n, err := c.Count(t.Context(), pattern); err != nil || n != 0 {
		t.Errorf("%d documents, %v", n, err)
	}
	if _, err := c.IndexState(t.Context(), pattern); err != nil {
		t.Error(err)
	}
	shards, err := c.Allocations(t.Context(), pattern)
	if err != nil || len(shards.Primaries) != 4 {
		t.Errorf("%+v, %v", shards, err)
	}
	if err := c.DeleteIndex(t.Context(), pattern); err != nil {
		t.Error(err)
	}
	if exists, err := c.IndexExists(t.Context(), pattern); err != nil || exists {
		t.Errorf("exists after it was deleted: %t, %v", exists, err)
	}
}
