#!/bin/bash
# build.sh TAG: the opensearch-benchmark image, from the root file system and
# the packages.
source "$(dirname "$0")/../lib.sh"
TAG=${1:-knee.local/opensearch-benchmark:2.4.0}
export OSB_VERSION=${OSB_VERSION:-2.4.0}
DIR=$HERE/opensearch-benchmark
OUT=$(image_file "$TAG")
"$HERE/rootfs/build.sh"
"$DIR/packages.sh"
SITE=$CACHE/osb-$OSB_VERSION-$ARCH/site
key=$(fingerprint "$DIR" "$HERE/mkimage" "$HERE/lib.sh" "$CACHE/rootfs-$ARCH.tar.inputs" "$SITE.inputs" -- "$TAG" "$OSB_VERSION")
fresh "$OUT" "$key" && exit 0
start=$SECONDS
STAGE=$CACHE/osb-$OSB_VERSION-$ARCH/context
rm -rf "$STAGE"
venv=$STAGE/home/venv
mkdir -p "$venv"/{bin,lib/python3.11} "$STAGE/home/.benchmark"
cp -rl "$SITE" "$venv/lib/python3.11/site-packages"
printf 'home = /usr/bin\ninclude-system-site-packages = false\n' > "$venv/pyvenv.cfg"
ln -s /usr/bin/python3.11 "$venv/bin/python3"
cp "$DIR/opensearch-benchmark" "$venv/bin/"
cp -r "$DIR/etc" "$STAGE/"
ln "$CACHE/rootfs-$ARCH.tar" "$STAGE/rootfs.tar"
archive "$TAG" "$OUT" "$DIR/Dockerfile" "$STAGE" -build-arg "VERSION=$OSB_VERSION"
rm -rf "$STAGE"
made "$OUT" "$key"
built "$TAG" "$OUT" $((SECONDS - start))
