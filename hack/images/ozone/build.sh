#!/bin/bash
# build.sh [TAG]: the image of Ozone OZONE_VERSION, from the root file system, the jars and the Java runtime of the
# OpenSearch image.
source "$(dirname "$0")/../lib.sh"
export OZONE_VERSION=${OZONE_VERSION:-2.2.1}
DIR=$HERE/ozone
"$HERE/rootfs/build.sh"
"$DIR/jars.sh"
"$HERE/opensearch/jre.sh"
begin "${1:-knee.local/ozone:$OZONE_VERSION}" "$CACHE/ozone-$OZONE_VERSION/context-$ARCH" "$DIR" "$CACHE"/{rootfs-$ARCH.tar,ozone-$OZONE_VERSION/lib,jre-$ARCH}.inputs -- "$OZONE_VERSION"
mkdir -p "$STAGE"/home/{bin,etc/hadoop,share/ozone}
cp "$DIR/ozone" "$STAGE/home/bin/"
cp "$DIR/conf/log4j.properties" "$STAGE/home/etc/hadoop/"
cp -r "$DIR/etc" "$STAGE/etc"
cp -rl "$CACHE/ozone-$OZONE_VERSION/lib" "$STAGE/home/share/ozone/lib"
ln "$CACHE/rootfs-$ARCH.tar" "$STAGE/rootfs.tar"
cp -rl "$CACHE/jre-$ARCH" "$STAGE/jdk"
finish "$DIR/Dockerfile" "$STAGE" -build-arg "VERSION=$OZONE_VERSION"
