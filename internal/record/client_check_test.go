package record

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestEncode_clientCheck_isKept(t *testing.T) {
	r := full(1, 1)
	r.ClientCheck = &ClientCheck{DocsPerSecond: 140123.456789, WholeDocsPerSec: 138000.1, Window: WindowCorpus, Seconds: 61.123456789, Documents: 8_000_000, BulkSize: 10_000,
		Rejections: 3, UtilizationOfTime: 0.987654321, CPUPerMillion: 0.43219876, Note: strings.Repeat("x", 1000)}
	encoded, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	if r.ClientCheck.DocsPerSecond != 140123.456789 || len(r.ClientCheck.Note) != 1000 {
		t.Error("encoding changed the caller's record")
	}
	got, err := Decode(encoded)
	if err != nil || got.ClientCheck == nil {
		t.Fatalf("%v, %+v", err, got.ClientCheck)
	}
	want := *r.ClientCheck
	want.DocsPerSecond, want.Seconds, want.UtilizationOfTime, want.CPUPerMillion = 140123, 61.1235, 0.987654, 0.432199
	want.WholeDocsPerSec, want.Note = 138000, got.ClientCheck.Note
	if *got.ClientCheck != want {
		t.Errorf("%+v, want %+v", *got.ClientCheck, want)
	}
	if !got.ClientCheck.Made() || (&ClientCheck{Note: "no"}).Made() || (*ClientCheck)(nil).Made() {
		t.Error("made is what has a figure")
	}
}

// TestEncode_clientCheck_isDroppedLate checks that Encode drops the figures of a client check only when hardly anything
// else is left. The note of the check is shortened much earlier.
func TestEncode_clientCheck_isDroppedLate(t *testing.T) {
	r := full(64, 100)
	r.ClientCheck = &ClientCheck{DocsPerSecond: 1, Documents: math.MaxInt64, Note: strings.Repeat("é", 3000)}
	encoded, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(encoded)
	if err != nil || got.ClientCheck == nil || got.ClientCheck.DocsPerSecond != 1 || len(got.ClientCheck.Note) > 256 || len(got.ClientCheck.Note) < 32 {
		t.Errorf("%v, %+v", err, got.ClientCheck)
	}
	if !slices.Contains(got.Dropped, "clientCheck.note>256") || slices.Contains(got.Dropped, "clientCheck") {
		t.Errorf("dropped %q", got.Dropped)
	}
}
