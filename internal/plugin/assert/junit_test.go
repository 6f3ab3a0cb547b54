package assert

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// junitSchema has the elements of JUnit XML that Knee writes, with the elements and the attributes that the schema of Jenkins' xUnit plugin
// (junit-10.xsd) allows in them.
var junitSchema = map[string]struct{ elements, required, optional []string }{
	"":           {elements: []string{"testsuites"}},
	"testsuites": {elements: []string{"testsuite"}, optional: []string{"name", "time", "tests", "failures", "errors"}},
	"testsuite": {
		elements: []string{"properties", "testcase", "system-out"},
		required: []string{"name", "tests", "failures", "errors"}, optional: []string{"time", "skipped", "timestamp"},
	},
	"properties": {elements: []string{"property"}},
	"property":   {required: []string{"name", "value"}},
	"testcase":   {elements: []string{"skipped", "error", "failure", "system-out"}, required: []string{"name"}, optional: []string{"time", "classname"}},
	"failure":    {optional: []string{"type", "message"}},
	"error":      {optional: []string{"type", "message"}},
	"skipped":    {optional: []string{"type", "message"}},
	"system-out": {},
}

// checkJUnit checks a document against junitSchema.
func checkJUnit(t *testing.T, text []byte) {
	t.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(text))
	path := []string{""}
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			parent, name := path[len(path)-1], e.Name.Local
			if !slices.Contains(junitSchema[parent].elements, name) {
				t.Errorf("<%s> is not allowed in <%s>", name, parent)
			}
			kind := junitSchema[name]
			var names []string
			for _, a := range e.Attr {
				names = append(names, a.Name.Local)
				if !slices.Contains(slices.Concat(kind.required, kind.optional), a.Name.Local) {
					t.Errorf("<%s> has the attribute %s, which is not allowed", name, a.Name.Local)
				}
			}
			for _, required := range kind.required {
				if !slices.Contains(names, required) {
					t.Errorf("<%s> lacks the attribute %s", name, required)
				}
			}
			path = append(path, name)
		case xml.EndElement:
			path = path[:len(path)-1]
		}
	}
}

func figure(f float64) *float64 { return &f }

// reportOfEachResult returns a report with one comparison of each result, and texts that markup has to escape.
func reportOfEachResult() Report {
	r := Report{
		Namespace: "default", Campaign: "x", MaxRegressionPercent: 2.5, LowestRatio: 0.975,
		Doubt:     &Doubt{Reason: "ClientBound", Message: "a | b <script>\x1b[1m ![x](http://example.org) \x00"},
		startedAt: &metav1.Time{Time: time.Unix(1751371200, 0)}, completedAt: &metav1.Time{Time: time.Unix(1751371200+90000, 0)},
	}
	for _, result := range []Result{Passed, Inconclusive, NotMeasured, Regression} {
		c := Comparison{Variant: "b" + string(result), Topology: "t", Baseline: "a", Result: result, Why: "because of <" + string(result) + "> & more"}
		if result != NotMeasured {
			c.Clients, c.Ratio, c.Low, c.High, c.ConfidencePercent = 16, figure(1.02), figure(0.99), figure(1.05), figure(98.75)
		}
		r.Comparisons = append(r.Comparisons, c)
	}
	return r
}

func TestJUnit_eachResult_followsSchema(t *testing.T) {
	for allowed, want := range map[bool][4]int{false: {4, 1, 2, 0}, true: {4, 1, 1, 1}} {
		text, err := JUnit(reportOfEachResult(), allowed)
		if err != nil {
			t.Fatal(err)
		}
		checkJUnit(t, text)
		var got junitSuites
		if err := xml.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		counts := [4]int{got.Suite.Tests, got.Suite.Failures, got.Suite.Errors, got.Suite.Skipped}
		if counts != want || got.Tests != want[0] || got.Failures != want[1] || got.Errors != want[2] {
			t.Errorf("inconclusive allowed %v: tests, failures, errors, skipped are %v, want %v, in\n%s", allowed, counts, want, text)
		}
		if last := got.Suite.Cases[3]; last.Failure == nil || last.Failure.Message != "because of <Regression> & more" || last.Name != "bRegression against a on t at 16 clients" {
			t.Errorf("%+v", last)
		}
		if got.Suite.Time != 90000 || got.Suite.Timestamp != "2025-07-01T12:00:00" || strings.Contains(string(text), "\x1b") {
			t.Errorf("%s", text)
		}
	}
}

func TestMarkdown_escapesTexts(t *testing.T) {
	r := reportOfEachResult()
	text := Markdown(r, false)
	for _, want := range []string{
		"### Benchmark campaign default/x failed\n", "Largest allowed regression 2.5 %: a ratio of at least 0.975.\n",
		`| bPassed | a | t | 16 | 1.0200 | \[0.9900, 1.0500\] | 98.75 % | Passed | because of \<Passed\> \& more |`,
		`| bNotMeasured | a | t | - | - | - | - | NotMeasured |`,
		`a \| b \<script\> \[1m \!\[x\](http://example.org)`, "[ClientBound](https://github.com/",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	r.Comparisons = r.Comparisons[:2]
	if text := Markdown(r, true); !strings.HasPrefix(text, "### Benchmark campaign default/x passed\n") {
		t.Error(text)
	}
}
