package trial

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// A secret is hidden whatever pieces it comes in, and all else stays as it is.
func TestWriterHidesSecrets(t *testing.T) {
	hidden := secrets{"YWRtaW46aGVsbG8td29ybGQ=", "hello-world", "aab"}
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := append([]string{"hello", "-world", "a", "aa", "b", "YWRtaW46aGVsbG8td29", "\n", mask, "hello-worl", "d"}, hidden...)
	for range 2000 {
		var text strings.Builder
		for range rng.IntN(12) {
			text.WriteString(pieces[rng.IntN(len(pieces))])
		}
		var got bytes.Buffer
		w := hidden.writer(&got)
		for rest := text.String(); rest != ""; {
			n := 1 + rng.IntN(len(rest))
			if wrote, err := w.Write([]byte(rest[:n])); err != nil || wrote != n {
				t.Fatalf("wrote %d of %d, %v", wrote, n, err)
			}
			rest = rest[n:]
		}
		if err := w.flush(); err != nil {
			t.Fatal(err)
		}
		for _, secret := range hidden {
			if strings.Contains(got.String(), secret) {
				t.Fatalf("%q became %q", text.String(), got.String())
			}
		}
		if clean := hidden.hide(text.String()); clean == text.String() && got.String() != clean {
			t.Fatalf("%q holds no secret and became %q", clean, got.String())
		}
	}
}

func TestNoSecretsHideNothing(t *testing.T) {
	var got bytes.Buffer
	w := secrets(nil).writer(&got)
	if _, err := w.Write([]byte("all of it")); err != nil || got.String() != "all of it" || w.flush() != nil {
		t.Errorf("%q, %v", got.String(), err)
	}
	if s := secrets(nil).hide("all of it"); s != "all of it" {
		t.Errorf("%q", s)
	}
}
