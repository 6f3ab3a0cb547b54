package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// quotas is the number of generated mutants of each folder.
var quotas = []struct {
	folder string
	count  int
}{
	{"internal/decide", 26},
	{"internal/verdict/campaign", 24},
	{"internal/verdict/doubts", 10},
	{"internal/verdict/environment", 8},
	{"internal/verdict/gates", 8},
	{"internal/verdict/stats", 14},
	{"internal/verdict/sweep", 14},
}

// seed selects the generated mutants.
const seed = 1

// generate returns the generated mutants. The hash of the seed, the place and the code before selects them, so an edit of one
// function does not change the mutants of other functions. A change that does not compile is no mutant.
func generate() ([]mutant, error) {
	var out []mutant
	for _, q := range quotas {
		candidates, err := candidatesIn(q.folder)
		if err != nil {
			return nil, err
		}
		compiles, err := newChecker(q.folder)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(candidates, func(a, b mutant) int {
			if x, y := hash(a), hash(b); x != y {
				if x < y {
					return -1
				}
				return 1
			}
			return strings.Compare(a.id, b.id)
		})
		found := 0
		for _, m := range candidates {
			if found < q.count && compiles(m) {
				out = append(out, m)
				found++
			}
		}
	}
	return out, nil
}

func hash(m mutant) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s %s", seed, m.id, m.changes)
	x := h.Sum64() // FNV mixes its last bytes badly
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return x
}

// candidatesIn returns all changes of the functions of a package.
func candidatesIn(folder string) ([]mutant, error) {
	files, err := filepath.Glob(folder + "/*.go")
	if err != nil {
		return nil, err
	}
	var out []mutant
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, source, 0)
		if err != nil {
			return nil, err
		}
		for _, d := range tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			s := sites{file: file, source: source, set: set, name: filepath.Base(folder) + "/" + functionName(f), seen: map[string]int{}}
			ast.Inspect(f.Body, s.visit)
			out = append(out, s.found...)
		}
	}
	return out, nil
}

func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "." + f.Name.Name
	}
	return f.Name.Name
}
