package v1alpha1_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// conditionReasons returns the reasons of conditions.go by the section of docs/troubleshooting.md that explains them. A section has the
// words that follow "Reasons of" above the constants.
func conditionReasons(t *testing.T) map[string][]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "conditions.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		section, isReasons := strings.CutPrefix(strings.TrimRight(group.Doc.Text(), ".\n"), "Reasons of ")
		for _, spec := range group.Specs {
			value := spec.(*ast.ValueSpec)
			if name := value.Names[0].Name; isReasons != strings.HasPrefix(name, "Reason") {
				t.Errorf("%s is in the wrong group of constants", name)
			}
			if !isReasons {
				continue
			}
			text, err := strconv.Unquote(value.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			out[section] = append(out[section], text)
		}
	}
	return out
}

// TestTroubleshooting_explainsEachReason checks that docs/troubleshooting.md has exactly one entry for each reason of a condition, that each
// entry says what the reason means and what the user does, and that the page has no other entries.
func TestTroubleshooting_explainsEachReason(t *testing.T) {
	page, err := os.ReadFile("../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	entries := map[string][]string{} // by section and reason
	for _, section := range strings.Split(string(page), "\n## ")[1:] {
		title, text, _ := strings.Cut(section, "\n")
		for _, entry := range strings.Split(text, "\n### ")[1:] {
			reason, text, _ := strings.Cut(entry, "\n")
			entries[title+": "+reason] = append(entries[title+": "+reason], text)
		}
	}
	total := 0
	for section, reasons := range conditionReasons(t) {
		total += len(reasons)
		form := regexp.MustCompile(`^[A-Z\x60d][^\n]+\n(?:[^-\n][^\n]*\n)*(- \*\*Knee\*\* [^\n]+\n(?:  [^\n]+\n)*)?- \*\*You\*\* [^\n]+(?:\n  [^\n]+)*\n*$`)
		for _, reason := range reasons {
			texts := entries[section+": "+reason]
			delete(entries, section+": "+reason)
			if len(texts) != 1 {
				t.Errorf("docs/troubleshooting.md has %d entries for %s in the section %q, want 1", len(texts), reason, section)
				continue
			}
			found := form.FindStringSubmatch(texts[0])
			if found == nil {
				t.Errorf("the entry for %s must have a meaning and then what you do (- **You** ...):\n%s", reason, texts[0])
				continue
			}
			if section != "Conclusive" && found[1] == "" {
				t.Errorf("the entry for %s does not say what Knee does (- **Knee** ...)", reason)
			}
		}
	}
	for entry := range entries {
		t.Errorf("docs/troubleshooting.md has an entry for an unknown reason: %s", entry)
	}
	if total < 40 {
		t.Errorf("conditions.go has only %d reasons", total)
	}
}
