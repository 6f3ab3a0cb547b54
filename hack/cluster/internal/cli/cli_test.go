package cli

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/hack/cluster/internal/image"
	"github.com/knee-bench/knee/hack/cluster/internal/process"
	"github.com/knee-bench/knee/hack/cluster/internal/state"
)

func TestParseArgs(t *testing.T) {
	got, err := parseArgs([]string{"etcd:--a=b:c", "kubelet:--v=4", "etcd:--d"})
	want := map[string][]string{"etcd": {"--a=b:c", "--d"}, "kubelet": {"--v=4"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v (%v), want %v", got, err, want)
	}
	for _, bad := range []string{"etcd", "etcd:", "kublet:--v=4"} {
		if _, err := parseArgs([]string{bad}); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: error %v does not name it", bad, err)
		}
	}
}

func TestConfigure_existingCluster_keepsName(t *testing.T) {
	c := &cluster{dir: state.Dir(t.TempDir())}
	first, err := c.configure(upOptions{name: "first"})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.dir.SaveConfig(first); err != nil {
		t.Fatal(err)
	}
	second, err := c.configure(upOptions{name: "second", port: 1234})
	if err != nil || second.Name != "first" || second.APIPort != 1234 {
		t.Errorf("got %+v (%v): the node of a cluster cannot change its name", second, err)
	}
	other := &cluster{dir: state.Dir(t.TempDir())}
	if _, err := other.configure(upOptions{name: "Not_A_Node"}); err == nil || !strings.Contains(err.Error(), "--name") {
		t.Errorf("a bad name: %v", err)
	}
}

func TestListenAPI_savedPort_isUsedIfFree(t *testing.T) {
	config := state.Config{}
	first, err := listenAPI(&config)
	if err != nil {
		t.Fatal(err)
	}
	port := config.APIPort
	second, err := listenAPI(&config) // the port is in use by the first listener
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = second.Close() }()
	if config.APIPort == port || config.APIPort != second.Addr().(*net.TCPAddr).Port {
		t.Errorf("port %d, then %d", port, config.APIPort)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	config.APIPort = port
	third, err := listenAPI(&config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = third.Close() }()
	if config.APIPort != port {
		t.Errorf("the free port %d was not taken again, but %d", port, config.APIPort)
	}
}

func TestLock_alreadyHeld_timesOut(t *testing.T) {
	dir := state.Dir(t.TempDir())
	release, err := lock(context.Background(), dir, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock(context.Background(), dir, 60*time.Millisecond); err == nil || !strings.Contains(err.Error(), dir.Lock()) {
		t.Errorf("a second lock: %v", err)
	}
	release()
	release, err = lock(context.Background(), dir, time.Second)
	if err != nil {
		t.Fatalf("after the release: %v", err)
	}
	release()
}

func TestWipe_otherDirectory_fails(t *testing.T) {
	c := &cluster{dir: state.Dir(t.TempDir())}
	if err := os.WriteFile(c.dir.Path("thesis.tex"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := c.wipe(); err == nil {
		t.Error("a directory that is no cluster's was deleted")
	}
	if _, err := os.Stat(c.dir.Path("thesis.tex")); err != nil {
		t.Error(err)
	}
	if err := c.dir.SaveConfig(state.Config{Name: "n"}); err != nil {
		t.Fatal(err)
	}
	if err := c.wipe(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(string(c.dir)); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", c.dir, err)
	}
}

func TestRememberImport_sameArchive_isImported(t *testing.T) {
	c := &cluster{dir: state.Dir(t.TempDir())}
	old := image.Archive{Refs: []string{"knee.dev/a:1", "knee.dev/b:1"}, Digest: "1"}
	if c.imported(old) {
		t.Error("a new node has an image")
	}
	if err := c.rememberImport(old); err != nil {
		t.Fatal(err)
	}
	if !c.imported(old) {
		t.Error("an import was forgotten")
	}
	newer := image.Archive{Refs: []string{"knee.dev/b:1"}, Digest: "2"}
	if c.imported(newer) {
		t.Error("another image of the same name was taken for the one that the node has")
	}
	if err := c.rememberImport(newer); err != nil {
		t.Fatal(err)
	}
	if c.imported(old) {
		t.Error("the archive whose image b was replaced counts as imported")
	}
}

func TestRunning_deadSupervisor_returnsErrDown(t *testing.T) {
	c := &cluster{dir: state.Dir(t.TempDir())}
	if _, err := c.running(); !errors.Is(err, ErrDown) {
		t.Errorf("no supervisor: %v, want %v", err, ErrDown)
	}
	// The id is that of this process, but the start time differs: it stands for an earlier process with the same id.
	if err := c.dir.SaveSupervisor(state.Supervisor{PID: os.Getpid(), StartTime: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.running(); !errors.Is(err, ErrDown) {
		t.Errorf("another process with the same id: %v, want %v", err, ErrDown)
	}
}

func TestAbandon_runningProcess_isKilled(t *testing.T) {
	command := exec.Command("sleep", "600")
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if err := abandon(command); err != nil {
		t.Fatal(err)
	}
	if command.ProcessState == nil {
		t.Error("it was not waited for")
	}
	if _, running := process.StartTime(command.Process.Pid); running {
		t.Errorf("process %d still runs", command.Process.Pid)
	}
}
