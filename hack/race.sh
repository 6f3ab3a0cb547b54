#!/bin/bash
# Tests the packages with concurrency under the race detector. A package belongs to them if its code or its tests start goroutines or
# share data between goroutines. The detector needs cgo and a C compiler. Arguments are passed to go test.
set -euo pipefail
concurrent='^[[:space:]]*go (func|[A-Za-z_.]+)\(|\.Go\(|\bsync\.|\batomic\.|\bchan\b|\berrgroup\.'
# These packages are left out:
#   hack             other modules, and tools of one goroutine
#   test/chaos, e2e  need the embedded cluster, and Knee runs in other processes
#   test/rbac, test/releases, test/monitoring, test/chart, test/streambenchmark   Knee runs in other processes
#   test/gitopsdiff  runs every sample to its end, which takes minutes
#   test/faults, simulatedfaults   call the reconciler in one goroutine, thousands of times
#   test/synthetic   simulates time: its studies of the statistics take minutes (its tests of loader pods are run below)
#   cmd/kubectl-knee its goroutines are those of internal/plugin, and its tests of reports take minutes
#   controllers      its specs take minutes (those that run many Reconciles at a time are run below)
skipped='^(hack|cmd/kubectl-knee|test/(chaos|e2e|rbac|releases|monitoring|chart|gitopsdiff|streambenchmark|faults|simulatedfaults|synthetic)|controllers)$|^hack/'
packages=$(git grep --untracked -lE "$concurrent" -- '*.go' | xargs -n1 dirname | sort -u | grep -vE "$skipped" | sed 's|^|./|')
[ -n "$packages" ] || { echo "test-race: no package found" >&2; exit 1; }
export CGO_ENABLED=1
# shellcheck disable=SC2086 # one argument per package
go test -race -timeout 10m "$@" $packages
go test -race -timeout 10m "$@" ./controllers -ginkgo.focus-file=two_managers_test.go -ginkgo.focus-file=shared_nodes_test.go
go test -race -timeout 10m "$@" ./test/synthetic -run LoaderPod
