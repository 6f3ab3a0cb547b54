package resources_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers/osb/osbconfig"
	"github.com/knee-bench/knee/internal/drivers/osb/osbtool"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/driverconfig"
	"github.com/knee-bench/knee/test/wrappers"
)

// expanded replaces the variables in a value as the kubelet does. The code of the kubelet
// (k8s.io/kubernetes/third_party/forked/golang/expansion) cannot be imported without all of Kubernetes, so this
// function repeats its rules. $(NAME) is replaced if NAME is known, otherwise it stays. $$ becomes $. Any other $
// stays.
func expanded(value string, known map[string]string) string {
	var out strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] != '$' || i+1 == len(value) {
			out.WriteByte(value[i])
			continue
		}
		i++
		switch end := strings.IndexByte(value[i:], ')'); {
		case value[i] == '$':
			out.WriteByte('$')
		case value[i] == '(' && end > 0:
			name := value[i+1 : i+end]
			if v, ok := known[name]; ok {
				out.WriteString(v)
			} else {
				out.WriteString("$(" + name + ")")
			}
			i += end
		default:
			out.WriteByte('$')
			out.WriteByte(value[i])
		}
	}
	return out.String()
}

func TestExpanded(t *testing.T) {
	for value, want := range map[string]string{
		"$(A)": "1", "a$(A)b": "a1b", "$(B)": "$(B)", "$$(A)": "$(A)", "$$$(A)": "$1", "$A": "$A", "$": "$", "$(A": "$(A", "$$": "$",
	} {
		if got := expanded(value, map[string]string{"A": "1"}); got != want {
			t.Errorf("%q gives %q, want %q", value, got, want)
		}
	}
}

// nasty holds texts that have a special meaning in a shell, a file name, YAML, JSON, a comma-separated list or
// Kubernetes' $(VAR).
var nasty = []string{
	"$(KNEE_HOST)", "$$(KNEE_HOST)", "$$$(KNEE_HOST)", "$KNEE_HOST", "${HOSTNAME}", "$", "$(", "`id`", "a;b", "a|b&c", "a\nnetwork.host: 0", "a\r\nb",
	"../../etc/passwd", "-rf", "=1+1", "a,b", "a: b", `a"b`, "a'b", `a\b`, `\u0000`, "%s%n", "{{ 1 }}", "{% x %}", "<b>&", "é 漢 \u202e", "a\tb", "# x", " a ", "null", "~", "- a",
	"[a", "{a", "!!x", "&a", "*a", "|", ">", "",
}

func environmentOf(c corev1.Container, name string) string {
	for _, e := range c.Env {
		if e.Name == name {
			return expanded(e.Value, map[string]string{"KNEE_HOST": "a-host", record.ConfigEnv: "the config"})
		}
	}
	return ""
}

// TestJob_nastyValues_reachAgentUnchanged checks that the values of a campaign reach the agent, and through the agent
// the driver, exactly as written.
func TestJob_nastyValues_reachAgentUnchanged(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("a")
	w.Spec.Workload.OSB.Params = map[string]v1alpha1.ParamValue{}
	w.Spec.Workload.OSB.SearchTasks = nil
	for i, text := range nasty {
		w.Spec.Workload.OSB.Params["p"+string(rune('A'+i))] = v1alpha1.ParamValue(text)
		w.Spec.Workload.OSB.IngestTasks = append(w.Spec.Workload.OSB.IngestTasks, text)
	}
	p, cell := cellOf(w)
	attempt := attemptOf(cell, record.Sweep)
	job, err := resources.Job(w.Obj(), p, cell, attempt, resources.Running{}, options)
	if err != nil {
		t.Fatal(err)
	}
	told := environmentOf(job.Spec.Template.Spec.Containers[0], record.ConfigEnv)
	var got record.Config
	if err := json.Unmarshal([]byte(told), &got); err != nil {
		t.Fatalf("%v:\n%s", err, told)
	}
	if diff := cmp.Diff(resources.Config(w.Obj(), p, cell, attempt, resources.Running{}), got); diff != "" {
		t.Errorf("the agent is told something else (-want +got):\n%s", diff)
	}
	// The driver reads its parameters from a JSON file.
	data, err := osbtool.EncodeParams(driverconfig.Of[osbconfig.Config](got).Params)
	if err != nil {
		t.Fatal(err)
	}
	var params map[string]any
	if err := json.Unmarshal(data, &params); err != nil {
		t.Fatal(err)
	}
	for i, text := range nasty {
		if value := params["p"+string(rune('A'+i))]; value != text {
			t.Errorf("the parameter %q is %q", text, value)
		}
	}
}

func TestJavaOptions_nastyText_reachesImageUnchanged(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("a")
	w.Spec.OpenSearch.JavaOptions = []string{"-Da=$(KNEE_HOST)", "-Db=$$(HOME)", "-Dc=`id`", "-XX:OnOutOfMemoryError=a;b"}
	_, cell := cellOf(w)
	sts := resources.StatefulSet(w.Obj(), cell, resources.Placement{Number: 1}, options, 1, now)
	got := environmentOf(sts.Spec.Template.Spec.Containers[0], "OPENSEARCH_JAVA_OPTS")
	if want := strings.Join(w.Spec.OpenSearch.JavaOptions, " "); !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSettings_nastyText_staysOneSetting checks that a setting stays one setting, whatever its value contains.
func TestSettings_nastyText_staysOneSetting(t *testing.T) {
	for _, text := range nasty {
		w := wrappers.MakeCampaign("x").Variant("a")
		_, plain := cellOf(w)
		w.Spec.OpenSearch.Settings = map[string]v1alpha1.ParamValue{"action.a": v1alpha1.ParamValue(text), "action.b": "x"}
		_, cell := cellOf(w)
		cell.Name = plain.Name
		var want, got map[string]any
		if err := yaml.Unmarshal([]byte(resources.Settings(plain)), &want); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal([]byte(resources.Settings(cell)), &got); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		want["action.a"], want["action.b"] = text, "x"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// TestConfig_paths_stayBelowTheirFolders checks that paths built from names of a campaign cannot leave their folder.
func TestConfig_paths_stayBelowTheirFolders(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("a")
	w.Spec.Artifacts = &v1alpha1.Artifacts{ClaimName: "c"}
	w.Spec.Workload.Index.BodyFrom = &v1alpha1.ConfigMapKey{Name: "b", Key: "..body.json"}
	p, cell := cellOf(w)
	cfg := resources.Config(w.Obj(), p, cell, attemptOf(cell, record.Final), resources.Running{})
	for folder, path := range map[string]string{record.ArtifactsPath: cfg.Artifacts, record.IndexPath: cfg.Index.BodyFile} {
		relative, err := filepath.Rel(folder, path)
		if err != nil || !filepath.IsLocal(relative) || relative == "." {
			t.Errorf("%s is not below %s", path, folder)
		}
	}
}
