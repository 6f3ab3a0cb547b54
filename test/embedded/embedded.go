// Package embedded gives tests access to the daemons, the container processes and the volumes of the embedded cluster.
// It finds processes by the status of the cluster and signals them in the cluster's process namespace. So it can never
// signal another process of the machine.
package embedded

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Cluster is the embedded cluster of a working copy.
type Cluster struct {
	Root   string // of the working copy
	Folder string // state directory of the cluster
}

// Find returns the embedded cluster of the Makefile's CLUSTER_DIR, or else that of the working copy. The working
// directory of the test must be two folders below the root of the working copy.
func Find() (Cluster, error) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	c := Cluster{Root: root, Folder: filepath.Join(root, ".cluster")}
	if other := os.Getenv("CLUSTER_DIR"); other != "" {
		c.Folder = other
	}
	return c, err
}

// Kubeconfig returns the path of the kubeconfig of the cluster's API server.
func (c Cluster) Kubeconfig() string { return filepath.Join(c.Folder, "kubeconfig") }

// Daemon is one process of the cluster. The supervisor restarts it when it ends.
type Daemon struct {
	Name     string `json:"name"`
	PID      int    `json:"pid"` // in the cluster's process namespace; 0 if the daemon does not run
	Restarts int    `json:"restarts"`
}

// Daemons returns the cluster's daemons by name.
func (c Cluster) Daemons(ctx context.Context) (map[string]Daemon, error) {
	data, err := c.run(ctx, "status", "--output=json")
	if err != nil {
		return nil, err
	}
	var status struct {
		Daemons []Daemon `json:"daemons"`
	}
	if err := json.Unmarshal(data, &status); err != nil {
		return nil, err
	}
	out := map[string]Daemon{}
	for _, d := range status.Daemons {
		out[d.Name] = d
	}
	return out, nil
}

// Signal sends a signal, such as KILL, to processes by their ids in the cluster's process namespace.
func (c Cluster) Signal(ctx context.Context, signal string, pids ...string) error {
	_, err := c.run(ctx, append([]string{"exec", "--", "/bin/kill", "-" + signal}, pids...)...)
	return err
}

// ErrNotRunning is returned by Processes for a container that does not run.
var ErrNotRunning = errors.New("the container does not run")

// Processes returns the ids of the processes of a pod's container, the first process first. It asks the container
// runtime of the node.
func (c Cluster) Processes(ctx context.Context, pod corev1.Pod, container string) ([]string, error) {
	at := slices.IndexFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == container })
	if at < 0 {
		return nil, fmt.Errorf("pod %s has no container %s", pod.Name, container)
	}
	_, id, _ := strings.Cut(pod.Status.ContainerStatuses[at].ContainerID, "://")
	tasks, err := c.tasks(ctx, "ls")
	if err != nil {
		return nil, err
	}
	for _, task := range tasks {
		if len(task) == 3 && task[0] == id && task[2] == "RUNNING" {
			all, err := c.tasks(ctx, "ps", id)
			if err != nil {
				return nil, err
			}
			out := []string{task[1]}
			for _, process := range all[1:] { // without the heading
				if process[0] != task[1] {
					out = append(out, process[0])
				}
			}
			return out, nil
		}
	}
	return nil, fmt.Errorf("container %s of pod %s: %w", container, pod.Name, ErrNotRunning)
}

// Script runs a shell script on the node. It calls began when the script prints a line, and returns when the script has
// ended. The end of ctx does not end the script, so a script that disturbs the node can always undo this.
func (c Cluster) Script(ctx context.Context, script string, began func()) error {
	cmd := c.command(context.WithoutCancel(ctx), "exec", "--", "/bin/sh", "-c", script)
	var words bytes.Buffer
	cmd.Stderr = &words
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(out)
	if _, err := lines.ReadString('\n'); err == nil {
		began()
	}
	_, _ = io.Copy(io.Discard, lines) // an error of the pipe shows in the error of Wait
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(words.String()))
	}
	return nil
}

// VolumeFolder returns the folder of a volume's files on this machine. The path /run/knee of the node is the cluster's
// folder.
func (c Cluster) VolumeFolder(volume corev1.PersistentVolume) (string, error) {
	if volume.Spec.Local == nil {
		return "", fmt.Errorf("volume %s is not a folder of the node", volume.Name)
	}
	inside, err := filepath.Rel("/run/knee", volume.Spec.Local.Path)
	return filepath.Join(c.Folder, inside), err
}

// tasks runs `ctr tasks` on the node and returns the fields of each line.
func (c Cluster) tasks(ctx context.Context, args ...string) ([][]string, error) {
	out, err := c.run(ctx, append([]string{"exec", "--", "ctr", "-a", "/run/knee/containerd.sock", "-n", "k8s.io", "tasks"}, args...)...)
	if err != nil {
		return nil, err
	}
	var lines [][]string
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) > 0 {
			lines = append(lines, fields)
		}
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("ctr tasks %s prints nothing", strings.Join(args, " "))
	}
	return lines, nil
}

// run runs knee-cluster for this cluster and returns its output.
func (c Cluster) run(ctx context.Context, args ...string) ([]byte, error) {
	var out, words bytes.Buffer
	cmd := c.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = &out, &words
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("knee-cluster %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(words.String()))
	}
	return out.Bytes(), nil
}

func (c Cluster) command(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, filepath.Join(c.Root, "bin", "knee-cluster"), append([]string{"--dir", c.Folder}, args...)...)
}
