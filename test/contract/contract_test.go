package contract

import (
	"encoding/json"
	"reflect"
	"testing"
)

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
