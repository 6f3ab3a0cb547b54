package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/drivers/osb/osbconfig"
	"github.com/knee-bench/knee/internal/record"
)

// TestTrial_sigterm_writesRecord checks that the agent still writes its record after SIGTERM. A pod gets
// SIGTERM when it is deleted, evicted or drained.
func TestTrial_sigterm_writesRecord(t *testing.T) {
	config, err := json.Marshal(record.Config{Attempt: record.Attempt{Trial: record.Trial{Cell: "abc", Placement: 1}, N: 1}, Endpoint: "http://127.0.0.1:1", DeadlineSeconds: 60,
		Driver: record.NewDriverConfig(osbconfig.Name, osbconfig.Config{Workload: "w", IngestTasks: []string{"index"}})})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "record")
	cmd := exec.Command(os.Args[0], "trial", "--work", t.TempDir(), "--program", "/bin/true", "--record", file)
	cmd.Env = []string{self + "=1", record.ConfigEnv + "=" + string(config)}
	told, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dog := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	defer dog.Stop()
	said := ""
	for buffer := make([]byte, 1024); ; {
		n, err := told.Read(buffer)
		said += string(buffer[:n])
		if strings.Contains(said, "wait for the OpenSearch cluster") {
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			said = ""
		}
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v: %s", err, said)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := record.Decode(data); err != nil || r.Error == nil || r.Error.Reason != record.ReasonInterrupted || r.Attempt.Cell != "abc" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestReplace checks that a new text replaces the old text completely, also if the new text is shorter.
func TestReplace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "message")
	for _, text := range []string{"a text", "a longer text", "short", ""} {
		if err := replace(file, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("%q, %v, want %q", got, err, text)
		}
	}
	if err := replace("/dev/null", []byte("x")); err != nil {
		t.Errorf("what is no regular file: %v", err)
	}
}
