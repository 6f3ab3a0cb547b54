package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
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
	listed := knownSurvivors{"b": "a reason"}
	for name, row := range map[string]struct {
		outcomes map[string]outcome // of 20 mutants from a to t, where it is not killed
		partial  bool
		want     []string // parts of the errors
	}{
		"listed survivor, 95 % killed":      {outcomes: map[string]outcome{"b": survived}},
		"timeout counts as killed":          {outcomes: map[string]outcome{"b": survived, "c": timedOut}},
		"listed survivor killed":            {want: []string{"b is killed by a test"}},
		"listed survivor timed out":         {outcomes: map[string]outcome{"b": timedOut}, want: []string{"b is killed by a test"}},
		"unlisted survivor, 90 % killed":    {outcomes: map[string]outcome{"b": survived, "c": survived}, want: []string{"survived: c ", "18 of 20 mutants are killed (90.0 %)"}},
		"unlisted survivor, some mutants":   {outcomes: map[string]outcome{"b": survived, "c": survived}, partial: true, want: []string{"survived: c "}},
		"unlisted survivor, listed killed":  {outcomes: map[string]outcome{"c": survived}, want: []string{"b is killed by a test", "survived: c "}},
		"listed survivor killed, some only": {partial: true, want: []string{"b is killed by a test"}},
	} {
		t.Run(name, func(t *testing.T) {
			results := make([]result, 20)
			for i := range results {
				results[i] = result{mutant: mutant{id: string('a' + rune(i))}, outcome: killed, by: "a test"}
				if o, ok := row.outcomes[results[i].mutant.id]; ok {
					results[i].outcome = o
				}
			}
			var got []string
			if err := listed.judge(results, !row.partial); err != nil {
				got = strings.Split(err.Error(), "\n")
			}
			if !slices.EqualFunc(got, row.want, strings.Contains) {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestPrintSummary_timeout_isPrintedApart(t *testing.T) {
	var out strings.Builder
	printSummary(&out, []result{
		{mutant: mutant{id: "a", file: "p/a.go", line: 1}, outcome: killed, by: "p TestA"},
		{mutant: mutant{id: "b", file: "p/a.go", line: 2, changes: "removes it"}, outcome: timedOut, by: "p TestB: limit 15 s, 1.2 s in the clean run"},
		{mutant: mutant{id: "c", file: "q/c.go", line: 3}, outcome: survived},
	})
	want := `
package                        mutants  killed timeout survived
p                                    2       1       1        0
q                                    1       0       0        1
all                                  3       1       1        1

timeout, counted as killed: b                                            p/a.go:2 removes it by p TestB: limit 15 s, 1.2 s in the clean run
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestFindKiller(t *testing.T) {
	for output, want := range map[string]string{
		"--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/row (0.1s)\n": "TestA/row",
		"--- FAIL: TestA (0.1s)\n--- FAIL: TestB (0.1s)\n":         "TestA",
		"FAIL": "output without a name of a test",
	} {
		if got := findKiller(output); got != want {
			t.Errorf("%q: got %q, want %q", output, got, want)
		}
	}
}

func TestGroupTests_slowTests_runLast(t *testing.T) {
	output := "--- PASS: TestA (0.10s)\n    --- PASS: TestA/row (9.00s)\n--- PASS: TestB (2.00s)\n--- SKIP: TestC (5.00s)\n--- PASS: TestD (0.20s)\n"
	want := []group{
		{skip: "_largest|^(TestB|TestD)$", clean: 100 * time.Millisecond, limit: 15 * time.Second},
		{run: "^(TestB|TestD)$", skip: "_largest", clean: 2200 * time.Millisecond, limit: 22 * time.Second},
	}
	if got := groupTests(output); !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := groupTests("--- PASS: TestA (0.10s)\n"); len(got) != 1 || got[0].skip != "_largest" {
		t.Errorf("%+v, want one group if no test is slow", got)
	}
}

// makeModule makes a module whose package p has one test, and returns a tester of the module. The limit of the test is one second.
func makeModule(t *testing.T) *tester {
	t.Chdir(t.TempDir())
	for file, text := range map[string]string{
		"go.mod":      "module example.com/m\n\ngo 1.26\n",
		"p/p.go":      "package p\n\nfunc sum(n int) (s int) {\n\tfor i := 0; i < n; i++ {\n\t\ts += i\n\t}\n\treturn s\n}\n",
		"p/p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif sum(3) != 3 {\n\t\tt.Fail()\n\t}\n}\n",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	out, err := newTester()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.close)
	if err := out.measureClean(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	out.groups["p"][0].limit = time.Second
	return out
}

// mutate returns the mutant of package p with one text replaced.
func mutate(t *testing.T, before, after string) mutant {
	source, err := os.ReadFile("p/p.go")
	if err != nil {
		t.Fatal(err)
	}
	start := strings.Index(string(source), before)
	return newMutant(after, "p/p.go", source, start, start+len(before), after, "")
}

func TestTester_mutants_haveOutcomes(t *testing.T) {
	tester := makeModule(t)
	mutants := []mutant{mutate(t, "i < n", "i <= n"), mutate(t, "i++", "i += 0"), mutate(t, "i := 0", "i := 1"), mutate(t, "i++", "i++ +")}
	results, err := testAll(t.Context(), tester, mutants, 2, func(result) {})
	if err == nil || !strings.Contains(err.Error(), "i++ +: go test -c ./p: exit status 1") {
		t.Errorf("error %v, want that of the mutant that does not compile", err)
	}
	var got []string
	for _, r := range results {
		got = append(got, string(r.outcome)+" "+r.by)
	}
	if want := []string{"killed p TestSum", "TIMEOUT p TestSum: limit 1 s, 0 s in the clean run", "SURVIVED "}; !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if left, err := filepath.Glob(tester.folder + "/mutant-*"); err != nil || len(left) > 0 {
		t.Errorf("left are %q (%v)", left, err)
	}
}

func TestTester_interrupted_returnsResultsSoFar(t *testing.T) {
	tester := makeModule(t)
	tester.groups["p"][0].limit = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	mutants := []mutant{mutate(t, "i < n", "i <= n"), mutate(t, "i++", "i += 0")} // the second never ends
	results, err := testAll(ctx, tester, mutants, 1, func(result) { cancel() })
	if len(results) != 1 || results[0].outcome != killed || err == nil || err.Error() != "interrupted after 1 of 2 mutants" {
		t.Errorf("%v, %v", results, err)
	}
}

// TestTester_processKilled_isError: a signal from outside, for example at a lack of memory, kills no mutant.
func TestTester_processKilled_isError(t *testing.T) {
	tester := makeModule(t)
	m := mutate(t, "return s", "p, _ := os.FindProcess(os.Getpid()); p.Kill(); select {}")
	m.source = bytes.Replace(m.source, []byte("package p"), []byte("package p\nimport \"os\""), 1)
	if r, err := tester.test(t.Context(), m); err == nil || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("%v, %v", r, err)
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
