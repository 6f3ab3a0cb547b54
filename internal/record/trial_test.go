package record

import (
	"encoding/json"
	"testing"
)

func TestAttempt_json(t *testing.T) {
	sweep := Trial{Campaign: "c", Cell: "h", Variant: "a", Topology: "t", Phase: Sweep, Clients: 8, Repetition: 2, Placement: 1}
	final := sweep
	final.Phase, final.Placement = Final, 1
	second := final
	second.Placement = 2
	for _, tt := range []struct {
		name    string
		attempt Attempt
		earlier string // JSON of earlier releases, whose type Trial contained the attempt number
	}{
		{"a sweep", Attempt{sweep, 3},
			`{"campaign":"c","cell":"h","variant":"a","topology":"t","phase":"Sweep","clients":8,"repetition":2,"attempt":3}`},
		{"the first placement", Attempt{final, 1},
			`{"campaign":"c","cell":"h","variant":"a","topology":"t","phase":"Final","clients":8,"repetition":2,"attempt":1}`},
		{"a later placement", Attempt{second, 1},
			`{"campaign":"c","cell":"h","variant":"a","topology":"t","phase":"Final","clients":8,"repetition":2,"attempt":1,"placement":2}`},
	} {
		var read Attempt
		if err := json.Unmarshal([]byte(tt.earlier), &read); err != nil || read != tt.attempt {
			t.Errorf("%s: read %+v, %v, want %+v", tt.name, read, err, tt.attempt)
		}
		written, err := json.Marshal(tt.attempt)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fieldsOf(t, written), fieldsOf(t, []byte(tt.earlier)); got != want {
			t.Errorf("%s: wrote %s, want %s", tt.name, got, want)
		}
	}
}

// fieldsOf returns a JSON object with its fields in the order of their names.
func fieldsOf(t *testing.T, data []byte) string {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
