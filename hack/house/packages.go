package main

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// roots are the folders that contain Go code.
var roots = []string{"api", "cmd", "controllers", "internal", "hack", "test"}

// pkg is a folder of Go files, without its tests and generated files.
type pkg struct {
	path         string
	summary      string // first sentence of the doc comment, without the name of the package
	files, lines int
	// function, file and line are the longest ones of the package.
	function, file, line longest
}

// longest is the largest function, file or line. place is FILE:LINE NAME.
type longest struct {
	size  int
	place string
}

func (l *longest) raise(size int, place string) {
	if size > l.size {
		*l = longest{size, place}
	}
}

func (p *pkg) add(other pkg) {
	p.files += other.files
	p.lines += other.lines
	p.function.raise(other.function.size, other.function.place)
	p.file.raise(other.file.size, other.file.place)
	p.line.raise(other.line.size, other.line.place)
}

// root returns the top folder that contains the package, or hack/cluster.
func (p pkg) root() string {
	if p.path == "hack/cluster" || strings.HasPrefix(p.path, "hack/cluster/") {
		return "hack/cluster"
	}
	root, _, _ := strings.Cut(p.path, "/")
	return root
}

// readPackages reads the Go code below top, sorted by path. A folder that holds only tests has no files and no lines.
func readPackages(top string) ([]pkg, error) {
	found := map[string]*pkg{}
	for _, root := range roots {
		err := filepath.WalkDir(filepath.Join(top, root), func(file string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && entry.Name() == "testdata":
				return filepath.SkipDir
			case entry.IsDir() || filepath.Ext(file) != ".go":
				return nil
			}
			name, err := filepath.Rel(top, file)
			if err != nil {
				return err
			}
			name = filepath.ToSlash(name)
			dir := name[:strings.LastIndex(name, "/")]
			if found[dir] == nil {
				found[dir] = &pkg{path: dir}
			}
			return found[dir].read(file, name)
		})
		if err != nil {
			return nil, err
		}
	}
	packages := make([]pkg, 0, len(found))
	for _, path := range slices.Sorted(maps.Keys(found)) {
		packages = append(packages, *found[path])
	}
	return packages, nil
}

// read adds one file to the package. name is the path to print.
func (p *pkg) read(file, name string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if syntax.Doc != nil && p.summary == "" {
		p.summary = summaryOf(syntax.Doc.Text())
	}
	if ast.IsGenerated(syntax) || strings.HasSuffix(name, "_test.go") {
		return nil
	}
	p.files++
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	p.lines += len(lines)
	p.file.raise(len(lines), name)
	for i, line := range lines {
		p.line.raise(utf8.RuneCountInString(line), fmt.Sprintf("%s:%d", name, i+1))
	}
	for _, declaration := range syntax.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok {
			continue
		}
		first, last := set.Position(function.Pos()).Line, set.Position(function.End()).Line
		p.function.raise(last-first+1, fmt.Sprintf("%s:%d %s", name, first, function.Name.Name))
	}
	return nil
}

// summaryOf returns the first sentence of a doc comment up to the first colon, without "Package NAME" or "Command
// NAME".
func summaryOf(text string) string {
	sentence, _, _ := strings.Cut(strings.TrimSuffix(new(doc.Package).Synopsis(text), "."), ": ")
	words := strings.SplitN(sentence, " ", 3)
	if len(words) == 3 && (words[0] == "Package" || words[0] == "Command") {
		return words[2]
	}
	return sentence
}
