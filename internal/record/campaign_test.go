package record

import (
	"reflect"
	"strings"
	"testing"
)

// TestSetCampaign_changesOnlyTheUID checks that all other parts stay, also those that this version does not know.
func TestSetCampaign_changesOnlyTheUID(t *testing.T) {
	want := Record{Version: Version, StartedAt: 1, Attempt: Attempt{Trial: Trial{Campaign: "old", Cell: "c", Phase: Sweep, Clients: 2, Repetition: 1, Placement: 1}, N: 3},
		Error: &Error{Reason: ReasonDeadline}}
	data, err := Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	later := strings.Replace(string(data), `{"version"`, `{"later":{"a":"<&>"},"version"`, 1)
	got, err := SetCampaign([]byte(later), "new")
	if err != nil || !strings.Contains(string(got), `"later":{"a":"<&>"}`) {
		t.Fatalf("%s, %v", got, err)
	}
	want.Attempt.Campaign = "new"
	if r, err := Decode(got); err != nil || !reflect.DeepEqual(r, want) {
		t.Errorf("%+v, %v; want %+v", r, err, want)
	}
	if _, err := SetCampaign(data[:20], "new"); err == nil {
		t.Error("a damaged record is accepted")
	}
}

// TestEncodeCollected_largestRecord_losesNothing checks that the times of the Job cost no part that Encode kept.
func TestEncodeCollected_largestRecord_losesNothing(t *testing.T) {
	r := Record{Error: &Error{Reason: ReasonPodFailed, Message: strings.Repeat("x", 1000)}, Settle: Settle{Note: strings.Repeat("y", 250)}}
	for len(r.Artifacts) < MaxBytes {
		longer := r
		longer.Artifacts += "z"
		data, err := Encode(longer)
		if err != nil || strings.Contains(string(data), `"dropped"`) {
			break
		}
		r = longer
	}
	r.JobCreatedAt, r.JobEndedAt = 1795219727617, 1795219804376
	data, err := EncodeCollected(r)
	if err != nil || strings.Contains(string(data), `"dropped"`) || len(data) <= MaxBytes {
		t.Errorf("%d bytes, %v: %s", len(data), err, data[len(data)-200:])
	}
}
