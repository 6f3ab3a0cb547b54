package chart_test

import (
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestSchema_wrongValue_isRefused checks that the error names the field.
func TestSchema_wrongValue_isRefused(t *testing.T) {
	for value, field := range map[string]string{
		"namespaced=yes":                                    "/namespaced",
		"crd.install=no":                                    "/crd/install",
		"image.repository=knee:v1":                          "/image/repository",
		"image.repository=":                                 "/image/repository",
		"image.tag=a/b":                                     "/image/tag",
		"image.digest=sha256:abc":                           "/image/digest",
		"image.pullPolicy=Sometimes":                        "/image/pullPolicy",
		"imagePullSecrets={registry}":                       "/imagePullSecrets/0",
		"opensearchImage=opensearch:3.1.0":                  "/opensearchImage",
		"osbImage=osb@" + digest:                            "/osbImage",
		"podUserIDs=1000":                                   "/podUserIDs",
		"allowSysctlInit=1":                                 "/allowSysctlInit",
		"networkPolicies.manager=on":                        "/networkPolicies/manager",
		"networkPolicies.cells=on":                          "/networkPolicies/cells",
		"metrics.enabled=1":                                 "/metrics/enabled",
		"metrics.serviceMonitor.enabled=1":                  "/metrics/serviceMonitor/enabled",
		"metrics.serviceMonitor.labels.release=1":           "/metrics/serviceMonitor/labels/release",
		"policies.manager.enabled=1":                        "/policies/manager/enabled",
		"policies.authors.enabled=1":                        "/policies/authors/enabled",
		"policies.authors.limits.imagePrefixes=registry":    "/policies/authors/limits/imagePrefixes",
		"policies.authors.limits.nodeSelectors={pool}":      "/policies/authors/limits/nodeSelectors/0",
		"policies.authors.limits.provisioners={Deployment}": "/policies/authors/limits/provisioners/0",
		"replicas=-1":                                       "/replicas",
		"log.level=loud":                                    "/log/level",
		"log.encoder=xml":                                   "/log/encoder",
		"log.stacktraceLevel=debug":                         "/log/stacktraceLevel",
		"log.timeEncoding=unix":                             "/log/timeEncoding",
		"resources.limits=1":                                "/resources/limits",
		"nodeSelector.pool=1":                               "/nodeSelector/pool",
		"tolerations=all":                                   "/tolerations",
		"priorityClassName=1":                               "/priorityClassName",
		// These depend on two values.
		"metrics.enabled=false,metrics.serviceMonitor.enabled=true": "metrics.serviceMonitor.enabled",
		"namespaced=true,metrics.serviceMonitor.enabled=true":       "metrics.serviceMonitor.enabled",
		"namespaced=true,policies.authors.enabled=true":             "policies.authors.enabled",
	} {
		t.Run(value, func(t *testing.T) {
			if problem := refuse(t, value); !strings.Contains(problem, field) {
				t.Errorf("the error does not name %s:\n%s", field, problem)
			}
		})
	}
}

// TestSchema_unknownField_isRefused adds a field to each object of values.yaml that has fixed fields.
func TestSchema_unknownField_isRefused(t *testing.T) {
	text, err := os.ReadFile(chart + "/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var values object
	if err := yaml.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	free := map[string]bool{"nodeSelector": true, "resources.requests": true, "resources.limits": true, "metrics.serviceMonitor.labels": true}
	var visit func(path string, o object)
	visit = func(path string, o object) {
		if problem := refuse(t, strings.TrimPrefix(path+".unknown=1", ".")); !strings.Contains(problem, "'unknown'") {
			t.Errorf("%s: the error does not name the unknown field:\n%s", path, problem)
		}
		for name, value := range o {
			child := strings.TrimPrefix(path+"."+name, ".")
			if o, isObject := value.(object); isObject && !free[child] {
				visit(child, o)
			}
		}
	}
	visit("", values)
}
