package format

import (
	"math"
	"strings"
	"testing"
)

func TestNumbers(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{Figure(345964), "345964"},
		{Figure(0.1 + 0.2), "0.3"},
		{Figure(1200), "1200"},
		{Figure(-0.0001), "0"},
		{Figure(math.NaN()), ""},
		{Figure(math.Inf(1)), ""},
		{OrEmpty(0), ""},
		{Rounded(236273.5), "236274"},
		{Percent(1-2.0/70, 1), "97.1 %"},
		{Timestamp(1751371200123), "2025-07-01T12:00:00.123Z"},
		{Timestamp(0), ""},
		{Duration(3725.4), "1h2m5s"},
		{Interval(1.4443, 1.4806), "[1.44, 1.48]"},
		{Interval(1.46113, 1.46188), "[1.4611, 1.4619]"},
		{Interval(1.0004, 1.3), "[1.0004, 1.3000]"}, // must not be rounded to 1, because the interval does not contain 1
		{Interval(0.7, 0.99996), "[0.70000, 0.99996]"},
		{Interval(0.996, 1.3), "[1.00, 1.30]"}, // may be rounded to 1, because the interval contains 1
		{Interval(0.5, 20), "[0.50, 20.00]"},
		{Shorten("abcdefgh", 6), "abc..."},
		{Shorten("abc", 6), "abc"},
		{Shorten("aéééé", 7), "aé..."},
		{OneLine(" a\n\tb  c "), "a b c"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestCutDocument_cutsToLimit(t *testing.T) {
	text := strings.Repeat("0123456789\n", 100)
	got := CutDocument(text, 500)
	if len(got) > 500 || !strings.Contains(got, "This document ends here") || !strings.HasPrefix(got, "0123456789\n") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	if CutDocument(text, len(text)) != text {
		t.Error("cut what fits")
	}
}
