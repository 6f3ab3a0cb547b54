// Package chart tests the Helm chart charts/knee with the real helm and kustomize. It compares the objects of the chart with those of
// config, and installs the chart on a real API server.
package chart_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const (
	root  = "../.."
	chart = root + "/charts/knee"
)

// object is a manifest.
type object = map[string]any

// program returns the path that an environment variable has.
func program(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Fatalf("%s is not set: run make test-chart, which builds the program", variable)
	}
	return path
}

// run runs a program and returns its outputs.
func run(t *testing.T, path string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, problems bytes.Buffer
	command := exec.CommandContext(t.Context(), path, args...)
	command.Env = append(os.Environ(), "HELM_CACHE_HOME="+t.TempDir(), "HELM_CONFIG_HOME="+t.TempDir(), "HELM_DATA_HOME="+t.TempDir())
	command.Stdout, command.Stderr = &out, &problems
	err = command.Run()
	return out.String(), problems.String(), err
}

// helm runs helm, which must succeed.
func helm(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, err := run(t, program(t, "KNEE_HELM"), args...)
	if err != nil {
		t.Fatalf("helm %s: %v\n%s%s", strings.Join(args, " "), err, stdout, stderr)
	}
	return stdout
}

// render returns the objects of the chart. Each value is an argument of --set.
func render(t *testing.T, namespace string, values ...string) map[string]object {
	t.Helper()
	args := []string{"template", "knee", chart, "--namespace", namespace}
	for _, value := range values {
		args = append(args, "--set", value)
	}
	return objects(t, helm(t, args...))
}

// refuse returns the error of helm, which must refuse the values.
func refuse(t *testing.T, values ...string) string {
	t.Helper()
	args := []string{"template", "knee", chart}
	for _, value := range values {
		args = append(args, "--set", value)
	}
	stdout, stderr, err := run(t, program(t, "KNEE_HELM"), args...)
	if err == nil {
		t.Fatalf("helm accepts %q:\n%s", values, stdout)
	}
	return stderr
}

// kustomize returns what kustomize makes of a kustomization. The kustomization may name folders of config.
func kustomize(t *testing.T, kustomization object) string {
	t.Helper()
	dir := t.TempDir()
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	up, err := filepath.Rel(dir, here)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"resources", "components"} {
		paths, _ := kustomization[field].([]any)
		for i := range paths {
			paths[i] = filepath.Join(up, "config", fmt.Sprint(paths[i]))
		}
	}
	text, err := yaml.Marshal(kustomization)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, err := run(t, program(t, "KNEE_KUSTOMIZE"), "build", dir)
	if err != nil {
		t.Fatalf("kustomize build: %v\n%s\n%s", err, text, stderr)
	}
	return stdout
}

// objects returns the objects of a text by kind, namespace and name.
func objects(t *testing.T, text string) map[string]object {
	t.Helper()
	found := map[string]object{}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		var o object
		if err := yaml.Unmarshal(document, &o); err != nil {
			t.Fatalf("%v in:\n%s", err, document)
		}
		if o == nil {
			continue
		}
		key := fmt.Sprintf("%s %s/%s", o["kind"], field(o, "metadata", "namespace"), field(o, "metadata", "name"))
		if found[key] != nil {
			t.Errorf("%s occurs twice", key)
		}
		found[key] = o
	}
}

// field returns the text of a nested field, or the empty text.
func field(o object, path ...string) string {
	for _, name := range path[:len(path)-1] {
		o, _ = o[name].(object)
	}
	text, _ := o[path[len(path)-1]].(string)
	return text
}
