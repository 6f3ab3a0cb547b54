#!/bin/bash
# build.sh [TAG]: the image with Debian's Prometheus, for `make study-ozone`.
source "$(dirname "$0")/../lib.sh"
"$HERE/rootfs/build.sh"
begin "${1:-knee.local/prometheus:bookworm}" "$CACHE/prometheus-$ARCH" "$HERE/prometheus" "$CACHE/rootfs-$ARCH.tar.inputs" -- "${DEBIAN_MIRROR:-}"
need mmdebstrap mmdebstrap
mkdir -p "$STAGE/bin"
# The package is unpacked, not installed: only its program is taken.
mmdebstrap --quiet --variant=extract --architectures="$ARCH" --include=prometheus bookworm "$STAGE/packages.tar" \
  ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} 2> "$STAGE/log" || die "Debian's package prometheus could not be unpacked: $(tail -1 "$STAGE/log")"
tar -xf "$STAGE/packages.tar" -C "$STAGE/bin" --strip-components=3 ./usr/bin/prometheus
ln "$CACHE/rootfs-$ARCH.tar" "$STAGE/rootfs.tar"
finish "$HERE/prometheus/Dockerfile" "$STAGE"
