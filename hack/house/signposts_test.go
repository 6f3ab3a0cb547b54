package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// pathInText matches a path of this repository, also as part of an import path. A path may contain * and may end
	// with /...
	pathInText = regexp.MustCompile(`(?:^|[^\w./-]|\s/|\./|\*\*/|knee-bench/knee/)((?:api|charts|cmd|config|controllers|docs|hack|internal|plugins|test)/[\w./*-]*)`)
	// goName matches the name after an import path, for example in internal/version.Version.
	goName = regexp.MustCompile(`\.[A-Z]\w*$`)
	// codeOrLink matches text in backticks and the target of a link, in Markdown.
	codeOrLink = regexp.MustCompile("`[^`\n]+`|\\]\\([^)\n]+\\)")
	testName   = regexp.MustCompile(`^Test[A-Z]\w+$`)
	// makeTarget matches a call of make in Markdown.
	makeTarget = regexp.MustCompile(`\bmake ([a-z][a-z0-9-]+)`)
)

// TestSignposts_pathsExist checks that each path that a signpost names exists.
func TestSignposts_pathsExist(t *testing.T) {
	t.Chdir("../..")
	pages := append(glob(t, "docs/*.md"), "README.md", "CONTRIBUTING.md")
	for _, file := range append(pages, append(glob(t, "hack/*/*.mk"), "Makefile", ".golangci.yml")...) {
		text := read(t, file)
		texts := []string{text}
		if filepath.Ext(file) == ".md" {
			texts = codeOrLink.FindAllString(text, -1)
		}
		for _, text := range texts {
			for _, path := range pathsIn(text) {
				if found, err := filepath.Glob(path); err != nil || len(found) == 0 {
					t.Errorf("%s names %s, which does not exist", file, path)
				}
			}
		}
	}
}

// TestSignposts_makeTargetsExist checks that each make target that a page names is in a makefile.
func TestSignposts_makeTargetsExist(t *testing.T) {
	t.Chdir("../..")
	var makefiles strings.Builder
	for _, file := range append(glob(t, "hack/*/*.mk"), "Makefile") {
		makefiles.WriteString("\n" + read(t, file))
	}
	for _, file := range append(glob(t, "docs/*.md"), "README.md", "CONTRIBUTING.md") {
		for _, code := range codeOrLink.FindAllString(read(t, file), -1) {
			for _, target := range makeTarget.FindAllStringSubmatch(code, -1) {
				if !regexp.MustCompile(`\n(?:[a-z0-9-]+ )*` + target[1] + `(?: [a-z0-9-]+)*:`).MatchString(makefiles.String()) {
					t.Errorf("%s names the target %s, which no makefile has", file, target[1])
				}
			}
		}
	}
}

// TestSignposts_anchorsExist checks that each link to a heading of a page leads to a heading.
func TestSignposts_anchorsExist(t *testing.T) {
	t.Chdir("../..")
	notInAnchor := regexp.MustCompile(`[^\w -]`)
	for _, file := range append(glob(t, "docs/*.md"), "README.md", "CONTRIBUTING.md") {
		for _, link := range regexp.MustCompile(`\]\(([\w./-]*)#([^)]+)\)`).FindAllStringSubmatch(read(t, file), -1) {
			page := file
			if link[1] != "" {
				page = filepath.Join(filepath.Dir(file), link[1])
			}
			anchors := map[string]bool{}
			for _, line := range strings.Split(read(t, page), "\n") {
				if heading, isHeading := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); isHeading && strings.HasPrefix(line, "#") {
					anchors[strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")] = true
				}
			}
			if !anchors[link[2]] {
				t.Errorf("%s links to %s#%s, a heading that does not exist", file, page, link[2])
			}
		}
	}
}

// TestSignposts_testsExist checks that each Go test that a page names exists.
func TestSignposts_testsExist(t *testing.T) {
	t.Chdir("../..")
	var tests strings.Builder
	for _, root := range roots {
		err := filepath.WalkDir(root, func(file string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(file, "_test.go") {
				tests.WriteString(read(t, file))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range append(glob(t, "docs/*.md"), "README.md", "CONTRIBUTING.md") {
		for _, code := range codeOrLink.FindAllString(read(t, file), -1) {
			name := strings.Trim(code, "`")
			if testName.MatchString(name) && !strings.Contains(tests.String(), "\nfunc "+name+"(") {
				t.Errorf("%s names the test %s, which does not exist", file, name)
			}
		}
	}
}

// TestArchitecture_listsPackages checks that docs/architecture.md has one line for each package, and at most 80 lines before the list of
// packages.
func TestArchitecture_listsPackages(t *testing.T) {
	t.Chdir("../..")
	packages, err := readPackages(".")
	if err != nil {
		t.Fatal(err)
	}
	page := read(t, "docs/architecture.md")
	want, err := withPackageList(page, packages)
	if err != nil {
		t.Fatal(err)
	}
	if page != want {
		t.Error("the list of packages in docs/architecture.md is stale: run make generate")
	}
	written, _, _ := strings.Cut(page, "<!-- packages")
	if lines := strings.Count(written, "\n"); lines > 80 {
		t.Errorf("docs/architecture.md has %d lines before the list of packages: shorten it to 80", lines)
	}
}

func TestPathsIn(t *testing.T) {
	for text, want := range map[string]string{
		"go run ./hack/house":                         "hack/house",
		"go test ./test/e2e/... and docs/s":           "test/e2e",
		`files: ["**/internal/plan/*.go"]`:            "internal/plan/*.go",
		"pkg: github.com/knee-bench/knee/internal/no": "internal/no",
		"-e /test/chaos":                              "test/chaos",
		"-X knee-bench/knee/internal/version.Version": "internal/version",
		"example.org/tool/cmd/tool@v1":                "",
		"bin/tools dist/studies my-test/x":            "",
		"(docs/api.md#osb)":                           "docs/api.md",
	} {
		if got := strings.Join(pathsIn(text), " "); got != want {
			t.Errorf("pathsIn(%q) = %q, want %q", text, got, want)
		}
	}
}

func pathsIn(text string) []string {
	var paths []string
	for _, match := range pathInText.FindAllStringSubmatch(text, -1) {
		path := goName.ReplaceAllString(strings.TrimRight(match[1], "./"), "")
		if path != "docs/s" { // docs/s is a unit, not a path
			paths = append(paths, path)
		}
	}
	return paths
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no file %s: %v", pattern, err)
	}
	return files
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
