package chaos_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/scheme"
)

// cluster is the embedded cluster, and no other: daemons are found by its own word and reached through its own
// process namespace.
type cluster struct {
	client.Client
	config *rest.Config
	root   string // of the checkout
	folder string // of the cluster's state
}

// daemon is one of the cluster's processes.
type daemon struct {
	Name     string `json:"name"`
	PID      int    `json:"pid"` // in the cluster's process namespace; 0 while it does not run
	Restarts int    `json:"restarts"`
}

func connect(t *testing.T) *cluster {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{root: root, folder: filepath.Join(root, ".cluster")}
	if c.config, err = clientcmd.BuildConfigFromFlags("", filepath.Join(c.folder, "kubeconfig")); err != nil {
		t.Fatalf("the embedded cluster: run `make test-chaos`: %v", err)
	}
	c.config.Timeout = 15 * time.Second // of one request: an API server that was killed answers none
	if c.Client, err = client.New(c.config, client.Options{Scheme: scheme.New()}); err != nil {
		t.Fatal(err)
	}
	return c
}

// own runs the cluster's own program.
func (c *cluster) own(ctx context.Context, args ...string) ([]byte, error) {
	var out, words bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(c.root, "bin", "knee-cluster"), append([]string{"--dir", c.folder}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &words
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("knee-cluster %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(words.String()))
	}
	return out.Bytes(), nil
}

// daemons are the cluster's processes, by name.
func (c *cluster) daemons(ctx context.Context) (map[string]daemon, error) {
	data, err := c.own(ctx, "status", "--output=json")
	if err != nil {
		return nil, err
	}
	var status struct {
		Daemons []daemon `json:"daemons"`
	}
	if err := json.Unmarshal(data, &status); err != nil {
		return nil, err
	}
	out := map[string]daemon{}
	for _, d := range status.Daemons {
		out[d.Name] = d
	}
	return out, nil
}

// kill ends a process of the cluster, which is all that its process namespace holds.
func (c *cluster) kill(ctx context.Context, pid string) error {
	_, err := c.own(ctx, "exec", "--", "/bin/kill", "-KILL", pid)
	return err
}

// containerPID is the first process of a container, by the node's runtime.
func (c *cluster) containerPID(ctx context.Context, id string) (string, error) {
	out, err := c.own(ctx, "exec", "--", "ctr", "-a", "/run/knee/containerd.sock", "-n", "k8s.io", "tasks", "ls")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == id && fields[2] == "RUNNING" {
			return fields[1], nil
		}
	}
	return "", fmt.Errorf("no running task %s", id)
}

// until asks again until there is an answer, through every outage of the API server that the supervisor mends.
func until(ctx context.Context, what string, ask func(context.Context) error) error {
	const enough, again = 5 * time.Minute, 500 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, enough)
	defer cancel()
	tick := time.NewTicker(again)
	defer tick.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w (last: %w)", what, ctx.Err(), err)
		case <-tick.C:
		}
	}
}

// must is until for the test itself.
func must(ctx context.Context, t *testing.T, what string, ask func(context.Context) error) {
	t.Helper()
	if err := until(ctx, what, ask); err != nil {
		t.Fatal(err)
	}
}

// namespace makes a namespace of the strictest pod security, and deletes it unless the test failed.
func (c *cluster) namespace(ctx context.Context, t *testing.T) string {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name:   fmt.Sprintf("knee-chaos-%d", time.Now().UnixNano()),
		Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	must(ctx, t, "make the namespace", func(ctx context.Context) error {
		return ignoreExists(c.Create(ctx, ns.DeepCopy()))
	})
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("namespace %s stays for a look", ns.Name)
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := c.Delete(ctx, ns); err != nil {
			t.Errorf("delete the namespace: %v", err)
		}
	})
	return ns.Name
}

// ignoreExists: a request that timed out may have been heard.
func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
