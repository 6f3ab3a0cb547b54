#!/bin/bash
# Makes sure that a Go at least as new as go.mod's is there: the one on the PATH, or, when that is missing or too
# old, the toolchain module of the Go module proxy, checked against a pinned digest, in .cache/go.
# The Makefile puts .cache/go/bin at the head of the PATH.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
version=1.26.8
declare -A digest=(   # sha256 of the module's zip
  [amd64]=30c2b1bf7dcc88d3eb0a1364e47ddd9128edb3110a30e8a0ef61cd5856b31de7
  [arm64]=02b36b6787b3ac767668f630e2998df45a3b1f9ffee08d1bf3ef6487cd658d99
)
die() { echo "go: $*" >&2; exit 1; }

wanted=$(sed -n 's/^go //p' "$root/go.mod")
if have=$(cd / && GOTOOLCHAIN=local go env GOVERSION 2>/dev/null); then
  # sort -V puts the older first: have is good when wanted sorts first, or they are the same.
  [ "$(printf '%s\n' "$wanted" "${have#go}" | sort -V | head -n 1)" != "$wanted" ] || exit 0
  reason="the Go on the PATH is ${have#go}, and go.mod wants $wanted"
else
  reason="there is no Go on the PATH, and go.mod wants $wanted"
fi

case $(uname -s)-$(uname -m) in
  Linux-x86_64) arch=amd64 ;;
  Linux-aarch64) arch=arm64 ;;
  *) die "$reason: install it from go.dev/dl (only Linux on amd64 and arm64 gets it automatically)" ;;
esac

"$root/hack/apt.sh" "go ($reason)" curl=curl unzip=unzip

echo "go: $reason: fetching Go $version into .cache/go" >&2
mkdir -p "$root/.cache"
work=$(mktemp -d "$root/.cache/go.XXXXXX")
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
module=golang.org/toolchain@v0.0.1-go$version.linux-$arch
proxies=${GOPROXY:-https://proxy.golang.org}
proxy=${proxies%%[,|]*}
curl -fsSL --retry 3 --connect-timeout 20 --max-time 600 -o "$work/go.zip" "$proxy/${module/@//@v/}.zip" ||
  die "cannot fetch $module from $proxy: set GOPROXY to a module proxy within reach, or install Go $wanted or newer"
echo "${digest[$arch]}  $work/go.zip" | sha256sum --check --quiet >&2 || die "the digest of $module is not the pinned one: not used"
unzip -q "$work/go.zip" -d "$work"
tree=$work/$module
# A module's zip keeps neither the executable bit nor a nested go.mod.
chmod +x "$tree"/bin/* "$tree"/pkg/tool/linux_"$arch"/*
find "$tree" -name _go.mod -execdir cp {} go.mod \;
rm -rf "$root/.cache/go"
mv "$tree" "$root/.cache/go"
