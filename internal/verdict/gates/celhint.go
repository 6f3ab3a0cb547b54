package gates

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var wrongName = regexp.MustCompile(`undefined field '([^']*)'|undeclared reference to '([^']*)'`)

// suggestFix returns a hint for an error message of CEL. For an unknown name, it suggests similar known names. For mixed number
// types, it explains the fix.
func suggestFix(message string) string {
	m := wrongName.FindStringSubmatch(message)
	if m == nil {
		if strings.Contains(message, "no matching overload") {
			return "a fraction and a whole number can be compared only with <, <=, > and >=: with == and in arithmetic, write 0.0 instead of 0"
		}
		return ""
	}
	wrong := m[1] + m[2]
	type candidate struct {
		text string
		far  int
	}
	var near []candidate
	for _, k := range viewKinds() {
		for _, f := range k.fields {
			far := distance(strings.ToLower(wrong), strings.ToLower(f.Name))
			if far <= max(2, len(wrong)/3) || len(wrong) > 2 && strings.Contains(strings.ToLower(f.Name), strings.ToLower(wrong)) {
				near = append(near, candidate{fmt.Sprintf("%s of a %s", f.Name, k.name), far})
			}
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.far - b.far })
	var names []string
	for _, c := range near[:min(len(near), 3)] {
		names = append(names, c.text)
	}
	switch {
	case m[2] != "" && len(names) == 0:
		return "the only variable is trial; docs/gates.md lists its fields"
	case m[2] != "":
		return "the only variable is trial; known: " + strings.Join(names, ", ")
	case len(names) == 0:
		return "docs/gates.md lists the fields; a Node has " + fieldNames(nodeKind, 4) + ", a Trial " + fieldNames(trialKind, 8) + " and more"
	}
	return "known: " + strings.Join(names, ", ")
}

func fieldNames(k *viewKind, n int) string {
	var out []string
	for _, f := range k.fields[:n] {
		out = append(out, f.Name)
	}
	return strings.Join(out, ", ")
}

// distance returns the number of characters to insert, delete or replace to change a into b (Levenshtein 1966).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
