package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// lasting is how long lasting faults last, in seconds. It is longer than activitySeconds of the campaign, after which
// Knee must give up a trial whose OpenSearch does not answer, and longer than the manager's lease. It is shorter than
// the 40 s after which Kubernetes treats a node as lost.
const lasting = activity + 10

// Each script prints a line when its fault has taken effect, and always undoes the fault.

// undone returns a script that runs the commands of undo when it ends, also if it is interrupted.
func undone(undo, script string) string {
	return "trap '" + undo + "' EXIT\ntrap 'exit 1' HUP INT TERM\n" + script
}

// stop returns a script that stops processes for a while. A process that ended in the meantime is no error.
func stop(pids string) string {
	return undone("kill -CONT "+pids+" || true", fmt.Sprintf("kill -STOP %s && echo stopped && sleep %d || true\n", pids, lasting))
}

// slowAPIServer adds up to 0.8 s of latency to each request to the API server: it is stopped for 0.8 s of each second.
var slowAPIServer = kind{"API server slowed down", hitsNothing, 0, duringTrial, runs("kube-apiserver"),
	func(ctx context.Context, c *cluster, s sight, began func()) (string, error) {
		pid := s.pid("kube-apiserver")
		const script = `kill -STOP %[1]s || exit; echo slow
for i in $(seq %[2]d); do sleep 0.8; kill -CONT %[1]s; sleep 0.2; kill -STOP %[1]s; done`
		return "process " + pid, c.Script(ctx, undone("kill -CONT "+pid+" || true", fmt.Sprintf(script, pid, lasting)), began)
	}}

// drop returns a script that drops packets for a while. Each rule is the match of an iptables rule, with its chain.
func drop(rules ...string) string {
	undo, script := "", "set -e\n"
	for _, rule := range rules {
		undo += "iptables -w 10 -t mangle -D " + rule + " -j DROP 2>/dev/null || true\n"
		script += "iptables -w 10 -t mangle -I " + rule + " -j DROP\n"
	}
	return undone(undo, script+fmt.Sprintf("echo dropped\nsleep %d\n", lasting))
}

// cutOffLoader drops all packets between the loader pod and OpenSearch, also those of established connections.
func cutOffLoader(ctx context.Context, c *cluster, s sight, began func()) (string, error) {
	a, b := s.loader.Status.PodIP, s.openSearch.Status.PodIP
	if a == "" || b == "" {
		return "", errors.New("a pod has no address")
	}
	err := c.Script(ctx, drop(fmt.Sprintf("FORWARD -s %s -d %s", a, b), fmt.Sprintf("FORWARD -s %s -d %s", b, a)), began)
	return s.loader.Name, err
}

// cutOffManager drops all packets from the manager to the API server. The API server is on the node, so the packets
// pass the chain INPUT.
func cutOffManager(ctx context.Context, c *cluster, s sight, began func()) (string, error) {
	address := s.manager.Status.PodIP
	if address == "" {
		return "", errors.New("the manager has no address")
	}
	return s.manager.Name, c.Script(ctx, drop("INPUT -p tcp --dport 6443 -s "+address), began)
}

// The volumes of OpenSearch are on a small disk of their own: a file with a file system.
const (
	diskImage  = "/run/knee/chaos-disk.img"
	diskFolder = "/run/knee/pv"
	diskSize   = "1G"
)

// fillDisk fills the disk with the volumes of OpenSearch for a while. The file takes blocks without writing them, and
// then the last blocks.
func fillDisk(ctx context.Context, c *cluster, s sight, began func()) (string, error) {
	const script = `cd %[1]s
fallocate -l $(($(df --output=avail -B1M . | tail -n 1) - 8))M fill || exit
! dd if=/dev/zero of=rest bs=64k 2>/dev/null || exit
echo full
sleep %[2]d`
	undo := fmt.Sprintf("rm -f %[1]s/fill %[1]s/rest", diskFolder)
	return s.openSearch.Name, c.Script(ctx, undone(undo, fmt.Sprintf(script, diskFolder, lasting)), began)
}

// disk mounts the small disk on the folder of the volumes until the end of the test. Volumes that exist are hidden in the
// meantime.
func (c *cluster) disk(ctx context.Context, t *testing.T) {
	t.Helper()
	const (
		unmount = "if mountpoint -q " + diskFolder + "; then umount -l " + diskFolder + "; fi; rm -f " + diskImage
		mount   = "truncate -s " + diskSize + " " + diskImage + " && mkfs.ext4 -q -m 0 " + diskImage + " && mount -o loop " + diskImage + " " + diskFolder
	)
	if err := c.Script(ctx, unmount+"\n"+mount, func() {}); err != nil { // an earlier test may have been killed
		t.Fatalf("mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Script(context.WithoutCancel(ctx), unmount, func() {}); err != nil {
			t.Errorf("unmount the small disk: %v", err)
		}
	})
}

var deployment = client.ObjectKey{Namespace: "knee-system", Name: "knee-manager"}

// killLeader starts a second manager, kills the process of the leader, and waits until there is another leader. In the
// end there is one manager again.
func killLeader(ctx context.Context, c *cluster, _ sight, began func()) (name string, err error) {
	defer func() {
		// The campaign may be over, but the second manager must not stay.
		ctx := context.WithoutCancel(ctx)
		err = errors.Join(err, until(ctx, "one manager", func(ctx context.Context) error { return c.scale(ctx, 1) }))
	}()
	if err := until(ctx, "two managers", func(ctx context.Context) error { return c.scale(ctx, 2) }); err != nil {
		return "", err
	}
	holder, err := c.leader(ctx)
	if err != nil {
		return "", err
	}
	var pod corev1.Pod
	name, _, _ = strings.Cut(holder, "_")
	if err := c.Get(ctx, client.ObjectKey{Namespace: deployment.Namespace, Name: name}, &pod); err != nil {
		return name, err
	}
	if _, err := killContainer(manager)(ctx, c, sight{manager: &pod}, began); err != nil {
		return name, err
	}
	return name, until(ctx, "another leader", func(ctx context.Context) error {
		now, err := c.leader(ctx)
		if err == nil && now == holder {
			err = fmt.Errorf("%s is the leader", now)
		}
		return err
	})
}

// scale sets the number of managers. It returns an error until this number of managers is ready.
func (c *cluster) scale(ctx context.Context, n int32) error {
	var d appsv1.Deployment
	if err := c.Get(ctx, deployment, &d); err != nil {
		return err
	}
	if ptr.Deref(d.Spec.Replicas, 1) != n {
		d.Spec.Replicas = &n
		if err := c.Update(ctx, &d); err != nil {
			return err
		}
	}
	if d.Status.ObservedGeneration < d.Generation || d.Status.ReadyReplicas != n {
		return fmt.Errorf("%d of %d managers are ready", d.Status.ReadyReplicas, n)
	}
	return nil
}

// leader returns the identity of the manager that holds the lease.
func (c *cluster) leader(ctx context.Context) (string, error) {
	var lease coordinationv1.Lease
	err := c.Get(ctx, client.ObjectKey{Namespace: deployment.Namespace, Name: "knee.dev"}, &lease)
	return ptr.Deref(lease.Spec.HolderIdentity, ""), err
}
