package main

import (
	"strings"
	"testing"
)

func TestExpand(t *testing.T) {
	var p predicates
	for _, definition := range [][2]string{
		{"fillsIndex()", "has(self.osb)"},
		{"isVariant(n)", "self.variants.exists(x, x.n == n)"},
		{"isCell(c)", "isVariant(c.variant) && c.?c != 'c'"},
	} {
		if err := p.add(definition[0], definition[1]); err != nil {
			t.Fatal(err)
		}
	}
	for rule, want := range map[string]string{
		"!fillsIndex() || size(self.a) > 0":       "!(has(self.osb)) || size(self.a) > 0",
		"self.list.all(c, isCell(c.cell))":        "self.list.all(c, ((self.variants.exists(x, x.n == c.cell.variant)) && c.cell.?c != 'c'))",
		"isVariant('a-b') && self.isVariant('x')": "(self.variants.exists(x, x.n == 'a-b')) && self.isVariant('x')",
		"isUnknown(self.a)":                       "isUnknown(self.a)", // unchanged: the API server refuses functions that CEL does not have
	} {
		if got, err := p.expand(rule); err != nil || got != want {
			t.Errorf("%s becomes %s (%v), want %s", rule, got, err, want)
		}
	}
}

func TestPredicate_wrong_isRefused(t *testing.T) {
	for want, definitions := range map[string][][2]string{
		"want NAME(PARAMETER, ...)": {{"a", "b"}},
		"defined twice":             {{"a()", "b"}, {"a()", "c"}},
		"want 1 arguments":          {{"a(x)", "x"}, {"b()", "a()"}},
	} {
		var p predicates
		var err error
		for _, d := range definitions {
			err = p.add(d[0], d[1])
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", definitions, err, want)
		}
	}
}
