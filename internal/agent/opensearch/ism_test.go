package opensearch

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
)

func TestPolicy(t *testing.T) {
	inner := `{"policy_id": "rollover", "description": "d", "default_state": "hot", "states": [{"name": "hot"}], "ism_template": {"index_patterns": ["logs-*"]}, "last_updated_time": 5, "schema_version": 21}`
	want := map[string]any{"policy": map[string]any{"description": "d", "default_state": "hot", "states": []any{map[string]any{"name": "hot"}},
		"ism_template": []any{map[string]any{"index_patterns": []string{"logs-otel"}, "priority": policyPriority}}}}
	for _, data := range []string{inner, `{"policy": ` + inner + `}`} {
		if got, err := Policy([]byte(data), "logs-otel"); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v, %v", got, err)
		}
	}
	for _, bad := range []string{`[]`, `{}`, `{"policy": {"states": {}}}`} {
		if got, err := Policy([]byte(bad), "x"); err == nil {
			t.Errorf("%s became %v", bad, got)
		}
	}
}

// noHandler is the body of the reply of OpenSearch 3.1.0, with status 400, to a call of a plugin that is not
// installed.
const noHandler = `{"error":"no handler found for uri [/_plugins/_ism/policies/knee-x] and method [PUT]"}`

// fakePlugin returns a client of a FAKE of the index-management plugin, because no OpenSearch in these tests has the
// plugin. The fake stores one policy. As the plugin's documentation describes, a change must name the sequence number
// of the stored policy.
func fakePlugin(t *testing.T) (*Client, *map[string]any) {
	t.Helper()
	var policy map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const there = `{"_id":"knee-x","_version":2,"_seq_no":17,"_primary_term":3,"policy":{}}`
		switch {
		case r.URL.Path != "/_plugins/_ism/policies/knee-x":
			t.Errorf("%s %s", r.Method, r.URL.Path)
		case r.Method == http.MethodPut && policy != nil && r.URL.RawQuery != "if_seq_no=17&if_primary_term=3",
			r.Method == http.MethodPut && policy == nil && r.URL.RawQuery != "":
			w.WriteHeader(http.StatusConflict)
		case r.Method == http.MethodPut:
			_ = json.NewDecoder(r.Body).Decode(&policy)
			_, _ = w.Write([]byte(there))
		case policy == nil:
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"error":{"type":"status_exception","reason":"Policy not found"},"status":404}`))
		case r.Method == http.MethodDelete:
			policy = nil
			_, _ = w.Write([]byte(`{"result":"deleted"}`))
		default:
			_, _ = w.Write([]byte(there))
		}
	}))
	t.Cleanup(server.Close)
	c, err := New(nil, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, &policy
}

func TestPutPolicy_existingPolicy_isReplaced(t *testing.T) {
	c, kept := fakePlugin(t)
	for _, description := range []string{"first", "second"} {
		if err := c.PutPolicy(t.Context(), "x", map[string]any{"policy": description}); err != nil || (*kept)["policy"] != description {
			t.Errorf("%s: %v, %v", description, *kept, err)
		}
	}
	for range 2 {
		if err := c.DeletePolicy(t.Context(), "x"); err != nil || *kept != nil {
			t.Errorf("%v, %v", *kept, err)
		}
	}
}

func TestPutPolicy_missingPlugin_fails(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(noHandler))
	}))
	defer server.Close()
	c, err := New(nil, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.PutPolicy(t.Context(), "x", nil); !LacksPlugin(err) || !strings.Contains(err.Error(), "status 400: no handler found for uri [") {
		t.Errorf("%v", err)
	}
	if err := c.DeletePolicy(t.Context(), "x"); err != nil {
		t.Errorf("deleting what no plugin keeps: %v", err)
	}
	other := fakeCluster(t, map[string]string{})
	if err := other.PutPolicy(t.Context(), "x", nil); LacksPlugin(err) {
		t.Errorf("another error: %v", err)
	}
}
