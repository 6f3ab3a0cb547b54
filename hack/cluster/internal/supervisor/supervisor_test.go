package supervisor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/hack/cluster/internal/state"
)

var testConfig = state.Config{Name: "node-1", CgroupRoot: "/knee-node-1-123456", ExtraArgs: map[string][]string{etcd: {"--debug"}}}

func TestRender_everyTemplate_succeeds(t *testing.T) {
	entries, err := templates.ReadDir("config")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(configFiles) {
		t.Errorf("%d templates, %d of them are written", len(entries), len(configFiles))
	}
	for name := range configFiles {
		data, err := render(name, values(testConfig, "overlayfs", ""))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if bytes.Contains(data, []byte("{{")) || len(data) == 0 {
			t.Errorf("%s is not rendered: %s", name, data)
		}
	}
}

func TestParseObjects_template_hasKnownKinds(t *testing.T) {
	data, err := render("objects.yaml", values(testConfig, "overlayfs", ""))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := parseObjects(bytes.NewReader(data))
	if err != nil || len(objects) != 7 {
		t.Fatalf("%d objects, error %v", len(objects), err)
	}
	for _, object := range objects {
		resource, known := resources[object.GetKind()]
		if gv := resource.GroupVersion().String(); !known || gv != object.GetAPIVersion() || object.GetName() == "" {
			t.Errorf("%s %s of %s is not applied (%s)", object.GetKind(), object.GetName(), object.GetAPIVersion(), gv)
		}
	}
}

func TestFlags_everyDaemon_hasFlags(t *testing.T) {
	all := flags(testConfig)
	if len(all) != len(DaemonNames()) {
		t.Errorf("%d daemons have flags, %d are started", len(all), len(DaemonNames()))
	}
	for _, name := range DaemonNames() {
		if len(all[name]) == 0 {
			t.Errorf("%s has no flags", name)
		}
	}
}

func TestCheckNode(t *testing.T) {
	since := time.Date(2026, 1, 1, 12, 0, 0, 500, time.UTC)
	node := func(status corev1.ConditionStatus, heartbeat time.Time, taints ...string) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, LastHeartbeatTime: metav1.NewTime(heartbeat)}}
		for _, taint := range taints {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: taint})
		}
		return n
	}
	for _, test := range []struct {
		name string
		node *corev1.Node
		want string
	}{
		{"ready in the same second", node(corev1.ConditionTrue, since.Truncate(time.Second)), ""},
		{"ready", node(corev1.ConditionTrue, since.Add(time.Minute), "somebody.else/s"), ""},
		{"a report of the time before", node(corev1.ConditionTrue, since.Add(-time.Second)), "has not reported"},
		{"not ready", node(corev1.ConditionFalse, since.Add(time.Second)), "is not ready"},
		{"still tainted", node(corev1.ConditionTrue, since.Add(time.Second), corev1.TaintNodeNotReady), "taint"},
		{"new", &corev1.Node{}, "no Ready condition"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := checkNode(test.node, since)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// onlyReaper is the only reaper of the process, because two reapers would collect each other's children.
var onlyReaper = sync.OnceValue(newReaper)

func testDaemon(t *testing.T, script string) *daemon {
	t.Helper()
	d := &daemon{name: "test", path: "/bin/sh", argv: []string{"sh", "-c", script}, reaper: onlyReaper(),
		log: filepath.Join(t.TempDir(), "log"), grace: 10 * time.Second}
	t.Cleanup(func() {
		d.cancel()
		<-d.stopped
	})
	d.keep(context.Background())
	return d
}

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestDaemon_exits_isRestarted(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "second")
	// The script fails the first time and keeps running the second time.
	d := testDaemon(t, `[ -e `+marker+`.1 ] && { : >`+marker+`; exec sleep 60; }; : >`+marker+`.1; exit 3`)
	err := d.waitReady(deadline(t), func(context.Context) error { _, err := os.Stat(marker); return err })
	if err != nil {
		t.Fatal(err)
	}
	status := d.snapshot()
	if status.Restarts != 1 || status.LastExit != "exit status 3" || status.PID == 0 || status.Name != "test" || status.Waiting != "" {
		t.Errorf("status %+v", status)
	}
}

func TestDaemon_keepsFailing_errorQuotesLog(t *testing.T) {
	d := testDaemon(t, `echo "no such flag" >&2; exit 1`)
	err := d.waitReady(deadline(t), func(context.Context) error { return errors.New("no answer") })
	if err == nil || !strings.Contains(err.Error(), "ended 5 times (exit status 1)") || !strings.Contains(err.Error(), "no such flag") {
		t.Errorf("error %v", err)
	}
}

func TestDaemon_ignoresSIGTERM_isKilled(t *testing.T) {
	d := testDaemon(t, `trap "" TERM; echo trapped; while :; do sleep 1; done`)
	d.grace = 50 * time.Millisecond
	err := d.waitReady(deadline(t), func(context.Context) error {
		if data, err := os.ReadFile(d.log); err != nil || len(data) == 0 {
			return errors.New("no trap yet")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	d.cancel()
	select {
	case <-d.stopped:
	case <-deadline(t).Done():
		t.Error("it runs on")
	}
}

func TestTail(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(file, []byte("one\ntwo\nthree\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(Tail(file, 2), "\n")
	if want := []string{"; the end of its log:", "    two", "    three"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Tail(file+".absent", 2); got != "" {
		t.Errorf("an absent log is quoted: %q", got)
	}
}

// TestJoin_clientClosesWrite_stillGetsAnswer checks that a client that has closed its sending side still gets the answer.
func TestJoin_clientClosesWrite_stillGetsAnswer(t *testing.T) {
	client, outer := tcpPair(t)
	inner, server := tcpPair(t)
	joined := make(chan struct{})
	go func() {
		join(outer, inner)
		close(joined)
	}()
	if _, err := client.Write([]byte("question")); err != nil {
		t.Fatal(err)
	}
	if err := client.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(server); err != nil || string(got) != "question" {
		t.Errorf("the server read %q, %v", got, err)
	}
	if _, err := server.Write([]byte("answer")); err != nil {
		t.Fatal(err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(client); err != nil || string(got) != "answer" {
		t.Errorf("the client read %q, %v", got, err)
	}
	select {
	case <-joined:
	case <-deadline(t).Done():
		t.Error("the join does not end with its connections")
	}
}

func tcpPair(t *testing.T) (near, far *net.TCPConn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	a, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	for _, conn := range []net.Conn{a, b} {
		t.Cleanup(func() { _ = conn.Close() })
		if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	return a.(*net.TCPConn), b.(*net.TCPConn)
}
