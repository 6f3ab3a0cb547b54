package openfiles

import (
	"encoding/json"
	"strings"
	"testing"
)

const (
	container = `{"annotations": {"io.kubernetes.cri.container-type": "container"}, "process": {"large": 9007199254740993}`
	profile   = `"linux": {"seccomp": {"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [
		{"names": ["read", "prlimit64", "getrlimit", "write"], "action": "SCMP_ACT_ALLOW"},
		{"names": ["prlimit64"], "action": "SCMP_ACT_ALLOW"},
		{"names": ["personality"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": 8, "op": "SCMP_CMP_EQ"}]}]}}}`
)

func TestRewrite_seccompProfile_notifiesLimitQueries(t *testing.T) {
	got, err := Rewrite([]byte(container+","+profile), "/a.sock")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(got), "9007199254740993") {
		t.Error("a large number lost digits")
	}
	var spec struct {
		Linux struct {
			Seccomp struct {
				DefaultAction, ListenerPath string
				Syscalls                    []rule
			}
		}
	}
	if err := json.Unmarshal(got, &spec); err != nil {
		t.Fatal(err)
	}
	seccomp := spec.Linux.Seccomp
	if seccomp.DefaultAction != "SCMP_ACT_ERRNO" || seccomp.ListenerPath != "/a.sock" {
		t.Errorf("default %q, listener %q", seccomp.DefaultAction, seccomp.ListenerPath)
	}
	var calls []string
	for _, r := range seccomp.Syscalls {
		calls = append(calls, r.Action+" "+strings.Join(r.Names, ","))
	}
	want := []string{
		"SCMP_ACT_ALLOW read,write", "SCMP_ACT_ALLOW personality",
		"SCMP_ACT_NOTIFY prlimit64", "SCMP_ACT_ALLOW prlimit64", "SCMP_ACT_ALLOW prlimit64", "SCMP_ACT_ALLOW prlimit64",
		"SCMP_ACT_NOTIFY getrlimit", "SCMP_ACT_ALLOW getrlimit",
	}
	if strings.Join(calls, "\n") != strings.Join(want, "\n") {
		t.Errorf("calls %q, want %q", calls, want)
	}
}

func TestRewrite_noProfileOrSandbox_isUnchanged(t *testing.T) {
	for name, config := range map[string]string{
		"no profile":   container + `, "linux": {}}`,
		"not of Linux": container + `}`,
		"a sandbox":    `{"annotations": {"io.kubernetes.cri.container-type": "sandbox"}, ` + profile,
	} {
		if got, err := Rewrite([]byte(config), "/a.sock"); err != nil || string(got) != config {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	if _, err := Rewrite([]byte("{"), ""); err == nil {
		t.Error("half a file was taken")
	}
}
