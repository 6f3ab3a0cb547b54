package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCandidates_listsEveryKindOfChange(t *testing.T) {
	folder := t.TempDir()
	source := `package p

func (t *T) f(a, b int, ok bool) int {
	for a < 3 {
		if ok && a == b {
			a++
			continue
		}
		b = max(a, b)
	}
	switch {
	case ok:
		g("text")
	}
	return 0.5 * a
}
`
	if err := os.WriteFile(filepath.Join(folder, "p.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := candidatesIn(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range found {
		_, id, _ := strings.Cut(m.id, "/")
		got = append(got, id+" "+m.changes)
	}
	want := []string{
		`T.f.operator.1 "<" becomes "<=" in "a < 3"`, `T.f.constant.1 "3" becomes "4"`,
		`T.f.condition.1 "ok && a == b" becomes "!(ok && a == b)"`, `T.f.operator.2 "&&" becomes "||" in "ok && a == b"`,
		`T.f.operator.3 "==" becomes "!=" in "a == b"`, `T.f.removal.1 removes "a++"`, `T.f.removal.2 removes "continue"`,
		`T.f.removal.3 removes "b = max(a, b)"`, `T.f.bound.1 "max" becomes "min" in "max(a, b)"`,
		`T.f.condition.2 "ok" becomes "!(ok)"`, `T.f.removal.4 removes "g(\"text\")"`,
		`T.f.operator.4 "*" becomes "/" in "0.5 * a"`, `T.f.constant.2 "0.5" becomes "0.625"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if first := string(found[0].source); first != strings.Replace(source, "a < 3", "a <= 3", 1) || found[0].line != 4 {
		t.Errorf("line %d of the first mutant:\n%s", found[0].line, first)
	}
}

func TestJudge(t *testing.T) {
	results := make([]result, 20)
	for i := range results {
		results[i] = result{mutant: mutant{id: string('a' + rune(i))}, killer: "a test"}
	}
	if err := (knownSurvivors{}).judge(results, true); err != nil {
		t.Errorf("all are killed: %v", err)
	}
	if err := (knownSurvivors{"b": "a reason"}).judge(results, true); err == nil || !strings.Contains(err.Error(), "b is killed by a test") {
		t.Errorf("a listed survivor is killed: %v", err)
	}
	results[1].killer = ""
	if err := (knownSurvivors{"b": "a reason"}).judge(results, true); err != nil {
		t.Errorf("95 %% are killed: %v", err)
	}
	results[2].killer = ""
	if err := (knownSurvivors{"b": "a reason"}).judge(results, true); err == nil {
		t.Error("90 % are killed, and there is no error")
	}
	if err := (knownSurvivors{"b": "a reason"}).judge(results, false); err != nil {
		t.Errorf("only some mutants are tested: %v", err)
	}
}

func TestFindKiller(t *testing.T) {
	for output, want := range map[string]string{
		"--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/row (0.1s)\n":           "TestA/row",
		"--- FAIL: TestA (0.1s)\n--- FAIL: TestB (0.1s)\n":                   "TestA",
		"panic: test timed out after 1s\n\trunning tests:\n\t\tTestC (1s)\n": "TestC, which did not end",
		"FAIL": "output without a name of a test",
	} {
		if got := findKiller(output); got != want {
			t.Errorf("%q: got %q, want %q", output, got, want)
		}
	}
}

// TestChanges_textBefore_occursOnce finds mutants by hand whose code has changed.
func TestChanges_textBefore_occursOnce(t *testing.T) {
	for _, c := range changes {
		source, err := os.ReadFile(filepath.Join("..", "..", c.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(source), c.before); n != 1 {
			t.Errorf("%s: %q occurs %d times in %s: change the entry in by_hand.go", c.id, c.before, n, c.file)
		}
	}
}
