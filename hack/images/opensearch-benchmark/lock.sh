#!/bin/bash
# lock.sh VERSION: writes osb-VERSION.lock, the exact packages of an
# opensearch-benchmark image with their digests for amd64 and arm64, from what
# pip resolves for Debian 12's Python 3.11 today.
source "$(dirname "$0")/../lib.sh"
VERSION=${1:?version of opensearch-benchmark}
DIR=$HERE/opensearch-benchmark
source "$DIR/platforms.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# thespian is published as source only. A wheel of it, made here, lets pip
# resolve for another platform; the lock holds the source's digest.
python3 -m pip wheel --quiet --no-deps "thespian==$THESPIAN" -w "$work/wheels"
# 1.x imports pkg_resources, which is setuptools', and does not say so.
extra=()
case $VERSION in 1.*) extra=($(cat "$DIR/constraints.txt")) ;; esac
for arch in amd64 arm64; do
  python3 -m pip install --quiet --dry-run --ignore-installed --report "$work/$arch.json" --target "$work/none" \
    --only-binary=:all: --python-version 3.11 $(platforms "$arch") --find-links "$work/wheels" \
    "opensearch-benchmark==$VERSION" "thespian==$THESPIAN" ${extra[@]+"${extra[@]}"}
done
python3 "$DIR/lock.py" "$work"/*.json > "$DIR/osb-$VERSION.lock"
say "$DIR/osb-$VERSION.lock: $(grep -c == "$DIR/osb-$VERSION.lock") packages"
