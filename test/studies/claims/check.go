package claims

import (
	"fmt"
	"slices"
	"strings"
)

// Verdict is the result of a check.
type Verdict string

// Agrees and Contradicts are the verdicts.
const (
	Agrees      Verdict = "agrees within rounding"
	Contradicts Verdict = "contradicts"
)

// Check compares a printed figure with the same figure computed from other figures of the document.
type Check struct {
	Document   string // 000 to 004
	Key        string // key of the printed figure
	Place      string
	Printed    string
	Recomputed string
	Verdict    Verdict
	Expected   Verdict
	Note       string // how the figure was computed, or what explains a contradiction

	worked *span // nil if the figure is a label, or if the check is about an order
}

// OK reports whether the verdict is the expected one.
func (c Check) OK() bool { return c.Verdict == c.Expected }

// Documents returns the numbers of the five documents, in order.
func Documents() []string { return []string{"000", "001", "002", "003", "004"} }

var checks = map[string]func(*checker){"000": checkArmVsIntel, "001": checkStream, "002": checkInstanceTypes, "003": checkBulkIndexer, "004": checkOzone}

// Run makes the checks of a document with the given figures. It also returns the keys of the figures that no check
// uses.
func Run(document string, figures Figures) (made []Check, unused []string, err error) {
	check, ok := checks[document]
	if !ok {
		return nil, nil, fmt.Errorf("no document %q", document)
	}
	c := &checker{document: document, figures: figures, used: map[string]bool{}}
	check(c)
	if len(c.problems) > 0 {
		return nil, nil, fmt.Errorf("document %s: %s", document, strings.Join(c.problems, "; "))
	}
	for key := range figures {
		if !c.used[key] {
			unused = append(unused, key)
		}
	}
	slices.Sort(unused)
	return c.checks, unused, nil
}

// checker collects the checks of one document.
type checker struct {
	document string
	figures  Figures
	used     map[string]bool
	checks   []Check
	problems []string
}

// text returns a figure as it was printed.
func (c *checker) text(key string) string {
	f, ok := c.figures[key]
	if !ok {
		c.problems = append(c.problems, fmt.Sprintf("there is no figure %q", key))
	}
	c.used[key] = true
	return f.Printed
}

func (c *checker) printed(key string) printed {
	p, err := parse(c.text(key))
	if err != nil {
		c.problems = append(c.problems, fmt.Sprintf("figure %q: %v", key, err))
	}
	return p
}

// of returns the range of a printed figure before it was rounded.
func (c *checker) of(key string) span { return c.printed(key).rounded() }

// count returns a figure that is not rounded, for example clients, rows or requests.
func (c *checker) count(key string) float64 { return c.printed(key).value }

// agrees checks that a printed figure equals the computed one, within rounding.
func (c *checker) agrees(key string, got span, note string) {
	p := c.printed(key)
	c.compare(key, p, p.rounded(), got, Agrees, note)
}

// agreesTruncated is like agrees, for a figure whose further digits were cut off.
func (c *checker) agreesTruncated(key string, got span, note string) {
	p := c.printed(key)
	c.compare(key, p, p.truncated(), got, Agrees, note)
}

// contradicts checks that a printed figure differs from the computed one. The report lists the contradiction with the
// note.
func (c *checker) contradicts(key string, got span, note string) {
	p := c.printed(key)
	c.compare(key, p, p.rounded(), got, Contradicts, note)
}

func (c *checker) compare(key string, p printed, figure, got span, expected Verdict, note string) {
	verdict := Contradicts
	if figure.overlaps(got) {
		verdict = Agrees
	}
	c.add(key, got.show(p.decimals()), verdict, expected, note)
	c.checks[len(c.checks)-1].worked = &got
}

// holds adds the check of a condition on a printed figure. The condition is not an equality, so the caller evaluates it
// and passes the result as ok. recomputed is the text for the computed figure.
func (c *checker) holds(key string, ok bool, recomputed string, expected Verdict, note string) {
	verdict := Contradicts
	if ok {
		verdict = Agrees
	}
	c.add(key, recomputed, verdict, expected, note)
}

func (c *checker) add(key, recomputed string, verdict, expected Verdict, note string) {
	text := c.text(key)
	c.checks = append(c.checks, Check{Document: c.document, Key: key, Place: c.figures[key].Place, Printed: text, Recomputed: recomputed,
		Verdict: verdict, Expected: expected, Note: note})
}

// rising checks that no figure is lower than the one before.
func (c *checker) rising(keys ...string) {
	for i := 1; i < len(keys); i++ {
		before, after := c.count(keys[i-1]), c.count(keys[i])
		c.holds(keys[i], before <= after, "at least "+c.text(keys[i-1]), Agrees, "order of "+c.figures[keys[i-1]].Place)
	}
}
