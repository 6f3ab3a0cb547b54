#!/bin/bash
# build.sh TAG [BIN]: Knee's own image from the Dockerfile. BIN holds static
# binaries for this machine's architecture; for another they are compiled here
# with LDFLAGS.
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
  (cd "$ROOT" && GOARCH=$ARCH CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags="$LDFLAGS" -o "$DIST/" ./cmd/manager ./cmd/knee-agent)
fi
# What the binaries are made of and under which licences, to lie beside them.
about=$(fingerprint "$DIST"/{manager,knee-agent} "$ROOT"/{go.mod,go.sum} "$ROOT/hack/supply-chain")
if ! fresh "$DIST/sbom.cdx.json" "$about" || [ ! -e "$DIST/THIRD-PARTY-NOTICES" ]; then
  mkdir -p "$CACHE/tools"
  (cd "$ROOT/hack/supply-chain" && CGO_ENABLED=0 GOWORK=off go build -trimpath -o "$CACHE/tools/supply-chain" .)
  (cd "$ROOT" && GOARCH=$ARCH CGO_ENABLED=0 "$CACHE/tools/supply-chain" image -out "$DIST" "$DIST"/{manager,knee-agent})
  made "$DIST/sbom.cdx.json" "$about"
fi
key=$(fingerprint "$ROOT"/{Dockerfile,LICENSE} "$DIST"/{manager,knee-agent,sbom.cdx.json,THIRD-PARTY-NOTICES} "$HERE/mkimage" "$HERE/lib.sh" -- "$TAG")
fresh "$OUT" "$key" && exit 0
start=$SECONDS
archive "$TAG" "$OUT" "$ROOT/Dockerfile" "$ROOT"
made "$OUT" "$key"
built "$TAG" "$OUT" $((SECONDS - start))
