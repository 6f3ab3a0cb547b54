#!/bin/bash
# generate.sh CONTROLLER_GEN OUT: writes everything that is generated from the sources, below OUT.
set -euo pipefail
cd "$(dirname "$0")/.."
controller_gen=$1 out=$2
mkdir -p "$out"/{api/v1alpha1,config/crd/bases,config/rbac,docs}
"$controller_gen" object paths=./api/... output:object:dir="$out/api/v1alpha1"
"$controller_gen" crd paths=./api/... output:crd:dir="$out/config/crd/bases"
"$controller_gen" rbac:roleName=knee-manager paths=./controllers/... output:rbac:dir="$out/config/rbac"
go run ./hack/apidoc "$out/config/crd/bases/knee.dev_benchmarkcampaigns.yaml" >"$out/docs/api.md.new"
mv "$out/docs/api.md.new" "$out/docs/api.md"
