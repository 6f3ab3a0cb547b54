package record

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// ownWords reports whether each entry of dropped is the name of a step and occurs only once.
func ownWords(dropped []Drop) bool {
	seen := map[Drop]bool{}
	for _, name := range dropped {
		if seen[name] || !slices.ContainsFunc(steps, func(s step) bool { return s.name == name }) {
			return false
		}
		seen[name] = true
	}
	return true
}

func FuzzDecode(f *testing.F) {
	data, err := Encode(full(1, 1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"version":1}`))
	if data, err = json.Marshal(loaded(1, 2, 2)); err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	hostile := full(13, 7)
	hostile.Error.Message = strings.Repeat("\x01<>", 500)
	if data, err = json.Marshal(hostile); err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Decode(data)
		if err != nil {
			return
		}
		// Skip records that this program does not write: identities and reasons come from the controller and are
		// short, and Dropped contains only names of this program.
		if len(r.Attempt.Campaign)+len(r.Attempt.Cell)+len(r.Attempt.Phase) > 200 || r.Error != nil && len(r.Error.Reason) > 64 || !ownWords(r.Dropped) {
			return
		}
		out, err := Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if len(out) > MaxBytes {
			t.Errorf("%d bytes", len(out))
		}
		if _, err := Decode(out); err != nil {
			t.Errorf("what was encoded is not read: %v", err)
		}
	})
}
