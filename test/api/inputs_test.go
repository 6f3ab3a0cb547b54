package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// nasty are texts with a special meaning for a shell, a file name, YAML, JSON, a comma-separated list or Kubernetes'
// $(VAR).
var nasty = []string{
	"$(KNEE_TRIAL)", "$$(HOME)", "`id`", "$HOME", "a;b", "a b", "a|b", "a&b", "a\nb: c", "a\r\nb", "../../etc/passwd", "..", "/etc/passwd",
	"-rf", "--help", "=1+1", "+1", "@x", "a,b", "a:b", `a"b`, "a'b", `a\b`, "%s%n", "{{ 1 }}", "<b>", "é", "\u202e", "a\tb", "# x", " a", "a ",
}

// TestAdmission_nastyNames_areRefused checks that fields which name a file, an object, a task or an option refuse every nasty text.
// The list named takes contains the exceptions of a field.
func TestAdmission_nastyNames_areRefused(t *testing.T) {
	sample := read(t, "arm-vs-intel.yaml")
	for field, f := range map[string]struct {
		change string // %s is the value, as JSON
		takes  []string
	}{
		"a campaign's name":    {`metadata: {name: %s}`, nil},
		"a variant's name":     {`spec: {baseline: %[1]s, variants: [{name: %[1]s}]}`, nil},
		"a topology's name":    {`spec: {topologies: [{name: %s, primaries: 1}]}`, nil},
		"the index's name":     {`spec: {workload: {index: {name: %s}}}`, nil},
		"the body's key":       {`spec: {workload: {index: {bodyFrom: {name: a, key: %s}}}}`, []string{"-rf", "--help"}}, // names a file below a folder
		"the workload":         {`spec: {workload: {osb: {workload: %s}}}`, nil},
		"the test procedure":   {`spec: {workload: {osb: {testProcedure: %s}}}`, nil},
		"the clients' param":   {`spec: {workload: {osb: {clientsParam: %s}}}`, nil},
		"a param's name":       {`spec: {workload: {osb: {params: {%s: "1"}}}}`, nil},
		"a setting's name":     {`spec: {opensearch: {settings: {%s: "1"}}}`, nil},
		"a volume's folder":    {`spec: {workload: {osb: {from: {git: null, volume: {claimName: a, path: %s}}}}}`, []string{"/etc/passwd", "-rf", "--help"}}, // relative to the volume
		"an image's folder":    {`spec: {workload: {osb: {from: {git: null, image: {image: a, path: %s}}}}}`, []string{"/etc/passwd"}},
		"a git reference":      {`spec: {workload: {osb: {from: {git: {url: "https://example.org/a", ref: %s}}}}}`, nil},
		"the artifacts' path":  {`spec: {artifacts: {claimName: a, path: %s}}`, []string{"-rf", "--help"}}, // a folder of a volume; the kubelet mounts it
		"the refresh interval": {`spec: {topologies: [{name: a, primaries: 1, refreshInterval: %s}]}`, nil},
		"the rerun token":      {`spec: {rerun: %s}`, []string{"a:b"}}, // is only hashed
		"the JDK":              {`spec: {opensearch: {javaHome: %s}}`, []string{"/etc/passwd"}},
		"a point's token":      {`spec: {sweep: {rerun: [{variant: arm, topology: 6p0r, clients: 16, token: %s}]}}`, []string{"a:b"}}, // is only hashed and shown
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

// verbatim are the nasty texts that task names may contain. They reach opensearch-benchmark unchanged and without a
// shell. opensearch-benchmark splits its list at commas, reads the text before a colon as a filter, and trims spaces.
// So the API server refuses texts with commas, colons, or spaces at the beginning or end.
var verbatim = []string{"a;b", "a b", "a|b", "a&b", `a"b`, "a'b", `a\b`}

// TestAdmission_nastyParamsAndSettings_areAdmitted checks that values of params and settings may be any text. They reach the program
// unchanged; internal/resources tests this.
func TestAdmission_nastyParamsAndSettings_areAdmitted(t *testing.T) {
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
