package monitoring_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/internal/monitoring"
)

var update = flag.Bool("update", false, "write the generated files of config/prometheus and the tables of docs/metrics.md")

const command = "run go test ./internal/monitoring -update"

// TestFiles_areCurrent checks the files that are made from this package.
func TestFiles_areCurrent(t *testing.T) {
	const notice = "# Code generated from internal/monitoring. DO NOT EDIT: " + command + ".\n"
	yamlOf := func(o any) string {
		text, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		return notice + string(text)
	}
	var dashboard bytes.Buffer
	encoder := json.NewEncoder(&dashboard)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(monitoring.NewDashboard()); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"../../config/prometheus/rules.yaml":           yamlOf(monitoring.Rules()),
		"../../config/prometheus/prometheus_rule.yaml": yamlOf(monitoring.RuleObject()),
		"../../config/prometheus/dashboard.json":       dashboard.String(),
		"../../docs/metrics.md":                        withTables(t, "../../docs/metrics.md"),
	} {
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s is not current (error %v): %s", path, err, command)
		}
	}
}

// withTables returns a page with current tables. Each table is between the lines <!-- begin NAME --> and <!-- end NAME -->.
func withTables(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(data)
	for name, table := range map[string]string{
		"observed": metricTable(monitoring.Observed()), "counted": metricTable(monitoring.Counted()), "alerts": alertTable(), "labels": labelTable(),
	} {
		begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->\n"
		before, rest, found := strings.Cut(doc, begin)
		_, after, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Fatalf("%s has no place for the table %s", path, name)
		}
		doc = before + begin + table + end + after
	}
	return doc
}

func row(b *strings.Builder, cells ...string) {
	for i := range cells {
		cells[i] = strings.ReplaceAll(cells[i], "|", "\\|")
	}
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}

func metricTable(metrics []monitoring.Metric) string {
	var b strings.Builder
	row(&b, "metric", "type", "labels", "meaning")
	row(&b, "---", "---", "---", "---")
	for _, m := range metrics {
		row(&b, "`"+m.Name+"`", string(m.Type), strings.Join(m.Labels, ", "), m.Help)
	}
	return b.String()
}

func alertTable() string {
	var b strings.Builder
	row(&b, "alert", "expression", "for", "what to do")
	row(&b, "---", "---", "---", "---")
	for _, a := range monitoring.Alerts() {
		row(&b, "`"+a.Name+"`", "`"+a.Expression()+"`", a.For, a.Advice)
	}
	return b.String()
}

func labelTable() string {
	var b strings.Builder
	row(&b, "label", "of", "values")
	row(&b, "---", "---", "---")
	for _, state := range monitoring.CampaignStates() {
		row(&b, "`reason`", "campaigns in `state` "+string(state), strings.Join(monitoring.CampaignReasons(state), ", "))
	}
	row(&b, "`state`", "nodes", list(monitoring.NodeStates()))
	row(&b, "`phase`", "attempts and trials", list(monitoring.Phases()))
	row(&b, "`verdict`", "attempts", list(monitoring.Verdicts()))
	row(&b, "`reason`", "retries", list(monitoring.RetryReasons()))
	return b.String()
}

func list[T ~string](values []T) string {
	var out []string
	for _, v := range values {
		out = append(out, string(v))
	}
	return strings.Join(out, ", ")
}
