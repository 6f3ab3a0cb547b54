#!/bin/bash
# Builds bin/knee-cluster and, in bin/k8s, a symlink for each component that it
# can be called as, the pause program of the pod sandboxes and a wrapper of runc. Each file
# appears whole, by a rename, so that tests which use bin/k8s never see half of one.
#   hack/cluster/build.sh [BIN]
set -euo pipefail
export GOWORK=off CGO_ENABLED=0
here=$(cd "$(dirname "$0")" && pwd)
bin=${1:-$here/../../bin}
mkdir -p "$bin/k8s"
bin=$(cd "$bin" && pwd)
cd "$here"

kubernetes=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
minor=${kubernetes#v1.}
ldflags="-s -w"
for variable in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  ldflags+=" -X $variable.gitVersion=$kubernetes -X $variable.gitMajor=1"
  ldflags+=" -X $variable.gitMinor=${minor%%.*} -X $variable.gitTreeState=clean"
done

# build PACKAGE FILE [FLAGS...]
build() {
  local package=$1 file=$2
  shift 2
  go build -trimpath "$@" -o "$file.new" "$package"
  mv "$file.new" "$file"
}
build . "$bin/knee-cluster" -ldflags "$ldflags"
build ./pause "$bin/k8s/pause" -ldflags "-s -w"
build ./runc "$bin/k8s/runc-open-files" -ldflags "-s -w"
for component in coredns etcd kube-apiserver kube-controller-manager kube-proxy kube-scheduler kubectl kubelet; do
  ln -sfn ../knee-cluster "$bin/k8s/$component"
done
