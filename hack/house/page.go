package main

import (
	"fmt"
	"strings"
)

// listBegins and listEnds are the lines of a page around the list of packages.
const (
	listBegins = "<!-- packages: written by `make generate` from the doc comments -->\n"
	listEnds   = "<!-- end of packages -->\n"
)

// withPackageList returns a page with a new list of packages.
func withPackageList(page string, packages []pkg) (string, error) {
	before, rest, found := strings.Cut(page, listBegins)
	_, after, ended := strings.Cut(rest, listEnds)
	if !found || !ended {
		return "", fmt.Errorf("the page needs the lines %q and %q, with the list between them", listBegins, listEnds)
	}
	var b strings.Builder
	b.WriteString("| package | what it does |\n| --- | --- |\n")
	for _, p := range packages {
		if p.root() == "hack/cluster" && p.path != "hack/cluster" {
			continue // hack/cluster/README.md describes the module
		}
		if p.summary == "" {
			return "", fmt.Errorf("%s has no doc comment: add one that starts with \"Package\" or \"Command\" and its name", p.path)
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", p.path, strings.ReplaceAll(p.summary, "|", `\|`))
	}
	return before + listBegins + b.String() + listEnds + after, nil
}
