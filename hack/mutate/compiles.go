package main

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// newChecker returns a function that reports whether a mutant of a package passes the type checker.
func newChecker(folder string) (func(mutant) bool, error) {
	list := exec.CommandContext(context.Background(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./"+folder)
	var stderr bytes.Buffer
	list.Stderr = &stderr
	text, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w\n%s", folder, err, stderr.String())
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, export, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			exports[name] = export
		}
	}
	set := token.NewFileSet()
	imports := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	files, err := filepath.Glob(folder + "/*.go")
	if err != nil {
		return nil, err
	}
	return func(m mutant) bool {
		var trees []*ast.File
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			var source any // nil: from the file
			if file == m.file {
				source = m.source
			}
			tree, err := parser.ParseFile(set, file, source, 0)
			if err != nil {
				return false
			}
			trees = append(trees, tree)
		}
		config := types.Config{Importer: imports, Error: func(error) {}}
		_, err := config.Check(module+folder, set, trees, nil)
		return err == nil
	}, nil
}
