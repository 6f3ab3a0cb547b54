#!/bin/bash
# Proves that the running cluster does what Knee and its tests ask of it:
#   hack/cluster/check.sh [STATE-DIR]
# Prints a line for each thing shown, and stops at the first that is not.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
dir=${1:-$root/.cluster}
bin=$root/bin
export KUBECONFIG=$dir/kubeconfig PATH=$bin/k8s:$PATH

temporary=$(mktemp -d)
forward=
finish() {
  status=$?
  [ -z "$forward" ] || kill "$forward" 2>/dev/null || true
  if [ $status != 0 ]; then
    echo "not ok $((n + 1)) - after $(since) s; what was there:" >&2
    kubectl -n check get pods,pvc,jobs -o wide >&2 || true
    kubectl -n check get events --sort-by=.lastTimestamp 2>/dev/null | tail -n 15 >&2 || true
  fi
  kubectl delete namespace check --ignore-not-found --wait=false >/dev/null || true
  rm -rf "$temporary"
}
began=$(date +%s%N)
since() { printf '%d.%d' $((($(date +%s%N) - began) / 1000000000)) $((($(date +%s%N) - began) / 100000000 % 10)); }
n=0
ok() { n=$((n + 1)); echo "ok $n - $1 ($(since) s)"; }
trap finish EXIT

# until_equal WANTED COMMAND...: polls until the command prints what is wanted.
until_equal() {
  local wanted=$1 got= end=$((SECONDS + 60))
  shift
  until got=$("$@" 2>&1) && [ "$got" = "$wanted" ]; do
    if [ $SECONDS -ge $end ]; then echo "wanted '$wanted' from: $*; got '$got'" >&2; return 1; fi
    sleep 0.2
  done
}
k() { kubectl -n check "$@"; }

(cd "$here" && GOWORK=off CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$temporary/probe" ./check/probe)
"$bin/knee-cluster" pack --tag knee.dev/check-probe:1 --output "$temporary/probe.tar" "$temporary/probe"
"$bin/knee-cluster" --dir "$dir" import "$temporary/probe.tar" >/dev/null
ok "an image made without an engine is imported"

kubectl delete namespace check --ignore-not-found >/dev/null
kubectl create namespace check >/dev/null
kubectl label namespace check pod-security.kubernetes.io/enforce=restricted >/dev/null
began=$(date +%s%N)
sed "s/ARCH/$(go env GOARCH)/" "$here/check/workloads.yaml" | k apply -f - >/dev/null
k rollout status statefulset/web --timeout=90s >/dev/null
ok "a StatefulSet runs as user 1000 under the restricted pod security standard, with seccomp RuntimeDefault"
k wait --for=condition=complete job/get --timeout=90s >/dev/null
[ "$(k logs job/get)" = "hello from web-1" ]
ok "a Job completes, finds a StatefulSet's pod by its DNS name, and has logs"
k wait --for=condition=complete job/sidecar --timeout=90s >/dev/null
ok "a Job with a native sidecar completes"
until_equal OOMKilled k get pod hog -o jsonpath='{.status.containerStatuses[0].state.terminated.reason}'
ok "a container over its memory limit is OOMKilled, and its status says so"
[ "$(k exec web-0 -- /probe files)" -ge 65536 ]
ok "a container may open 65536 files, or is told so: see the open files in README.md"
until_equal "hello configmap" k exec web-0 -- /probe cat /settings/greeting
ok "exec; a ConfigMap as a volume"
[ "$(k get pvc data-web-0 -o jsonpath='{.spec.storageClassName} {.status.phase}')" = "standard Bound" ]
k exec web-0 -- /probe write /data/kept persisted
k delete pod web-0 >/dev/null
k rollout status statefulset/web --timeout=60s >/dev/null
[ "$(k exec web-0 -- /probe cat /data/kept)" = persisted ]
ok "a claim of the default StorageClass is writable for user 1000 and outlives the pod"
k exec web-0 -- /probe get http://web-vip.check/ | grep -q 'hello from web-'
ok "a ClusterIP Service, also from one of its own pods, by a short name"
# reached FROM ADDRESS: yes or no.
reached() { if k exec "$1" -- /probe reach "$2" >/dev/null 2>&1; then echo yes; else echo no; fi; }
if [ "$(cat "$dir/network-policies")" = enforced ]; then
  k wait --for=condition=Ready pod/stranger --timeout=60s >/dev/null
  web1=$(k get pod web-1 -o jsonpath='{.status.podIP}')
  until_equal yes reached stranger "$web1:8080"
  k apply -f - >/dev/null <<'POLICY'
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web}
spec:
  podSelector: {matchLabels: {app: web}}
  policyTypes: [Ingress, Egress]
  ingress: [{from: [{podSelector: {matchLabels: {app: web}}}], ports: [{port: 8080}]}]
  egress: [{to: [{podSelector: {matchLabels: {app: web}}}]}, {ports: [{port: 53, protocol: UDP}]}]
POLICY
  until_equal no reached stranger "$web1:8080"
  until_equal no reached stranger web-vip:80
  until_equal yes reached web-0 "$web1:8080"
  until_equal yes reached web-0 web-vip:80
  until_equal no reached web-0 "$(k get pod stranger -o jsonpath='{.status.podIP}'):8080"
  until_equal no reached web-0 kubernetes.default:443
  k delete networkpolicy web >/dev/null
  until_equal yes reached stranger "$web1:8080"
  ok "a NetworkPolicy shuts out who is not named, also over a Service, and shuts in"
else
  echo "# network policies are $(cat "$dir/network-policies")"
fi
if k exec web-0 -- /probe lookup example.com >/dev/null 2>"$temporary/lookup"; then echo "example.com was found" >&2; exit 1; fi
grep -q 'no such host' "$temporary/lookup"
ok "a name outside of the cluster is answered at once: there is none"
pull_failed() { k get pod absent -o jsonpath='{.status.containerStatuses[0].state.waiting.reason}' | sed 's/^ImagePullBackOff$/ErrImagePull/'; }
until_equal ErrImagePull pull_failed
ok "an image that is not there shows in the pod's status"
k port-forward service/web-vip :80 >"$temporary/forward" 2>&1 &
forward=$!
until_equal 1 grep -c '127.0.0.1:' "$temporary/forward"
port=$(sed -n 's/.*127.0.0.1:\([0-9]*\) .*/\1/p' "$temporary/forward")
curl -sf --max-time 10 "http://127.0.0.1:$port/" | grep -q 'hello from web-'
ok "port-forward from the host"
volumes=$(kubectl get pv -o jsonpath='{range .items[?(@.spec.claimRef.namespace=="check")]}{.metadata.name} {end}')
[ "$(wc -w <<<"$volumes")" = 2 ]
kubectl delete namespace check --timeout=90s >/dev/null
for volume in $volumes; do
  kubectl wait --for=delete "pv/$volume" --timeout=60s >/dev/null
  [ ! -e "$dir/pv/$volume" ]
done
ok "a namespace is deleted with all that is in it, volumes and their files included"
[ "$(kubectl get nodes -o jsonpath='{.items[*].status.capacity.cpu}')" = "$(nproc)" ]
ok "the node has the machine's CPUs"
echo "1..$n"
