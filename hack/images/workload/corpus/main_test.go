package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
)

func TestWrite_sameSeed_sameCorpus(t *testing.T) {
	var first, second, other, offsets bytes.Buffer
	for out, seed := range map[*bytes.Buffer]uint64{&first: 7, &second: 7, &other: 8} {
		offsets.Reset()
		if err := write(out, &offsets, 500, seed); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the same seed wrote two different corpora")
	}
	if bytes.Equal(first.Bytes(), other.Bytes()) {
		t.Error("another seed wrote the same corpus")
	}
}

func TestWrite_documents_arePlausibleRides(t *testing.T) {
	var out, offsets bytes.Buffer
	if err := write(&out, &offsets, 2000, 7); err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSuffix(out.Bytes(), []byte("\n")), []byte("\n"))
	if len(lines) != 2000 {
		t.Fatalf("%d lines, want 2000", len(lines))
	}
	for i, line := range lines {
		var d struct {
			Total    float64    `json:"total_amount"`
			Pickup   [2]float64 `json:"pickup_location"`
			Distance float64    `json:"trip_distance"`
		}
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatalf("line %d: %v\n%s", i+1, err, line)
		}
		if d.Total < 3 || d.Distance <= 0 || d.Pickup[0] > -73.8 || d.Pickup[0] < -74.1 || d.Pickup[1] < 40.6 || d.Pickup[1] > 40.9 {
			t.Fatalf("line %d is no ride in New York: %s", i+1, line)
		}
	}
}

func TestWrite_offsets_pointAtLineStarts(t *testing.T) {
	var out, offsets bytes.Buffer
	if err := write(&out, &offsets, offsetEvery+1, 7); err != nil {
		t.Fatal(err)
	}
	var line, position int
	if _, err := fmt.Sscanf(offsets.String(), "%d;%d\n", &line, &position); err != nil {
		t.Fatalf("%q: %v", offsets.String(), err)
	}
	if before := bytes.Count(out.Bytes()[:position], []byte("\n")); line != offsetEvery || before != line {
		t.Errorf("entry %d;%d: %d lines lie before that position", line, position, before)
	}
}
