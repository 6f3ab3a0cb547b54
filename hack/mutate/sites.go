package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// sites collects the changes of one function.
type sites struct {
	file, name string
	source     []byte
	set        *token.FileSet
	seen       map[string]int // changes so far, by kind
	found      []mutant
}

var swapped = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
	token.LAND: "||", token.LOR: "&&", token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*",
}

// visit adds the changes of one node of the syntax tree.
func (s *sites) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if with, ok := swapped[n.Op]; ok {
			s.add("operator", n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), with, n)
		}
	case *ast.IfStmt:
		s.negate(n.Cond)
	case *ast.SwitchStmt:
		if n.Tag == nil {
			for _, c := range n.Body.List {
				for _, condition := range c.(*ast.CaseClause).List {
					s.negate(condition)
				}
			}
		}
	case *ast.BasicLit:
		s.constant(n)
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "min" {
			s.add("bound", f.Pos(), f.End(), "max", n)
		} else if ok && f.Name == "max" {
			s.add("bound", f.Pos(), f.End(), "min", n)
		}
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.BranchStmt:
		s.add("removal", n.Pos(), n.End(), "", n)
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			s.add("removal", n.Pos(), n.End(), "", n)
		}
	}
	return true
}

// negate negates a condition. The other operator of an equation already does so.
func (s *sites) negate(condition ast.Expr) {
	if b, ok := condition.(*ast.BinaryExpr); ok && (b.Op == token.EQL || b.Op == token.NEQ) {
		return
	}
	s.add("condition", condition.Pos(), condition.End(), "!("+s.text(condition.Pos(), condition.End())+")", condition)
}

// constant adds 1 to an integer, and a quarter to a real number. It does not change rounding tolerances.
func (s *sites) constant(n *ast.BasicLit) {
	switch n.Kind {
	case token.INT:
		if v, err := strconv.Atoi(n.Value); err == nil {
			s.add("constant", n.Pos(), n.End(), strconv.Itoa(v+1), n)
		}
	case token.FLOAT:
		if v, err := strconv.ParseFloat(n.Value, 64); err == nil && v >= 1e-6 {
			s.add("constant", n.Pos(), n.End(), strconv.FormatFloat(1.25*v, 'g', -1, 64), n)
		}
	}
}

func (s *sites) add(kind string, from, to token.Pos, with string, around ast.Node) {
	s.seen[kind]++
	before, context := s.text(from, to), s.text(around.Pos(), around.End())
	changes := fmt.Sprintf("%q becomes %q", before, with)
	switch {
	case kind == "removal":
		changes = fmt.Sprintf("removes %q", before)
	case before != context:
		changes += fmt.Sprintf(" in %q", context)
	}
	id := fmt.Sprintf("%s.%s.%d", s.name, kind, s.seen[kind])
	s.found = append(s.found, newMutant(id, s.file, s.source, s.offset(from), s.offset(to), with, strings.Join(strings.Fields(changes), " ")))
}

func (s *sites) offset(p token.Pos) int { return s.set.Position(p).Offset }

func (s *sites) text(from, to token.Pos) string { return string(s.source[s.offset(from):s.offset(to)]) }
