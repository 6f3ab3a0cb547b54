package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLicenceOf_refusesUnknownAndForbidden(t *testing.T) {
	mit := `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`
	gpl := `This program is free software: you can redistribute it and/or modify it under the terms of the GNU General Public
License as published by the Free Software Foundation, either version 3 of the License, or (at your option) any later
version.
`
	for _, test := range []struct{ name, file, text, want string }{
		{"allowed", "LICENSE", "Copyright (c) 2020 Somebody\n\n" + mit, ""},
		{"allowed, spelt otherwise", "licence.md", mit, ""},
		{"not allowed", "COPYING", gpl, "is not among the allowed ones"},
		{"both", "LICENSE", mit + gpl, "is not among the allowed ones"},
		{"unknown", "LICENSE", "Do what you want, but tell me.", "the text of a known licence"},
		{"mostly unknown", "LICENSE", mit + strings.Repeat("But never on the first day of a month without leave. ", 30), "the text of a known licence"},
		{"none", "README", "MIT", "there is no licence file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, test.file), []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			l, err := licenceOf(module{path: "example.org/m", version: "v1.0.0", dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			if test.want == "" && (l.problem != nil || !slices.Equal(l.ids, []string{"MIT"})) {
				t.Errorf("licences %v, problem %v", l.ids, l.problem)
			}
			if test.want != "" && (l.problem == nil || !strings.Contains(l.problem.Error(), test.want)) {
				t.Errorf("problem %v, want %q", l.problem, test.want)
			}
		})
	}
}

func TestFolders_includesParents(t *testing.T) {
	m := module{dir: "/m", packages: []string{"/m/a/b", "/m/c"}}
	if got, want := m.folders(), []string{"/m", "/m/a", "/m/a/b", "/m/c"}; !slices.Equal(got, want) {
		t.Errorf("folders %v, want %v", got, want)
	}
}

const govulncheckOutput = `
{"config": {"scanner_name": "govulncheck"}}
{"osv": {"id": "GO-1"}} {"osv": {"id": "GO-2"}} {"osv": {"id": "GO-3"}}
{"finding": {"osv": "GO-1", "fixed_version": "v1.2.0", "trace": [{"module": "m", "version": "v1.1.0"}]}}
{"finding": {"osv": "GO-1", "fixed_version": "v1.2.0", "trace": [
  {"module": "m", "version": "v1.1.0", "package": "m/p", "function": "Bad", "receiver": "T"},
  {"module": "knee", "package": "knee/cmd", "function": "main"}]}}
{"finding": {"osv": "GO-2", "trace": [{"module": "n", "version": "v0.1.0", "package": "n"}]}}
`

func TestReadFindings_returnsOnlyCalled(t *testing.T) {
	known, uncalled, called, err := readFindings(strings.NewReader(govulncheckOutput))
	if err != nil || known != 3 || uncalled != 1 || len(called) != 1 {
		t.Fatalf("known %d, not called %d, called %v, error %v", known, uncalled, called, err)
	}
	want := finding{id: "GO-1", fixed: "v1.2.0", module: "m@v1.1.0", call: "m/p.T.Bad from knee/cmd.main"}
	if called[0] != want {
		t.Errorf("got %+v, want %+v", called[0], want)
	}
}

func TestApplyExceptions(t *testing.T) {
	until := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	findings := []finding{{id: "GO-1", module: "m@v1.1.0", call: "m.Bad from main.main"}}
	for _, test := range []struct {
		name       string
		findings   []finding
		exceptions []exception
		now        time.Time
		want       string
	}{
		{"nothing found", nil, nil, until, ""},
		{"found", findings, nil, until, "GO-1 in m@v1.1.0 is called"},
		{"accepted on its last day", findings, []exception{{"GO-1", "why", until}}, until.Add(23 * time.Hour), ""},
		{"over", findings, []exception{{"GO-1", "why", until}}, until.Add(25 * time.Hour), "ended on 2026-03-01"},
		{"another's", findings, []exception{{"GO-1", "why", until}, {"GO-2", "why", until}}, until, "GO-2 has no finding"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := applyExceptions(test.findings, test.exceptions, test.now)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestReadExceptions_needDayAndReason(t *testing.T) {
	file := filepath.Join(t.TempDir(), "exceptions.txt")
	for text, good := range map[string]bool{
		"# a comment\n\nGO-1 2026-03-01 it is a test's\n": true,
		"GO-1 2026-03-01\n":          false,
		"GO-1 tomorrow it is late\n": false,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readExceptions(file)
		if good != (err == nil) || good && len(got) != 1 {
			t.Errorf("%q: %v, error %v", text, got, err)
		}
	}
}
