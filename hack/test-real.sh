#!/bin/bash
# test-real.sh ARCHIVE: starts OpenSearch from the image archive as a process with one node on the loopback address, and runs the
# tests that need a real OpenSearch and the real opensearch-benchmark. The node gets a free port from the kernel, and its own copy
# of the image with an empty data folder. Everything ends with this script, also if a test fails. A skipped test is a failure.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
archive=$(realpath "$1")
unpacked=${KNEE_CACHE:-$root/.cache}/test-real
mkdir -p "$unpacked"
# Two opensearch-benchmark on one machine disturb each other.
exec 9> "$unpacked/lock"
flock 9

if [ "$(cat "$unpacked/of" 2>/dev/null)" != "$(cat "$archive.inputs")" ]; then
  rm -rf "$unpacked/image"
  python3 "$here/images/bundle.py" "$archive" "$unpacked/image"
  cp "$archive.inputs" "$unpacked/of"
fi
work=$(mktemp -d -t knee-real-XXXXXX)
chmod 755 "$work"
node=''
cleanup() {
  if [ -n "$node" ]; then
    kill "$node" 2>/dev/null || true
    wait "$node" 2>/dev/null || true
  fi
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

cp -al "$unpacked/image/rootfs/usr/share/opensearch" "$work/home"
as_user=() # OpenSearch refuses to run as root; user 1000 owns the files of the image
if [ "$(id -u)" = 0 ]; then as_user=(setpriv --reuid=1000 --regid=1000 --clear-groups); fi
env -u OPENSEARCH_JAVA_HOME JAVA_HOME="$work/home/jdk" OPENSEARCH_TMPDIR="$work/home/logs" OPENSEARCH_JAVA_OPTS="-Xms512m -Xmx512m" \
  "${as_user[@]}" "$work/home/bin/opensearch" -Ediscovery.type=single-node -Enetwork.host=127.0.0.1 -Ehttp.port=0 -Etransport.port=0 \
  -Ecluster.routing.allocation.disk.threshold_enabled=false < /dev/null > "$work/node.log" 2>&1 9>&- &
node=$!
fail() {
  tail -n 40 "$work/node.log" >&2
  echo "test-real: $*" >&2
  exit 1
}
cd "$root"
# contract.Cluster makes sure that the names of these tests match the pattern.
mapfile -t packages < <(git grep -l --untracked 'contract\.Cluster(' -- '*_test.go' | xargs -n 1 dirname | sort -u | sed 's#^#./#')
[ ${#packages[@]} -gt 0 ] || fail "no package found"
go test -count=1 -run '^$' "${packages[@]}" > /dev/null 9>&- # compiles them while OpenSearch starts
deadline=$((SECONDS + 300))
port=''
until [ -n "$port" ] && curl -sf -m 10 "http://127.0.0.1:$port/_cluster/health?wait_for_status=green&timeout=5s" > /dev/null; do
  kill -0 "$node" 2>/dev/null || fail "OpenSearch exited"
  [ $SECONDS -lt $deadline ] || fail "OpenSearch is not green after 300 s"
  sleep 0.2
  port=$(sed -nE 's/.*HttpServerTransport.*publish_address \{127\.0\.0\.1:([0-9]+)\}.*/\1/p' "$work/node.log")
done
echo "test-real: OpenSearch is green on port $port after $SECONDS s"

# In its own PID namespace, opensearch-benchmark does not see that another one runs in a container of this machine.
alone=()
if [ "$(id -u)" = 0 ]; then alone=(unshare --pid --fork --kill-child --mount-proc); fi
KNEE_TEST_OPENSEARCH=http://127.0.0.1:$port "${alone[@]}" go test -p 1 -count=1 -timeout 30m -v -run '[rR]eal[A-Z_]' \
  "${packages[@]}" 2>&1 9>&- | tee "$work/tests.log"
if grep -e '--- SKIP' -e 'no tests to run' "$work/tests.log" >&2; then
  echo "test-real: the tests above did not run" >&2
  exit 1
fi
echo "test-real: passed after $SECONDS s"
