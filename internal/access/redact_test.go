package access

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestWriter_splitSecret_isHidden checks that the writer hides a secret even if several writes split it. Text without a secret
// must not change.
func TestWriter_splitSecret_isHidden(t *testing.T) {
	hidden := Secrets{"YWRtaW46aGVsbG8td29ybGQ=", "hello-world", "aab"}
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := append([]string{"hello", "-world", "a", "aa", "b", "YWRtaW46aGVsbG8td29", "\n", mask, "hello-worl", "d"}, hidden...)
	for range 2000 {
		var text strings.Builder
		for range rng.IntN(12) {
			text.WriteString(pieces[rng.IntN(len(pieces))])
		}
		var got bytes.Buffer
		w := hidden.Writer(&got)
		for rest := text.String(); rest != ""; {
			n := 1 + rng.IntN(len(rest))
			if wrote, err := w.Write([]byte(rest[:n])); err != nil || wrote != n {
				t.Fatalf("wrote %d of %d, %v", wrote, n, err)
			}
			rest = rest[n:]
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		for _, secret := range hidden {
			if strings.Contains(got.String(), secret) {
				t.Fatalf("%q became %q", text.String(), got.String())
			}
		}
		if clean := hidden.Hide(text.String()); clean == text.String() && got.String() != clean {
			t.Fatalf("%q holds no secret and became %q", clean, got.String())
		}
	}
}

func TestWriter_noSecrets_textIsUnchanged(t *testing.T) {
	var got bytes.Buffer
	w := Secrets(nil).Writer(&got)
	if _, err := w.Write([]byte("all of it")); err != nil || got.String() != "all of it" || w.Flush() != nil {
		t.Errorf("%q, %v", got.String(), err)
	}
	if s := Secrets(nil).Hide("all of it"); s != "all of it" {
		t.Errorf("%q", s)
	}
}
