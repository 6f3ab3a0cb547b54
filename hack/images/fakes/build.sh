#!/bin/bash
# build.sh TAG: the image with the programs of test/fakes, for the end-to-end tests alone.
source "$(dirname "$0")/../lib.sh"
TAG=${1:-knee.local/fakes:1}
OUT=$(image_file "$TAG")
key=$(fingerprint "$ROOT/test/fakes" "$ROOT/go.mod" "$HERE/fakes" "$HERE/mkimage" "$HERE/lib.sh" -- "$TAG")
fresh "$OUT" "$key" && exit 0
start=$SECONDS
STAGE=$CACHE/fakes-$ARCH
rm -rf "$STAGE"
mkdir -p "$STAGE/bin"
(cd "$ROOT" && GOARCH=$ARCH CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$STAGE/bin/" ./test/fakes/...)
archive "$TAG" "$OUT" "$HERE/fakes/Dockerfile" "$STAGE"
rm -rf "$STAGE"
made "$OUT" "$key"
built "$TAG" "$OUT" $((SECONDS - start))
