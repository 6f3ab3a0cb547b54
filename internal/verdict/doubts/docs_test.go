package doubts_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// reasons returns the reasons of the condition Conclusive by the name of their constants.
func reasons(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../../api/v1alpha1/conditions.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || !strings.HasPrefix(group.Doc.Text(), "Reasons of Conclusive") {
			continue
		}
		for _, spec := range group.Specs {
			value := spec.(*ast.ValueSpec)
			text, err := strconv.Unquote(value.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			out[value.Names[0].Name] = text
		}
	}
	return out
}

// sources returns the text of the Go files that match one of the patterns. It leaves out tests, unless a pattern names them.
func sources(t *testing.T, patterns ...string) string {
	t.Helper()
	var out strings.Builder
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") && !strings.HasSuffix(pattern, "_test.go") {
				continue
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			out.Write(data)
		}
	}
	return out.String()
}

// TestReasons_areComplete checks that each reason of Conclusive has a doubt and a test.
func TestReasons_areComplete(t *testing.T) {
	all, code, tests := reasons(t), sources(t, "*.go"), sources(t, "*_test.go", "../campaign/*_test.go")
	if len(all) < 20 {
		t.Errorf("conditions.go has only the reasons %v", all)
	}
	for name := range all {
		word := regexp.MustCompile(`v1alpha1\.` + name + `\b`)
		if !word.MatchString(code) || !word.MatchString(tests) {
			t.Errorf("%s has no doubt or no test", name)
		}
	}
}
