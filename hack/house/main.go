// Command house prints the size of the code: packages, files, lines, and the longest function, file, line and CEL rule.
//
//	house                 prints the sizes of the product and of the tools
//	house packages PAGE   prints the Markdown page PAGE with a new list of packages, made from their doc comments
//	house rules CRD       prints the messages of the CEL rules on spec as a Markdown list
//
// The product is below api, cmd, controllers and internal. The tools are below test and below hack, without
// hack/cluster. Test files and generated files do not count.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// maxFiles and maxLines are the limits of a package.
const (
	maxFiles = 15
	maxLines = 2500
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	packages, err := readPackages(".")
	if err != nil {
		return err
	}
	switch {
	case len(args) == 2 && args[0] == "packages":
		page, err := os.ReadFile(args[1])
		if err != nil {
			return err
		}
		text, err := withPackageList(string(page), packages)
		fmt.Print(text)
		return err
	case len(args) == 2 && args[0] == "rules":
		text, err := specRules(args[1])
		fmt.Print(text)
		return err
	case len(args) > 0:
		return fmt.Errorf("unknown arguments %q: want none, packages PAGE or rules CRD", args)
	}
	printSizes("product", packages, "api", "cmd", "controllers", "internal")
	printSizes("tools", packages, "hack", "test")
	printSizes("  hack", packages, "hack")
	printSizes("  test", packages, "test")
	// The first file contains the rules that the API server evaluates. The second file is the source of the rules on
	// spec.
	for _, file := range []string{"config/crd/bases/knee.dev_benchmarkcampaigns.yaml", "api/v1alpha1/campaign_rules.yaml"} {
		rules, err := readRules(file)
		if err != nil {
			return err
		}
		printRules(file, rules)
	}
	return nil
}

// printSizes prints the sizes of the packages below the roots.
func printSizes(title string, packages []pkg, roots ...string) {
	var total pkg
	var tooLarge []pkg
	count := 0
	for _, p := range packages {
		if p.files == 0 || !slices.Contains(roots, p.root()) {
			continue
		}
		count++
		total.add(p)
		if p.files > maxFiles || p.lines > maxLines {
			tooLarge = append(tooLarge, p)
		}
	}
	fmt.Printf("%-8s %5d packages, %d files, %d lines\n", title, count, total.files, total.lines)
	if strings.HasPrefix(title, " ") {
		return
	}
	fmt.Printf("  %-17s %5d lines       %s\n", "longest function", total.function.size, total.function.place)
	fmt.Printf("  %-17s %5d lines       %s\n", "longest file", total.file.size, total.file.place)
	fmt.Printf("  %-17s %5d characters  %s\n", "longest line", total.line.size, total.line.place)
	fmt.Printf("  packages with more than %d files or %d lines: %d\n", maxFiles, maxLines, len(tooLarge))
	for _, p := range tooLarge {
		fmt.Printf("    %-30s %3d files  %5d lines\n", p.path, p.files, p.lines)
	}
}

func printRules(file string, rules []celRule) {
	characters := map[string]int{}
	counts := map[string]int{}
	var longest celRule
	var largest string
	for _, r := range rules {
		characters[r.path] += len(r.text)
		counts[r.path]++
		if len(r.text) > len(longest.text) {
			longest = r
		}
		if characters[r.path] > characters[largest] {
			largest = r.path
		}
	}
	fmt.Printf("CEL      %5d rules     %s\n", len(rules), file)
	fmt.Printf("  %-17s %5d characters  %s\n", "longest rule", len(longest.text), longest.path)
	fmt.Printf("  %-17s %5d characters  %s (%d rules)\n", "most at one place", characters[largest], largest, counts[largest])
}
