#!/bin/bash
# Writes go.mod and go.sum for a Kubernetes version:
#   hack/cluster/bump.sh [KUBERNETES [COREDNS [PROVISIONER-LIBRARY]]]
# k8s.io/kubernetes requires its staging modules at v0.0.0 with local replaces,
# which no importing module sees; here each of them is replaced by the release
# that was published with it (v1.34.4 goes with v0.34.4).
set -euo pipefail
export GOWORK=off # a workspace's versions would be mixed into this module's
kubernetes=${1:-1.34.4} coredns=${2:-1.14.0} provisioner=${3:-13.0.0}
cd "$(dirname "$0")"
rm -f go.mod go.sum
go mod init github.com/knee-bench/knee/hack/cluster
upstream=$(go mod download -json "k8s.io/kubernetes@v$kubernetes" | sed -n 's/.*"GoMod": "\(.*\)",/\1/p')
edits=(
  "-require=k8s.io/kubernetes@v$kubernetes"
  "-require=github.com/coredns/coredns@v$coredns"
  "-require=sigs.k8s.io/sig-storage-lib-external-provisioner/v${provisioner%%.*}@v$provisioner"
)
for module in $(awk '/=> .\/staging/ {print $1}' "$upstream"); do
  edits+=("-replace=$module=$module@v0.${kubernetes#1.}")
done
# Kubernetes' own go directive keeps the GODEBUG defaults that it was tested with.
go mod edit -go="$(awk '/^go / {print $2}' "$upstream")" "${edits[@]}"
go mod tidy
