package campaigntest

import (
	"testing"

	"github.com/knee-bench/knee/internal/record"
)

// Stored encodes and decodes a record. It returns the record as a reader of its ConfigMap gets it, without the parts that do not fit.
func Stored(t testing.TB, r record.Record) record.Record {
	t.Helper()
	data, err := record.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	out, err := record.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
