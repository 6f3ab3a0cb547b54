// Package streambenchmark_test tests the plugin stream-benchmark on real nodes: processes of the OpenSearch image with the plugin.
// `make plugin-test` unpacks the image and sets KNEE_STREAM_OPENSEARCH; without that variable the tests are skipped.
package streambenchmark_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/knee-bench/knee/test/loopback"
)

// imageUser is the user of the image, which owns its files. OpenSearch refuses to run as root.
const imageUser = 1000

// node is a running OpenSearch process.
type node struct {
	name, url string
	transport int
	stream    int // the port of Arrow Flight
	process   *os.Process
	exited    chan struct{}
}

// streamOptions are the JVM options: a small heap and the settings that Arrow needs for Netty and the JVM.
const streamOptions = "-Xms512m -Xmx512m -Dio.netty.allocator.numDirectArenas=1 -Dio.netty.noUnsafe=false -Dio.netty.tryUnsafe=true " +
	"-Dio.netty.tryReflectionSetAccessible=true --add-opens=java.base/java.nio=org.apache.arrow.memory.core,ALL-UNNAMED"

// unpackedHome copies the OpenSearch of the image to a folder that the image's user can read.
func unpackedHome(t *testing.T) string {
	t.Helper()
	from := os.Getenv("KNEE_STREAM_OPENSEARCH")
	if from == "" {
		t.Skip("KNEE_STREAM_OPENSEARCH is not set: run make plugin-test")
	}
	folder := t.TempDir()
	for _, f := range []string{filepath.Dir(folder), folder} { // t.TempDir makes folders that only the current user can read
		if err := os.Chmod(f, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run(t, "cp", "-a", from, filepath.Join(folder, "home"))
	return filepath.Join(folder, "home")
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
}

// firstStreamPort is a placeholder in a setting. It is replaced by the Arrow Flight port of the first node.
const firstStreamPort = "FIRST"

// startNodes starts a cluster of nodes with these names and waits until all have joined.
func startNodes(t *testing.T, home string, names []string, settings ...string) []*node {
	t.Helper()
	var nodes []*node
	var seeds []string
	for _, name := range names {
		n := &node{name: name, transport: loopback.Port(), stream: loopback.Port()}
		nodes = append(nodes, n)
		seeds = append(seeds, net.JoinHostPort(loopback.Host(), strconv.Itoa(n.transport)))
	}
	for _, n := range nodes {
		own := slices.Clone(settings)
		if slices.Contains(settings, streamFlag) {
			own = append(own, "aux.transport.transport-flight.port="+strconv.Itoa(n.stream))
		}
		for i := range own {
			own[i] = strings.ReplaceAll(own[i], firstStreamPort, strconv.Itoa(nodes[0].stream))
		}
		n.start(t, home, append(own, "cluster.name="+names[0], "cluster.initial_cluster_manager_nodes="+strings.Join(names, ","),
			"discovery.seed_hosts="+strings.Join(seeds, ",")))
	}
	for _, n := range nodes {
		n.await(t, len(names))
	}
	return nodes
}

// start starts the node in its own copy of the home folder. The files in the copy are hard links.
func (n *node) start(t *testing.T, home string, settings []string) {
	t.Helper()
	own := home + "-" + n.name
	run(t, "cp", "-al", home, own)
	http := loopback.Port()
	n.url = "http://" + net.JoinHostPort(loopback.Host(), strconv.Itoa(http))
	args := []string{}
	for _, s := range append(settings, "node.name="+n.name, "network.host="+loopback.Host(), "http.port="+strconv.Itoa(http),
		"transport.port="+strconv.Itoa(n.transport), "cluster.routing.allocation.disk.threshold_enabled=false") {
		args = append(args, "-E"+s)
	}
	cmd := exec.Command(filepath.Join(own, "bin", "opensearch"), args...)
	cmd.Env = append(os.Environ(), "JAVA_HOME="+filepath.Join(own, "jdk"), "OPENSEARCH_JAVA_HOME=", "OPENSEARCH_HOME=", "OPENSEARCH_PATH_CONF=", "OPENSEARCH_JAVA_OPTS="+streamOptions)
	log, err := os.Create(own + ".log")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: imageUser, Gid: imageUser}}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n.process, n.exited = cmd.Process, make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(n.exited)
	}()
	t.Cleanup(func() {
		_ = n.process.Kill()
		<-n.exited
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("the end of the log of %s:\n%s", n.name, text[max(0, len(text)-8000):])
		}
	})
}

// await waits until the node belongs to a cluster of this size.
func (n *node) await(t *testing.T, size int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Minute)
	for {
		var health struct {
			Nodes int `json:"number_of_nodes"`
		}
		err := n.get(t.Context(), "/_cluster/health", &health)
		if err == nil && health.Nodes == size {
			return
		}
		select {
		case <-n.exited:
			t.Fatalf("%s exited", n.name)
		case <-time.After(100 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is in a cluster of %d nodes, not %d: %v", n.name, health.Nodes, size, err)
		}
	}
}

// poll is the pause before OpenSearch is asked again.
func poll() { <-time.After(100 * time.Millisecond) }

func (n *node) get(ctx context.Context, path string, to any) error {
	return call(ctx, http.MethodGet, n.url+path, to)
}

func call(ctx context.Context, method, url string, to any) error {
	request, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return &refusal{response.StatusCode, data}
	}
	return json.Unmarshal(data, to)
}

// refusal is a reply of OpenSearch with a status other than 200.
type refusal struct {
	status int
	body   []byte
}

func (r *refusal) Error() string { return fmt.Sprintf("status %d: %.2000s", r.status, r.body) }
