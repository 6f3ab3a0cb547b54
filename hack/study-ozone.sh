#!/usr/bin/env bash
# Runs config/samples/ozone-freon.yaml, scaled down, on two real Ozones on the embedded cluster and prints the verdict.
# `make study-ozone` has brought up the cluster, the images and Knee before. Both Ozones stay for a look afterwards.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
export KUBECONFIG=${CLUSTER_DIR:-$root/.cluster}/kubeconfig
kubectl=$root/bin/k8s/kubectl
knee=$root/bin/kubectl-knee
kustomize=${KUSTOMIZE:-kustomize}
study=$root/config/studies/ozone
namespace=knee-ozone

"$kustomize" build "$study" | "$kubectl" apply --server-side --force-conflicts -f -
for release in old new; do
  "$kubectl" -n $namespace rollout status statefulset/ozone-$release --timeout=10m
  # Without a datanode the Storage Container Manager stays in safe mode and gives no block.
  "$kubectl" -n $namespace exec ozone-$release-0 -c scm -- ozone admin safemode wait -t 300 2>/dev/null
  "$kubectl" -n $namespace exec ozone-$release-0 -c om -- ozone version 2>/dev/null | grep "Using HDDS"
done
"$kubectl" -n $namespace rollout status deployment/prometheus --timeout=5m

# A campaign that has finished is deleted first: the study measures again.
"$kubectl" -n $namespace delete benchmarkcampaign ozone-freon --ignore-not-found
"$kustomize" build --load-restrictor LoadRestrictionsNone "$study/campaign" | "$kubectl" apply -f -
status=0
"$knee" -n $namespace watch ozone-freon --timeout 60m || status=$?
echo
"$kubectl" -n $namespace get benchmarkcampaign ozone-freon
echo
if [ "$status" -eq 0 ]; then
  "$knee" -n $namespace report ozone-freon --md | awk '/^#/ || !NF {next} {print; exit}'
  "$knee" -n $namespace report ozone-freon --file results.csv
else
  echo "The study did not finish. What the campaign says:"
  "$kubectl" -n $namespace describe benchmarkcampaign ozone-freon | tail -n 40
fi
echo
echo "Delete the study with: $kubectl --kubeconfig $KUBECONFIG delete namespace $namespace"
exit "$status"
