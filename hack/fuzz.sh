#!/bin/bash
# fuzz.sh TIME: runs every fuzz target of this module for that long. What it finds lies in the package's testdata/fuzz,
# and `go test` runs it from then on. Making a find smaller takes a minute each unless it is bounded: no time were left.
set -euo pipefail
time=$1
targets=$(git grep --untracked -E "^func Fuzz[A-Z]" -- "*_test.go" || true)
[ -n "$targets" ] || { echo "no fuzz target found" >&2; exit 1; }
while IFS=: read -r file line; do
  name=$(sed -E 's/^func (Fuzz[A-Za-z0-9_]*).*/\1/' <<< "$line")
  echo "$name in $(dirname "$file")"
  go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 1000x "./$(dirname "$file")" </dev/null
done <<< "$targets"
