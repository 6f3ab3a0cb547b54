package rights

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
)

const log = `{"stage":"ResponseComplete","verb":"list","user":{"username":"m"},"objectRef":{"resource":"pods"},"requestReceivedTimestamp":"2026-01-01T10:00:01.000000Z","annotations":{"authorization.k8s.io/decision":"allow"}}
{"stage":"ResponseStarted","verb":"watch","user":{"username":"m"},"objectRef":{"resource":"pods"},"requestReceivedTimestamp":"2026-01-01T10:00:02.000000Z","annotations":{"authorization.k8s.io/decision":"allow"}}
{"stage":"ResponseComplete","verb":"watch","user":{"username":"m"},"objectRef":{"resource":"pods"},"requestReceivedTimestamp":"2026-01-01T10:00:02.000000Z","annotations":{"authorization.k8s.io/decision":"allow"}}
{"stage":"ResponseComplete","verb":"get","user":{"username":"m"},"objectRef":{"resource":"secrets"},"responseStatus":{"code":403},"requestReceivedTimestamp":"2026-01-01T10:00:03.000000Z","annotations":{"authorization.k8s.io/decision":"forbid"}}
{"stage":"ResponseComplete","verb":"create","user":{"username":"m"},"objectRef":{"resource":"jobs","apiGroup":"batch"},"responseStatus":{"code":403},"requestReceivedTimestamp":"2026-01-01T10:00:04.000000Z","annotations":{"authorization.k8s.io/decision":"allow"}}
{"stage":"ResponseComplete","verb":"update","user":{"username":"m"},"objectRef":{"resource":"jobs","subresource":"status","apiGroup":"batch"},"requestReceivedTimestamp":"2026-01-01T10:00:04.000000Z","annotations":{"authorization.k8s.io/decision":"allow"}}
{"stage":"ResponseComplete","verb":"delete","user":{"username":"other"},"objectRef":{"resource":"nodes"},"requestReceivedTimestamp":"2026-01-01T10:00:05.000000Z","annotations":{"authorization.k8s.io/decision":"allow"}}
{"stage":"ResponseComplete","verb":"get","user":{"username":"m"},"requestURI":"/api","requestReceivedTimestamp":"2026-01-01T10:00:05.000000Z"}
{"stage":"ResponseComplete","verb":"patch","user":{"username":"m"},"objectRef":{"resource":"nodes"},"requestReceivedTimestamp":"2026-01-01T09:59:59.000000Z","annotations":{"authorization.k8s.io/decision":"allow"}}
{"stage":"Response`

func TestJudge_roleAndAuditLog_findsDeviations(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"audit.jsonl":                         log,
		"audit-2026-01-01T10-30-00.000.jsonl": strings.Split(log, "\n")[0] + "\n",
		"role.yaml": `apiVersion: v1
kind: ServiceAccount
metadata: {name: m}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: m}
rules:
- {apiGroups: [""], resources: [pods], verbs: [list, watch, get]}
- {apiGroups: [""], resources: [services], verbs: [list]}
- {apiGroups: [batch], resources: [jobs], verbs: [create, delete]}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	role, err := OfFiles(filepath.Join(dir, "role.yaml"))
	if err != nil || len(role) != 6 {
		t.Fatalf("role %v, error %v", role, err)
	}
	uses, err := ReadAudit(filepath.Join(dir, "audit*.jsonl"), "m", time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	pods, jobs := Right{"", "pods", "list"}, Right{"batch", "jobs", "create"}
	if uses.Allowed[pods] != 2 || uses.Allowed[Right{"", "pods", "watch"}] != 1 || uses.Allowed[jobs] != 1 || len(uses.Allowed) != 4 {
		t.Errorf("allowed: %v", uses.Allowed)
	}
	exceptions := map[Right]string{{"batch", "jobs", "delete"}: "a test's", {"", "nodes", "get"}: "a test's"}
	want := Verdict{
		Unused:  []Right{{"", "pods", "get"}, {"", "services", "list"}},
		Outside: []Right{{"batch", "jobs/status", "update"}},
		Denied:  []Right{{"", "secrets", "get"}},
		Stale:   []Right{{"", "nodes", "get"}},
	}
	if got := Judge(role, uses, exceptions); !reflect.DeepEqual(got, want) {
		t.Errorf("verdict %+v, want %+v", got, want)
	}
	table := Table(role, uses, exceptions)
	for _, want := range []string{"1  OUTSIDE OF THE ROLE", "1  DENIED", "0  (a test's)"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in the table:\n%s", want, table)
		}
	}
}

func TestRights_missingLogOrWildcard_fails(t *testing.T) {
	if _, err := ReadAudit(filepath.Join(t.TempDir(), "audit*.jsonl"), "m", time.Time{}); err == nil {
		t.Error("there was no log, and no error")
	}
	if _, err := Of([]rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"*"}, Verbs: []string{"get"}}}); err == nil {
		t.Error("a wildcard is taken")
	}
}
