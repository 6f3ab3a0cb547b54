#!/bin/bash
# verify-generate.sh CONTROLLER_GEN CRD_REF_DOCS HELM_DOCS fails when a generated file differs from what its sources give.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
hack/generate.sh "$1" "$2" "$3" "$out"
stale=0
while read -r file; do
  diff -u "$file" "$out/$file" >&2 || stale=1
done < <(cd "$out" && find . -type f | sort)
[ $stale = 0 ] || { echo "generated files are stale (see above): run make generate and commit them" >&2; exit 1; }
