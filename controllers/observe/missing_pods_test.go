package observe

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestFindCreateFailure(t *testing.T) {
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	event := func(reason, message string, first, last int) corev1.Event {
		return corev1.Event{
			Reason: reason, Message: message, Count: 2,
			FirstTimestamp: metav1.NewTime(start.Add(time.Duration(first) * time.Second)),
			LastTimestamp:  metav1.NewTime(start.Add(time.Duration(last) * time.Second)),
		}
	}
	series := corev1.Event{
		Reason: eventCreateFailed, Message: "quota", EventTime: metav1.NewMicroTime(start.Add(time.Second)),
		Series: &corev1.EventSeries{Count: 2, LastObservedTime: metav1.NewMicroTime(start.Add(9 * time.Second))},
	}
	for name, tc := range map[string]struct {
		events      []corev1.Event
		lastCreated int // seconds after start
		message     string
		first, last int
	}{
		"no Events":                             {nil, 0, "", 0, 0},
		"other Events":                          {[]corev1.Event{event("SuccessfulDelete", "deleted", 1, 1)}, 0, "", 0, 0},
		"one failure":                           {[]corev1.Event{event(eventCreateFailed, "quota", 1, 9)}, 0, "quota", 1, 9},
		"failure recorded as a series":          {[]corev1.Event{series}, 0, "quota", 1, 9},
		"newest of several failures":            {[]corev1.Event{event(eventCreateFailed, "webhook", 5, 9), event(eventCreateFailed, "quota", 1, 4)}, 0, "webhook", 1, 9},
		"failure before the last change":        {[]corev1.Event{event(eventCreateFailed, "quota", 1, 9)}, 10, "", 0, 0},
		"failure before a success":              {[]corev1.Event{event(eventCreateFailed, "quota", 1, 9), event(eventCreated, "created", 10, 10)}, 0, "", 0, 0},
		"failure after a success":               {[]corev1.Event{event(eventCreateFailed, "quota", 9, 9), event(eventCreated, "created", 1, 8)}, 0, "quota", 9, 9},
		"failure in the second of a success":    {[]corev1.Event{event(eventCreateFailed, "quota", 9, 9), event(eventCreated, "created", 9, 9)}, 0, "quota", 9, 9},
		"failure of an earlier series is left":  {[]corev1.Event{event(eventCreateFailed, "old", 1, 2), event(eventCreated, "created", 4, 4), event(eventCreateFailed, "quota", 8, 9)}, 0, "quota", 8, 9},
		"failure in the second of the creation": {[]corev1.Event{event(eventCreateFailed, "quota", 3, 3)}, 3, "quota", 3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			changed := start.Add(time.Duration(tc.lastCreated)*time.Second + time.Millisecond)
			got, found := findCreateFailure(tc.events, changed)
			if found != (tc.message != "") || got.message != tc.message {
				t.Fatalf("got %+v, %v; want message %q", got, found, tc.message)
			}
			if found && (!got.first.Equal(start.Add(time.Duration(tc.first)*time.Second)) || !got.last.Equal(start.Add(time.Duration(tc.last)*time.Second))) {
				t.Errorf("from %s to %s, want seconds %d to %d", got.first, got.last, tc.first, tc.last)
			}
		})
	}
}

// TestIsRefusal checks messages of the API server (k8s.io/apiserver, pkg/admission, and k8s.io/apimachinery,
// pkg/api/errors).
func TestIsRefusal(t *testing.T) {
	for message, want := range map[string]bool{
		`create Pod a-0 in StatefulSet a failed error: pods "a-0" is forbidden: exceeded quota: small, requested: pods=1, used: pods=0, limited: pods=0`:          true,
		`Error creating: pods "a-x" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true`:                                                 true,
		`Error creating: admission webhook "policy.example.com" denied the request: no pods on Sundays`:                                                           true,
		`Error creating: Pod "a-x" is invalid: spec.containers[0].resources.requests: Invalid value: "8": must be less than or equal to cpu limit`:                true,
		`Error creating: Internal error occurred: failed calling webhook "inject.example.com": failed to call webhook: dial tcp 10.0.0.1:443: connection refused`: false,
		`Error creating: etcdserver: request timed out`:                                                                       false,
		`Error creating: pods "a-x" is forbidden: unable to create new content in namespace n because it is being terminated`: false,
	} {
		if got := isRefusal(message); got != want {
			t.Errorf("%s: got %v", message, got)
		}
	}
}
