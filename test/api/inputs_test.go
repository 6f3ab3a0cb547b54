package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// nasty is what a shell, a file name, YAML, JSON, a comma-separated list or Kubernetes' own $(VAR) would take for more
// than text.
var nasty = []string{
	"$(KNEE_TRIAL)", "$$(HOME)", "`id`", "$HOME", "a;b", "a b", "a|b", "a&b", "a\nb: c", "a\r\nb", "../../etc/passwd", "..", "/etc/passwd",
	"-rf", "--help", "=1+1", "+1", "@x", "a,b", "a:b", `a"b`, "a'b", `a\b`, "%s%n", "{{ 1 }}", "<b>", "é", "\u202e", "a\tb", "# x", " a", "a ",
}

// Every field of text that names a file, an object, a task or an option takes none of them; those that may are here with
// what they may.
func TestNastyTextIsRefused(t *testing.T) {
	sample := read(t, "arm-vs-intel.yaml")
	for field, f := range map[string]struct {
		change string // %s is the value, as JSON
		takes  []string
	}{
		"a campaign's name":    {`metadata: {name: %s}`, nil},
		"a variant's name":     {`spec: {baseline: %[1]s, variants: [{name: %[1]s}]}`, nil},
		"a topology's name":    {`spec: {topologies: [{name: %s, primaries: 1}]}`, nil},
		"the index's name":     {`spec: {workload: {index: {name: %s}}}`, nil},
		"the body's key":       {`spec: {workload: {index: {bodyFrom: {name: a, key: %s}}}}`, []string{"-rf", "--help"}}, // a file below a folder
		"the workload":         {`spec: {workload: {osb: {workload: %s}}}`, nil},
		"the test procedure":   {`spec: {workload: {osb: {testProcedure: %s}}}`, nil},
		"the clients' param":   {`spec: {workload: {osb: {clientsParam: %s}}}`, nil},
		"a param's name":       {`spec: {workload: {osb: {params: {%s: "1"}}}}`, nil},
		"a setting's name":     {`spec: {opensearch: {settings: {%s: "1"}}}`, nil},
		"a volume's folder":    {`spec: {workload: {osb: {from: {git: null, volume: {claimName: a, path: %s}}}}}`, []string{"/etc/passwd", "-rf", "--help"}}, // below the volume
		"an image's folder":    {`spec: {workload: {osb: {from: {git: null, image: {image: a, path: %s}}}}}`, []string{"/etc/passwd"}},
		"a git reference":      {`spec: {workload: {osb: {from: {git: {url: "https://example.org/a", ref: %s}}}}}`, nil},
		"the artifacts' path":  {`spec: {artifacts: {claimName: a, path: %s}}`, []string{"-rf", "--help"}}, // a folder of a volume, mounted by the kubelet
		"the refresh interval": {`spec: {topologies: [{name: a, primaries: 1, refreshInterval: %s}]}`, nil},
		"the rerun token":      {`spec: {rerun: %s}`, []string{"a:b"}}, // only ever hashed
		"the JDK":              {`spec: {opensearch: {javaHome: %s}}`, []string{"/etc/passwd"}},
		"a point's token":      {`spec: {sweep: {rerun: [{variant: arm, topology: 6p0r, clients: 16, token: %s}]}}`, []string{"a:b"}}, // only ever hashed and shown
		"the currency":         {`spec: {currency: %s}`, nil},
		"OpenSearch's version": {`spec: {opensearch: {version: %s}}`, nil},
		"a setup task":         {`spec: {workload: {osb: {setupTasks: [%s]}}}`, verbatim},
		"an ingest task":       {`spec: {workload: {osb: {ingestTasks: [%s]}}}`, verbatim},
		"a search task":        {`spec: {workload: {osb: {searchTasks: [%s]}}}`, verbatim},
	} {
		t.Run(field, func(t *testing.T) {
			for _, text := range nasty {
				value, err := json.Marshal(text)
				if err != nil {
					t.Fatal(err)
				}
				admitted := false
				for _, ok := range f.takes {
					admitted = admitted || text == ok
				}
				err = create(t, merged(t, sample, fmt.Sprintf(f.change, value)))
				switch {
				case admitted && err != nil:
					t.Errorf("%q is refused: %v", text, err)
				case !admitted && err == nil:
					t.Errorf("%q is admitted", text)
				case err != nil && (strings.Contains(err.Error(), "rule compile error") || strings.Contains(err.Error(), "unknown field")):
					t.Errorf("%q: %v", text, err)
				}
			}
		})
	}
}

// verbatim are the task names that reach opensearch-benchmark as they are: it splits its list at commas, takes what
// stands before a colon for a filter, and trims. No shell is between.
var verbatim = []string{"a;b", "a b", "a|b", "a&b", `a"b`, "a'b", `a\b`}

// Values of params, settings and JVM options are text of the campaign's author: any is admitted, and reaches the program
// as it is (internal/resources shows it).
func TestNastyValuesAreAdmitted(t *testing.T) {
	sample := read(t, "arm-vs-intel.yaml")
	for _, text := range nasty {
		value, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range []string{
			`spec: {workload: {osb: {params: {x: %s}}}}`, `spec: {opensearch: {settings: {a.b: %s}}}`,
		} {
			if err := create(t, merged(t, sample, fmt.Sprintf(change, value))); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
}
