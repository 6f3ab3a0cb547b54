package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func look(t *testing.T, page string) []result {
	t.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("no chromium here: `make report-check` installs it")
	}
	out := t.TempDir()
	results, err := check(t.Context(), "chromium", filepath.Join("testdata", page), out)
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != len(views) {
		t.Fatalf("%d results of %d views", len(results), len(views))
	}
	for _, v := range views {
		if info, err := os.Stat(filepath.Join(out, v.name()+".png")); err != nil || info.Size() < 1000 {
			t.Errorf("the screenshot of %s: %v", v.name(), err)
		}
	}
	return results
}

func TestCheck_goodReport_hasNoProblems(t *testing.T) {
	for _, r := range look(t, "good.html") {
		if len(r.problems) > 0 || r.facts.Pictures != 2 || r.facts.Contrast < 10 {
			t.Errorf("%s: %s %q", r.name, r.summary(), r.problems)
		}
	}
}

func TestCheck_badReport_listsProblems(t *testing.T) {
	for _, r := range look(t, "bad.html") {
		all := strings.Join(r.problems, "\n")
		for _, want := range []string{
			"it requests https://styles.invalid/a.css", "it requests https://elsewhere.invalid/", "missing.png",
			`console error: "an error of its own"`, "exception: ", "thrown",
			"it scrolls sideways: 15", "because of div", "no title", "language", "0 h1 headings",
			"a picture has no words: svg", "a picture has no words: img", "no header cells", "two elements have the id a",
			`hard to read: "pale"`,
		} {
			if !strings.Contains(all, want) {
				t.Errorf("%s: no problem %q in\n%s", r.name, want, all)
			}
		}
		if small := "text in a picture is 6.0 px high"; strings.Contains(all, small) == strings.HasPrefix(r.name, "print") {
			t.Errorf("%s: %q belongs to screens alone:\n%s", r.name, small, all)
		}
	}
}

func TestCheck_missingBrowserOrFile_fails(t *testing.T) {
	if _, err := check(t.Context(), "no-such-browser", "testdata/good.html", t.TempDir()); err == nil || !strings.Contains(err.Error(), "package chromium") {
		t.Errorf("%v", err)
	}
	if _, err := check(t.Context(), "chromium", "testdata/none.html", t.TempDir()); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}
