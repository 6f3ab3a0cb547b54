#!/bin/bash
# build.sh [TAG]: the image of opensearch-benchmark OSB_VERSION, from the root file system and the packages.
source "$(dirname "$0")/../lib.sh"
export OSB_VERSION=${OSB_VERSION:-2.4.0}
DIR=$HERE/opensearch-benchmark
"$HERE/rootfs/build.sh"
"$DIR/packages.sh"
SITE=$CACHE/osb-$OSB_VERSION-$ARCH/site
begin "${1:-knee.local/opensearch-benchmark:2.4.0}" "$CACHE/osb-$OSB_VERSION-$ARCH/context" "$DIR" "$CACHE/rootfs-$ARCH.tar.inputs" "$SITE.inputs" -- "$OSB_VERSION"
venv=$STAGE/home/venv
mkdir -p "$venv"/{bin,lib/python3.11} "$STAGE/home/.benchmark"
cp -rl "$SITE" "$venv/lib/python3.11/site-packages"
printf 'home = /usr/bin\ninclude-system-site-packages = false\n' > "$venv/pyvenv.cfg"
ln -s /usr/bin/python3.11 "$venv/bin/python3"
cp "$DIR/opensearch-benchmark" "$venv/bin/"
cp -r "$DIR/etc" "$STAGE/"
ln "$CACHE/rootfs-$ARCH.tar" "$STAGE/rootfs.tar"
finish "$DIR/Dockerfile" "$STAGE" -build-arg "VERSION=$OSB_VERSION"
