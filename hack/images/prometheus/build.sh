#!/bin/bash
# build.sh TAG: the image with Debian's Prometheus, for `make study-ozone`.
source "$(dirname "$0")/../lib.sh"
TAG=${1:-knee.local/prometheus:bookworm}
OUT=$(image_file "$TAG")
"$HERE/rootfs/build.sh"
key=$(fingerprint "$HERE/prometheus" "$HERE/mkimage" "$HERE/lib.sh" "$CACHE/rootfs-$ARCH.tar.inputs" -- "$TAG" "${DEBIAN_MIRROR:-}")
fresh "$OUT" "$key" && exit 0
need mmdebstrap mmdebstrap
start=$SECONDS
STAGE=$CACHE/prometheus-$ARCH
rm -rf "$STAGE"
mkdir -p "$STAGE/bin"
# The package is unpacked, not installed: only its program is taken.
mmdebstrap --quiet --variant=extract --architectures="$ARCH" --include=prometheus bookworm "$STAGE/packages.tar" \
  ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} 2> "$STAGE/log" || die "Debian's package prometheus could not be unpacked: $(tail -1 "$STAGE/log")"
tar -xf "$STAGE/packages.tar" -C "$STAGE/bin" --strip-components=3 ./usr/bin/prometheus
ln "$CACHE/rootfs-$ARCH.tar" "$STAGE/rootfs.tar"
archive "$TAG" "$OUT" "$HERE/prometheus/Dockerfile" "$STAGE"
rm -rf "$STAGE"
made "$OUT" "$key"
built "$TAG" "$OUT" $((SECONDS - start))
