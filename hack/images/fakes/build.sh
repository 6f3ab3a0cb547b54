#!/bin/bash
# build.sh [TAG]: the image with the programs of test/fakes, for the end-to-end tests alone.
source "$(dirname "$0")/../lib.sh"
begin "${1:-knee.local/fakes:1}" "$CACHE/fakes-$ARCH" "$ROOT/test/fakes" "$ROOT/go.mod" "$HERE/fakes"
mkdir -p "$STAGE/bin"
(cd "$ROOT" && GOARCH=$ARCH CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$STAGE/bin/" ./test/fakes/...)
finish "$HERE/fakes/Dockerfile" "$STAGE"
