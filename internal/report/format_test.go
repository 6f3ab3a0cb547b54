package report

import (
	"math"
	"strings"
	"testing"
)

func TestNumbers(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{figure(345964), "345964"},
		{figure(0.1 + 0.2), "0.3"},
		{figure(1200), "1200"},
		{figure(-0.0001), "0"},
		{figure(math.NaN()), ""},
		{figure(math.Inf(1)), ""},
		{known(0), ""},
		{rounded(236273.5), "236274"},
		{percent(1-2.0/70, 1), "97.1 %"},
		{timestamp(1751371200123), "2025-07-01T12:00:00.123Z"},
		{timestamp(0), ""},
		{duration(3725.4), "1h2m5s"},
		{interval(1.4443, 1.4806), "[1.44, 1.48]"},
		{interval(1.46113, 1.46188), "[1.4611, 1.4619]"},
		{interval(1.0004, 1.3), "[1.0004, 1.3000]"}, // never as if it held 1
		{interval(0.7, 0.99996), "[0.70000, 0.99996]"},
		{interval(0.996, 1.3), "[1.00, 1.30]"}, // nor as if it did not
		{interval(0.5, 20), "[0.50, 20.00]"},
		{cut("abcdefgh", 6), "abc..."},
		{cut("abc", 6), "abc"},
		{cut("aéééé", 7), "aé..."},
		{line(" a\n\tb  c "), "a b c"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestTableEscapes(t *testing.T) {
	var b strings.Builder
	table := table{titles: []string{"a", "b", "c "}}
	table.row("x|y", "two\nlines")
	table.markdown(&b)
	if want := "| a | b | c |\n| --- | ---: | --- |\n| x\\|y | two lines |  |\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestBounded(t *testing.T) {
	text := strings.Repeat("0123456789\n", 100)
	got := bounded(text, 500)
	if len(got) > 500 || !strings.Contains(got, "Cut here") || !strings.HasPrefix(got, "0123456789\n") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	if bounded(text, len(text)) != text {
		t.Error("cut what fits")
	}
}
