// Package messages checks that no code parses a text that is written for people.
package messages

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the root of the module.
const root = "../.."

// texts are the names of fields and methods that hold a text for people.
var texts = []string{"Message", "Error", "NotMeasured", "Waiting", "Running", "Note", "Dropped"}

// searches are the functions that search for a part of a text, by package.
var searches = map[string][]string{
	"strings": {"Contains", "ContainsAny", "Count", "Cut", "CutPrefix", "CutSuffix", "EqualFold", "HasPrefix", "HasSuffix", "Index", "LastIndex", "Split", "SplitN"},
	"fmt":     {"Sscan", "Sscanf", "Sscanln"},
}

// allowed lists the files that may search in a text, with the reason.
var allowed = map[string]string{
	"internal/agent/opensearch/refusal.go": "net/http has no type for a server that does not use TLS",
}

func TestMessages_areNotParsedByCode(t *testing.T) {
	found := map[string]bool{}
	for _, dir := range []string{"api", "cmd", "controllers", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && searchesText(call) {
					found[name] = true
					if _, ok := allowed[name]; !ok {
						t.Errorf("%s: searches in a text for people: use a typed value", files.Position(call.Pos()))
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range allowed {
		if !found[name] {
			t.Errorf("%s searches in no text: remove it from the list", name)
		}
	}
}

// searchesText reports whether a call looks for a part of a text for people.
func searchesText(call *ast.CallExpr) bool {
	function, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	if name, ok := function.X.(*ast.Ident); !ok || !slices.Contains(searches[name.Name], function.Sel.Name) {
		return false
	}
	text := call.Args[0]
	if method, ok := text.(*ast.CallExpr); ok { // a method call such as err.Error()
		text = method.Fun
	}
	selector, ok := text.(*ast.SelectorExpr)
	return ok && slices.Contains(texts, selector.Sel.Name)
}
