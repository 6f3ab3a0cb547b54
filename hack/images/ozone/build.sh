#!/bin/bash
# build.sh TAG: the image of Ozone OZONE_VERSION, from the root file system, the jars and the Java runtime of the
# OpenSearch image.
source "$(dirname "$0")/../lib.sh"
export OZONE_VERSION=${OZONE_VERSION:-2.2.1}
TAG=${1:-knee.local/ozone:$OZONE_VERSION}
DIR=$HERE/ozone
OUT=$(image_file "$TAG")
"$HERE/rootfs/build.sh"
"$DIR/jars.sh"
"$HERE/opensearch/jre.sh"
key=$(fingerprint "$DIR" "$HERE/mkimage" "$HERE/lib.sh" "$CACHE"/{rootfs-$ARCH.tar,ozone-$OZONE_VERSION/lib,jre-$ARCH}.inputs -- "$TAG" "$OZONE_VERSION")
fresh "$OUT" "$key" && exit 0
start=$SECONDS
STAGE=$CACHE/ozone-$OZONE_VERSION/context-$ARCH
rm -rf "$STAGE"
mkdir -p "$STAGE"/home/{bin,etc/hadoop,share/ozone}
cp "$DIR/ozone" "$STAGE/home/bin/"
cp "$DIR/conf/log4j.properties" "$STAGE/home/etc/hadoop/"
cp -r "$DIR/etc" "$STAGE/etc"
cp -rl "$CACHE/ozone-$OZONE_VERSION/lib" "$STAGE/home/share/ozone/lib"
ln "$CACHE/rootfs-$ARCH.tar" "$STAGE/rootfs.tar"
cp -rl "$CACHE/jre-$ARCH" "$STAGE/jdk"
archive "$TAG" "$OUT" "$DIR/Dockerfile" "$STAGE" -build-arg "VERSION=$OZONE_VERSION"
rm -rf "$STAGE"
made "$OUT" "$key"
built "$TAG" "$OUT" $((SECONDS - start))
