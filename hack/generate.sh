#!/bin/bash
# generate.sh CONTROLLER_GEN CRD_REF_DOCS HELM_DOCS OUT writes everything that is generated from the sources to the folder OUT.
set -euo pipefail
cd "$(dirname "$0")/.."
controller_gen=$1 crd_ref_docs=$2 helm_docs=$3 out=$4
mkdir -p "$out"/{api/v1alpha1,config/crd/bases,config/rbac,docs}
"$controller_gen" object paths=./api/... output:object:dir="$out/api/v1alpha1"
"$controller_gen" crd paths=./api/... output:crd:dir="$out/config/crd/bases"
go run ./hack/crdrules api/v1alpha1/campaign_rules.yaml "$out/config/crd/bases/knee.dev_benchmarkcampaigns.yaml"
"$controller_gen" rbac:roleName=knee-manager paths=./controllers/... output:rbac:dir="$out/config/rbac"
spec_rules=$(go run ./hack/house rules "$out/config/crd/bases/knee.dev_benchmarkcampaigns.yaml")
"$crd_ref_docs" --log-level=ERROR --source-path=api --config=hack/apidoc/config.yaml --templates-dir=hack/apidoc/templates \
  --renderer=markdown --output-path="$out/docs/api.md" \
  --template-value "specRules=$spec_rules"
go run ./hack/house packages docs/architecture.md >"$out/docs/architecture.md.new"
mv "$out/docs/architecture.md.new" "$out/docs/architecture.md"

# The chart reads the manifests of config/ from its own folder, because Helm reads no other.
for file in crd/bases/knee.dev_benchmarkcampaigns.yaml rbac/{service_account,role,role_binding,leader_election,campaign_roles}.yaml \
  manager/network_policy.yaml metrics/{rbac,service,network_policy}.yaml policies/manager.yaml policies/authors/{policy,limits}.yaml \
  prometheus/service_monitor.yaml; do
  mkdir -p "$out/charts/knee/files/${file%/*}"
  source=$out/config/$file # new, if this script has generated it
  [ -e "$source" ] || source=config/$file
  cp "$source" "$out/charts/knee/files/$file"
done
"$helm_docs" --log-level=error --chart-search-root=charts --dry-run >"$out/charts/knee/README.md.new"
mv "$out/charts/knee/README.md.new" "$out/charts/knee/README.md"
