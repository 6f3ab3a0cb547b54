package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// predicates are the predicates that a file defines, in order.
type predicates struct {
	list []predicate
}

// predicate is an expression with a name and parameters.
type predicate struct {
	name       string
	parameters []string
	expression string // calls of other predicates are already replaced
	used       bool
}

var (
	headPattern = regexp.MustCompile(`^(\w+)\(([\w, ]*)\)$`)
	// callPattern matches a call whose arguments are names, fields or string literals. A method call matches with its
	// leading dot, so its name is not that of a predicate.
	callPattern = regexp.MustCompile(`([.?]?\b\w+)\(([\w.', -]*)\)`)
	// wordPattern matches a string literal, a name, or a field name with its leading dot.
	wordPattern = regexp.MustCompile(`'[^']*'|[.?]*\w+`)
)

// add defines a predicate. head is for example isVariant(n). The expression may call predicates that were defined
// before.
func (p *predicates) add(head, expression string) error {
	m := headPattern.FindStringSubmatch(head)
	if m == nil {
		return fmt.Errorf("predicate %q: want NAME(PARAMETER, ...)", head)
	}
	if p.find(m[1]) != nil {
		return fmt.Errorf("predicate %s is defined twice", m[1])
	}
	expanded, err := p.expand(expression)
	if err != nil {
		return fmt.Errorf("predicate %s: %w", m[1], err)
	}
	p.list = append(p.list, predicate{name: m[1], parameters: splitList(m[2]), expression: expanded})
	return nil
}

// expand replaces the calls of predicates in an expression. The arguments must not contain calls.
func (p *predicates) expand(expression string) (string, error) {
	var problem error
	out := callPattern.ReplaceAllStringFunc(expression, func(call string) string {
		m := callPattern.FindStringSubmatch(call)
		called, arguments := p.find(m[1]), splitList(m[2])
		if called == nil {
			return call // the call is a function of CEL
		}
		called.used = true
		if len(arguments) != len(called.parameters) {
			problem = fmt.Errorf("%s: want %d arguments", call, len(called.parameters))
			return call
		}
		return "(" + replaceNames(called.expression, called.parameters, arguments) + ")"
	})
	return out, problem
}

func (p *predicates) find(name string) *predicate {
	i := slices.IndexFunc(p.list, func(q predicate) bool { return q.name == name })
	if i < 0 {
		return nil
	}
	return &p.list[i]
}

func (p *predicates) unused() []string {
	var out []string
	for _, q := range p.list {
		if !q.used {
			out = append(out, q.name)
		}
	}
	return out
}

// replaceNames replaces names in an expression. It does not change string literals, and it does not change fields that
// have the same name.
func replaceNames(expression string, names, by []string) string {
	return wordPattern.ReplaceAllStringFunc(expression, func(word string) string {
		if i := slices.Index(names, word); i >= 0 {
			return by[i]
		}
		return word
	})
}

func splitList(list string) []string {
	if strings.TrimSpace(list) == "" {
		return nil
	}
	var out []string
	for _, item := range strings.Split(list, ",") {
		out = append(out, strings.TrimSpace(item))
	}
	return out
}
