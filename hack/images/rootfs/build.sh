#!/bin/bash
# A small Debian root file system, the lowest layer of the OpenSearch and the
# opensearch-benchmark image, as .cache/rootfs-ARCH.tar.
#
# DEBIAN_MIRROR may name a snapshot of the archive: then the same bytes come
# out on any day; otherwise they change when Debian publishes an update.
source "$(dirname "$0")/../lib.sh"
SUITE=bookworm # its Python is 3.11, as in the official opensearch-benchmark image
PACKAGES=ca-certificates,curl,git,libpython3-stdlib,pbzip2,procps,python3-minimal
OUT=$CACHE/rootfs-$ARCH.tar
key=$(fingerprint "$HERE/rootfs" -- "${DEBIAN_MIRROR:-}")
fresh "$OUT" "$key" && exit 0
need mmdebstrap mmdebstrap
start=$SECONDS
say "root file system: Debian $SUITE $ARCH"
# Nobody reads manuals in these images.
options=(--dpkgopt=force-unsafe-io) # no fsync for a tar that is made again at will
for dir in doc man info locale lintian bash-completion; do
  options+=(--dpkgopt="path-exclude=/usr/share/$dir/*")
done
# Perl's modules serve the installation (usrmerge), and then nothing: git needs
# none for what opensearch-benchmark does with it.
perl='"$1"/usr/share/perl "$1"/usr/share/perl5 "$1"/usr/lib/*/perl "$1"/usr/lib/*/perl5 "$1"/usr/lib/*/libperl.so.*'
# Python's own library is compiled so that its .pyc files are used whatever the
# date of the source says.
log=$OUT.log
if ! mmdebstrap --quiet --variant=essential --architectures="$ARCH" --include="$PACKAGES" "${options[@]}" \
  --customize-hook='chroot "$1" python3 -m compileall -q -f --invalidation-mode unchecked-hash /usr/lib/python3 /usr/lib/python3.11' \
  --customize-hook='rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/* "$1"/var/log/* '"$perl" \
  "$SUITE" "$OUT.new.tar" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} 2> "$log"; then
  tail -20 "$log" >&2
  die "mmdebstrap failed; its whole output is in $log (another architecture than the machine's needs qemu-user-static)"
fi
mv "$OUT.new.tar" "$OUT"
made "$OUT" "$key"
built "root file system" "$OUT" $((SECONDS - start))
