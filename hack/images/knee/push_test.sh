#!/bin/bash
# push_test.sh: checks `make push` with a registry on this machine. CRANE is the program crane. The agent of the pushed arm64 image must run, and know the
# version.
set -euo pipefail
cd "$(dirname "$0")/../../.."
temp=$(mktemp -d)
trap 'kill "$registry" 2>/dev/null; rm -rf "$temp"' EXIT
fail() { echo "push_test: $*" >&2; exit 1; }
exec {log}< <(exec "$CRANE" registry serve --address 127.0.0.1:0 2>&1)
registry=$!
while read -r -t 60 line <&"$log"; do
  address=$(grep -o 'serving on port [0-9]*' <<<"$line" | grep -o '[0-9]*$') && break
done
[ -n "${address:-}" ] || fail "the registry did not start: ${line:-no output}"
cat <&"$log" >"$temp/registry" &

image=localhost:$address/knee:test
digest=$(make --no-print-directory push KNEE_IMAGE="$image" | tail -n 1)
[ "$digest" = "${image%:*}@$("$CRANE" digest "$image")" ] || fail "make push printed $digest"

platforms=$("$CRANE" manifest "$image" | python3 -c 'import json, sys; print(*sorted(m["platform"]["architecture"] for m in json.load(sys.stdin)["manifests"]))')
[ "$platforms" = "amd64 arm64" ] || fail "the image has the platforms $platforms, want amd64 and arm64"
for arch in amd64 arm64; do
  mkdir "$temp/$arch"
  "$CRANE" export --platform "linux/$arch" "$image" - | tar -x -C "$temp/$arch"
done
version=$("$temp/amd64/manager" --version)
[ "$(qemu-aarch64-static "$temp/arm64/manager" --version)" = "$version" ] || fail "the arm64 manager is not version $version"
qemu-aarch64-static "$temp/arm64/knee-agent" install "$temp/installed"
cmp "$temp/installed" "$temp/arm64/knee-agent" || fail "the arm64 agent did not install itself"
if message=$(make --no-print-directory push 2>&1); then fail "make push without KNEE_IMAGE succeeded"; fi
case $message in *KNEE_IMAGE=REGISTRY/knee:TAG*) ;; *) fail "make push without KNEE_IMAGE: $message" ;; esac
echo "push_test: ok: $platforms, $version"
