package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/drivers/osb/osbconfig"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/loopback"
)

// self is the environment variable that makes the test binary run as the agent.
const self = "KNEE_TEST_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(self) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// agent runs the agent and returns its output and exit code.
func agent(t *testing.T, env []string, args ...string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = slices.Concat(env, []string{self + "=1", "GOCOVERDIR=" + t.TempDir()}) // go test -cover: without it, the program prints a warning
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"measure"}, {"install"}, {"install", "--tree", "/a"}, {"trial", "--nonsense"}, {"probe", "--nonsense"}, {"preflight", "--nonsense"}} {
		out, code := agent(t, nil, args...)
		if code != 2 || !strings.Contains(strings.ToLower(out), "usage") && !strings.Contains(out, "knee-agent trial") {
			t.Errorf("%q: exit code %d, %s", args, code, out)
		}
	}
}

func TestInstall_ownBinary_copyIsExecutable(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "bin/knee-agent"), filepath.Join(t.TempDir(), "knee-agent")
	for range 2 { // the second run overwrites the installed file
		if out, code := agent(t, nil, "install", a, b); code != 0 {
			t.Fatalf("exit code %d: %s", code, out)
		}
	}
	want, err := os.Stat(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{a, b} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o755 || info.Size() != want.Size() {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	cmd := exec.Command(a)
	cmd.Env = []string{self + "=1"}
	if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), "knee-agent trial") {
		t.Errorf("the copy does not run: %s", out)
	}
	if entries, err := os.ReadDir(filepath.Dir(a)); err != nil || len(entries) != 1 {
		t.Errorf("left beside it: %v, %v", entries, err)
	}
	if out, code := agent(t, nil, "install", "/proc/knee-agent"); code != 1 || !strings.Contains(out, "/proc") {
		t.Errorf("where nothing can be written: exit code %d, %s", code, out)
	}
}

func TestInstall_tree_copiesRegularFiles(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "workload")
	for path, data := range map[string]string{"nyc_taxis/workload.json": "{}", "nyc_taxis/operations/default.json": "[]"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(from, path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(from, path), []byte(data), 0o400); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(from, "nyc_taxis/workload.json"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("workload.json", filepath.Join(from, "nyc_taxis/link.json")); err != nil {
		t.Fatal(err)
	}
	if out, code := agent(t, nil, "install", "--tree", from, to); code != 0 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	for path, want := range map[string]string{"nyc_taxis/workload.json": "{}", "nyc_taxis/operations/default.json": "[]", "nyc_taxis/link.json": "{}"} {
		info, err := os.Lstat(filepath.Join(to, path))
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
		if data, err := os.ReadFile(filepath.Join(to, path)); err != nil || string(data) != want {
			t.Errorf("%s: %s, %v", path, data, err)
		}
	}
	if info, err := os.Stat(filepath.Join(to, "nyc_taxis/workload.json")); err != nil || !info.ModTime().Equal(old) {
		t.Errorf("the copy is of %v, %v", info.ModTime(), err)
	}
	for _, source := range []string{from + "/none", from + "/nyc_taxis/workload.json"} {
		if out, code := agent(t, nil, "install", "--tree", source, to); code != 1 {
			t.Errorf("%s: exit code %d, %s", source, code, out)
		}
	}
}

func TestTrial_failure_writesRecord(t *testing.T) {
	config, err := json.Marshal(record.Config{Attempt: record.Attempt{Trial: record.Trial{Cell: "abc", Placement: 1}, N: 1}, Endpoint: "http://127.0.0.1:1", DeadlineSeconds: 1,
		Driver: record.NewDriverConfig(osbconfig.Name, osbconfig.Config{Workload: "w", IngestTasks: []string{"index"}})})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env    []string
		reason string
	}{
		"no configuration":      {nil, record.ReasonAgentFailed},
		"a broken one":          {[]string{record.ConfigEnv + "={"}, record.ReasonAgentFailed},
		"nobody answers":        {[]string{record.ConfigEnv + "=" + string(config)}, record.ReasonDeadline},
		"the driver is missing": {[]string{record.ConfigEnv + "=" + strings.NewReplacer(`"w"`, `"w","path":"/nowhere"`, `"deadlineSeconds":1`, `"deadlineSeconds":60`).Replace(string(config))}, record.ReasonDriverFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "record")
			out, code := agent(t, c.env, "trial", "--work", t.TempDir(), "--program", "/bin/true", "--record", file)
			if code != 0 {
				t.Fatalf("exit code %d: %s", code, out)
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r, err := record.Decode(data)
			if err != nil || r.Error == nil || r.Error.Reason != c.reason {
				t.Errorf("%+v, %v, want %s", r, err, c.reason)
			}
		})
	}
	if out, code := agent(t, nil, "trial", "--record", "/nowhere/record"); code != 1 || !strings.Contains(out, "write the record") {
		t.Errorf("nowhere to write: exit code %d, %s", code, out)
	}
}

func TestProbe_runsUntilSIGTERM(t *testing.T) {
	address := loopback.Address()
	cmd := exec.Command(os.Args[0], "probe", "--listen", address)
	cmd.Env = []string{self + "=1", record.HostEnv + "=host-7"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	deadline := time.After(time.Minute)
	var body string
	for !strings.Contains(body, `"host":"host-7"`) {
		select {
		case err := <-ended:
			t.Fatalf("the probe ended: %v", err)
		case <-deadline:
			_ = cmd.Process.Kill()
			t.Fatalf("no window in a minute, last %q", body)
		case <-time.After(50 * time.Millisecond):
		}
		if resp, err := http.Get(fmt.Sprintf("http://%s/v1/window?from=1&to=0", address)); err == nil {
			data, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			body = string(data)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("told to stop, it ended with %v", err)
		}
	case <-deadline:
		_ = cmd.Process.Kill()
		t.Error("told to stop, it goes on")
	}
	if out, code := agent(t, nil, "probe", "--listen", "127.0.0.1:0", "--proc", "/nowhere"); code != 1 {
		t.Errorf("without a proc: exit code %d, %s", code, out)
	}
}

func TestPreflight_unwritableData_fails(t *testing.T) {
	message := filepath.Join(t.TempDir(), "message")
	out, code := agent(t, nil, "preflight", "--single-node", "--data", t.TempDir(), "--message", message)
	if code != 0 || !strings.Contains(out, "max_map_count") || !strings.Contains(out, "is writable") {
		t.Errorf("exit code %d: %s", code, out)
	}
	out, code = agent(t, nil, "preflight", "--single-node", "--data", "/nowhere", "--message", message)
	data, err := os.ReadFile(message)
	if code != 1 || err != nil || !strings.Contains(string(data), "/nowhere is not writable") || !strings.Contains(out, "fatal") {
		t.Errorf("exit code %d, message %s, %v: %s", code, data, err, out)
	}
}
