#!/usr/bin/env bash
# Runs config/samples/demo.yaml on the embedded cluster to its verdict. `make demo` has brought up the cluster,
# the images and Knee before. Exits non-zero if the campaign did not finish; Ctrl-C leaves it running.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
export KUBECONFIG=$root/.cluster/kubeconfig
kubectl=$root/bin/k8s/kubectl
knee=$root/bin/kubectl-knee

# A demo that has finished is run again by a new token; one that still runs is watched.
token=$(date -u +%Y%m%d-%H%M%S)
ready=$("$kubectl" -n knee-demo get benchmarkcampaign demo --ignore-not-found \
  -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}')
"$kubectl" apply -f "$root/config/samples/demo.yaml"
if [ "$ready" = True ] || [ "$ready" = False ]; then
  "$kubectl" -n knee-demo patch benchmarkcampaign demo --type=merge -p "{\"spec\":{\"rerun\":\"$token\"}}"
fi

echo
echo "The campaign runs: two variants, clients 1, 2 and 4, then two Final repetitions each. Ctrl-C leaves it running."
status=0
"$knee" -n knee-demo watch demo --timeout 40m || status=$?
echo
"$kubectl" -n knee-demo get benchmarkcampaigns demo
echo
if [ "$status" -eq 0 ]; then
  # The report's first paragraph: what was found, and what it does not prove.
  "$knee" -n knee-demo report demo --md | awk '/^#/ || !NF {next} {print; exit}'
else
  echo "The demo did not finish. What it says:"
  "$kubectl" -n knee-demo describe benchmarkcampaign demo | tail -n 40
fi
cat <<TEXT
The report:        bin/kubectl-knee --kubeconfig .cluster/kubeconfig -n knee-demo report demo
                   (--file results.csv for every attempt; ConfigMap demo-report holds all files)
The cluster stays: look with KUBECONFIG=.cluster/kubeconfig bin/k8s/kubectl -n knee-demo get all,bcamp,cm; take it down with make cluster-down
TEXT
exit "$status"
