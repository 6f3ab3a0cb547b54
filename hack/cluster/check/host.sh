#!/bin/bash
# Proves that a cluster leaves the host as it found it: it prints what a cluster
# could change on the host, before `up`, after `down`, after a crash with `down`,
# and after a crash with `up` and `down`, and fails on a difference. Runs a
# cluster of its own, in a state directory of its own:
#   sudo hack/cluster/check/host.sh
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$here/../../../bin" && pwd)
temporary=$(mktemp -d)
dir=$temporary/state
name=host-check-$$
cluster() { "$bin/knee-cluster" --dir "$dir" "$@"; }
finish() {
  cluster down --wipe >/dev/null 2>&1 || true
  rm -rf "$temporary"
}
trap finish EXIT

# Another cluster may run at the same time; what is its own is left out.
other() { grep -q ':/knee-' "$1/cgroup" && ! grep -q ":/knee-$name-" "$1/cgroup"; }
others=no
if [ -e /run/knee-cluster ]; then
  others=yes
  echo "# another cluster runs: that the sysctls and cgroup controllers are restored shows only without one"
fi

snapshot() {
  echo "# interfaces"; ip -o link | sed 's/^\([0-9]*\): \([^ ]*\).*/\1 \2/'; ip -o addr | awk '{print $2, $3, $4}'; ip route
  echo "# network namespaces"; ls /run/netns /var/run/netns 2>/dev/null || true
  echo "# packet filters"
  for tool in iptables ip6tables; do
    # Only tables that exist already: listing another one would create it.
    if command -v $tool-legacy-save >/dev/null && [ -e /proc/net/ip_tables_names ]; then $tool-legacy-save; fi
  done 2>/dev/null | grep -v '^#' || true
  if command -v iptables-nft-save >/dev/null; then iptables-nft-save 2>/dev/null | grep -v '^#' | sed 's/\[[0-9:]*\]//' || true; fi
  echo "# sysctls"
  for key in vm/overcommit_memory vm/panic_on_oom vm/max_map_count kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys \
    kernel/keys/root_maxbytes kernel/hostname net/ipv4/ip_forward net/ipv4/conf/all/route_localnet net/bridge/bridge-nf-call-iptables \
    net/bridge/bridge-nf-call-ip6tables net/bridge/bridge-nf-call-arptables \
    net/netfilter/nf_conntrack_max net/netfilter/nf_conntrack_tcp_timeout_established net/netfilter/nf_conntrack_tcp_timeout_close_wait; do
    echo "$key $(cat /proc/sys/$key 2>/dev/null || echo absent)"
  done
  echo "# mounts"; awk '{$1 = $2 = ""; print}' /proc/self/mountinfo | sort
  echo "# cgroups"
  awk '/ - cgroup2? / {print $5}' /proc/self/mountinfo | sort -u | while read -r mount; do
    find "$mount" -maxdepth 1 -mindepth 1 -type d
  done | sort -u | grep -vE "/knee-" || true
  find $(awk '/ - cgroup2? / {print $5}' /proc/self/mountinfo | sort -u) -type d -path "*/knee-$name-*" 2>/dev/null | sort || true
  echo "# cgroup v2 controllers"
  [ "$others" = yes ] || awk '/ - cgroup2 / {print $5}' /proc/self/mountinfo | sort -u | while read -r mount; do
    cat "$mount/cgroup.subtree_control" 2>/dev/null || true
  done
  echo "# files"
  [ "$others" = yes ] || ls -d /run/knee* 2>/dev/null || true
  ls -d /tmp/hostpath_pv /etc/cni /etc/kubernetes /opt/cni /opt/containerd /usr/libexec/kubernetes /var/lib/cni /var/lib/kubelet \
    /var/lib/containerd /var/lib/etcd /var/lib/calico /var/log/pods /var/log/containers /run/containerd /run/xtables.lock /run/flannel ~/.kube 2>/dev/null || true
  find ~/.kube /etc/cni /var/lib/containerd /run/containerd -type f -exec sha256sum {} + 2>/dev/null | sort -k2 || true
  echo "# processes"
  for process in /proc/[0-9]*; do
    if ! other "$process"; then readlink "$process/exe"; fi
  done 2>/dev/null | grep -E '/containerd(-shim[^/]*)?$' | sort || true
}
compare() {
  snapshot >"$temporary/after"
  if ! diff -u "$temporary/before" "$temporary/after"; then
    echo "not ok - $1: the host is not as it was before (lines above)" >&2
    exit 1
  fi
  echo "ok - $1: the host is as it was before"
}
workload() { # one pod with a volume, so that there are shims, mounts, veths and cgroups
  export KUBECONFIG=$dir/kubeconfig
  "$bin/k8s/kubectl" apply -f - >/dev/null <<'Y'
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: pause}
spec:
  serviceName: pause
  replicas: 2
  selector: {matchLabels: {app: pause}}
  template:
    metadata: {labels: {app: pause}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: pause, image: "knee.dev/pause:1", volumeMounts: [{name: data, mountPath: /data}]}]
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}}]
Y
  "$bin/k8s/kubectl" rollout status statefulset/pause --timeout=60s >/dev/null
}
supervisor() { cluster status -o json | sed -n 's/.*"supervisorPID": \([0-9]*\).*/\1/p'; }

snapshot >"$temporary/before"
cluster up --name "$name" >/dev/null
workload
snapshot >"$temporary/after"
if diff -q "$temporary/before" "$temporary/after" >/dev/null; then
  echo "not ok - the snapshot does not even notice a running cluster" >&2
  exit 1
fi
echo "ok - while the cluster runs these lines differ:"
diff "$temporary/before" "$temporary/after" | grep '^[<>]' | grep -v kubepods | sed 's/^/    /' || true
# A client that watches must not hold back the end.
"$bin/k8s/kubectl" --kubeconfig "$dir/kubeconfig" get pods -A --watch >"$temporary/watch" 2>&1 &
watch=$!
for _ in $(seq 50); do [ -s "$temporary/watch" ] && break; sleep 0.1; done
[ -s "$temporary/watch" ] || { echo "not ok - the watch shows no pod within 5 s" >&2; exit 1; }
cluster down >/dev/null
wait "$watch" || true
compare "down"
if grep 'is killed' "$dir/log/supervisor.log" >&2; then
  echo "not ok - down: a daemon had to be killed (line above)" >&2
  exit 1
fi
echo "ok - down: every daemon stopped by itself, beside an open watch"

cluster up --name "$name" >/dev/null
"$bin/k8s/kubectl" --kubeconfig "$dir/kubeconfig" rollout status statefulset/pause --timeout=60s >/dev/null
echo "ok - up again: the pods of the time before run again"
kill -KILL "$(supervisor)"
cluster down >/dev/null
compare "supervisor killed, then down"

cluster up --name "$name" >/dev/null
kill -KILL "$(supervisor)"
cluster up --name "$name" >/dev/null
"$bin/k8s/kubectl" --kubeconfig "$dir/kubeconfig" rollout status statefulset/pause --timeout=60s >/dev/null
echo "ok - up after the supervisor was killed"
cluster down --wipe >/dev/null
compare "down --wipe"
[ ! -e "$dir" ] || { echo "not ok - down --wipe left $dir" >&2; exit 1; }
echo "ok - down --wipe left no state"
