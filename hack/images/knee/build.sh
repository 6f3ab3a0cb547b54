#!/bin/bash
# build.sh TAG [BIN]: Knee's own image from the Dockerfile. BIN holds static
# binaries for this machine's architecture; for another they are compiled here.
source "$(dirname "$0")/../lib.sh"
TAG=${1:-knee.local/knee:dev}
BIN=${2:-$ROOT/bin}
DIST=$ROOT/dist/linux/$ARCH
OUT=$(image_file "$TAG")
mkdir -p "$DIST"
if [ "$ARCH" = "$(go env GOHOSTARCH)" ]; then
  for program in manager knee-agent; do
    [ -x "$BIN/$program" ] || die "$BIN/$program is missing: run make build"
    # An interpreter in it means a dynamic binary, which the image cannot run.
    if grep -q -a -m1 '/lib64/ld-linux\|/lib/ld-linux' "$BIN/$program"; then
      die "$BIN/$program is not static: build it with CGO_ENABLED=0"
    fi
    cmp -s "$BIN/$program" "$DIST/$program" || cp "$BIN/$program" "$DIST/$program"
  done
else
  (cd "$ROOT" && GOARCH=$ARCH CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$DIST/" ./cmd/manager ./cmd/knee-agent)
fi
key=$(fingerprint "$ROOT/Dockerfile" "$DIST"/{manager,knee-agent} "$HERE/mkimage" "$HERE/lib.sh" -- "$TAG")
fresh "$OUT" "$key" && exit 0
start=$SECONDS
archive "$TAG" "$OUT" "$ROOT/Dockerfile" "$ROOT"
made "$OUT" "$key"
built "$TAG" "$OUT" $((SECONDS - start))
