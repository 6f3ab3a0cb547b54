#!/bin/bash
# fuzz.sh TIME [third]: runs every fuzz target of this module for that long; with "third", every third target. The number of commits
# selects the first of them, so that three commits in a row run all targets and one commit always runs the same ones. THIRD=0, 1 or 2
# overrides the selection. FUZZ_WORKERS is the number of processes of a target (the number of cores). What it finds lies in the package's
# testdata/fuzz, and `go test` runs it from then on. Making a find smaller takes a minute each unless it is bounded: no time would be left.
set -euo pipefail
time=$1
step=1 first=0
if [ "${2:-}" = third ]; then
  step=3 first=${THIRD:-$(($(git rev-list --count HEAD) % 3))}
  echo "third $first of 0 to 2, for $time each"
fi
targets=$(git grep --untracked -E "^func Fuzz[A-Z]" -- "*_test.go" || true)
[ -n "$targets" ] || { echo "no fuzz target found" >&2; exit 1; }
index=0
while IFS=: read -r file line; do
  [ $((index++ % step)) = "$first" ] || continue
  name=$(sed -E 's/^func (Fuzz[A-Za-z0-9_]*).*/\1/' <<< "$line")
  echo "$name in $(dirname "$file")"
  go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" -parallel "${FUZZ_WORKERS:-$(nproc)}" -fuzzminimizetime 1000x "./$(dirname "$file")" </dev/null
done <<< "$targets"
