package opensearch

import (
	"encoding/json"
	"slices"
	"strings"
)

// filtered returns the part of a JSON answer that a filter_path selects. A path has dots between its keys, and * stands for
// any key. Arrays have no keys of their own. An empty filter selects everything.
func filtered(answer []byte, filter string) ([]byte, error) {
	if filter == "" {
		return answer, nil
	}
	var value any
	if err := json.Unmarshal(answer, &value); err != nil {
		return nil, err
	}
	var paths [][]string
	for path := range strings.SplitSeq(filter, ",") {
		paths = append(paths, strings.Split(path, "."))
	}
	kept, some := keep(value, paths)
	if !some {
		kept = map[string]any{}
	}
	return json.Marshal(kept)
}

// keep returns the part of a value that the paths select, and whether they select anything.
func keep(value any, paths [][]string) (part any, some bool) {
	if slices.ContainsFunc(paths, func(p []string) bool { return len(p) == 0 }) {
		return value, true
	}
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			if kept, some := keep(inner, below(paths, key)); some {
				out[key] = kept
			}
		}
		return out, len(out) > 0
	case []any:
		var out []any
		for _, inner := range v {
			if kept, some := keep(inner, paths); some {
				out = append(out, kept)
			}
		}
		return out, len(out) > 0
	}
	return nil, false
}

// below returns the rest of the paths that begin with a key.
func below(paths [][]string, key string) (out [][]string) {
	for _, p := range paths {
		if p[0] == "*" || p[0] == key {
			out = append(out, p[1:])
		}
	}
	return out
}
