# Shared by the image scripts; to be sourced. Sets ROOT, CACHE, IMAGES, ARCH.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
CACHE=${KNEE_CACHE:-$ROOT/.cache}
IMAGES=$CACHE/images
case ${ARCH:=$(uname -m)} in # the machine's own unless another is named
  amd64 | x86_64) ARCH=amd64 ;;
  arm64 | aarch64) ARCH=arm64 ;;
  *) echo "images: ARCH=$ARCH: only amd64 and arm64" >&2; exit 1 ;;
esac
# One time for every file in every image (2025-01-01), so that the same inputs
# give the same bytes; set it to build with another.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-1735689600}
export LC_ALL=C.UTF-8 PYTHONHASHSEED=0 PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
mkdir -p "$IMAGES"

say() { echo "images: $*" >&2; }
die() { echo "images: $*" >&2; exit 1; }

# need PROGRAM PACKAGE: fails with one sentence when PROGRAM is missing.
need() {
  command -v "$1" >/dev/null || die "$1 is missing: install Debian's package $2 (as root, make images does it itself)"
}

# fingerprint FILE|FOLDER... [-- WORD...]: a digest of the contents and words.
fingerprint() {
  local paths=()
  while [ $# -gt 0 ] && [ "$1" != -- ]; do paths+=("$1"); shift; done
  { [ ${#paths[@]} = 0 ] || find "${paths[@]}" -type f ! -path '*/__pycache__/*' -print0 | sort -z | xargs -0 sha256sum
    printf '%s\n' "$@" "$SOURCE_DATE_EPOCH" "$ARCH"; } | sed "s# $ROOT/# #" | sha256sum | cut -d' ' -f1
}

# fresh OUTPUT FINGERPRINT: succeeds if OUTPUT was made from these inputs. Until the script ends, no other script can make OUTPUT:
# a second build waits here for the first one and then finds its output.
fresh() {
  local lock
  mkdir -p "$(dirname "$1")"
  exec {lock}> "$1.lock"
  flock "$lock"
  [ -e "$1" ] && [ "$(cat "$1.inputs" 2>/dev/null)" = "$2" ]
}

# made OUTPUT FINGERPRINT: records that OUTPUT was made from these inputs.
made() { echo "$2" > "$1.inputs"; }

# tool NAME: builds hack/images/NAME once per change and prints its path.
tool() {
  local name=$1 bin=$CACHE/tools/$(basename "$1") key
  key=$(ARCH='' fingerprint "$HERE/$name")
  if ! fresh "$bin" "$key"; then
    need go "golang (1.26 or newer)"
    mkdir -p "$CACHE/tools"
    (cd "$HERE/$name" && GOARCH='' CGO_ENABLED=0 go build -trimpath -o "$bin.new.$$" .)
    mv "$bin.new.$$" "$bin"
    made "$bin" "$key"
  fi
  echo "$bin"
}

# archive TAG OUTPUT DOCKERFILE CONTEXT [FLAG...]: writes the image.
archive() {
  local tag=$1 out=$2 file=$3 context=$4; shift 4
  "$(tool mkimage)" -t "$tag" -o "$out" -arch "$ARCH" -f "$file" "$@" "$context"
}

# image_file TAG: where the archive of an image is kept.
image_file() { echo "$IMAGES/$(basename "${1%:*}")-${1##*:}-$ARCH.tar"; }

# begin TAG STAGE INPUT... [-- WORD...]: ends the script if the image TAG was made from these inputs. Otherwise it makes
# the empty folder STAGE for the build context.
begin() {
  TAG=$1 STAGE=$2; shift 2
  OUT=$(image_file "$TAG")
  [[ " $* " == *" -- "* ]] || set -- "$@" --
  key=$(fingerprint "$HERE/mkimage" "$HERE/lib.sh" "$@" "$TAG")
  ! fresh "$OUT" "$key" || exit 0
  start=$SECONDS
  rm -rf "$STAGE"
  mkdir -p "$STAGE"
}

# finish DOCKERFILE CONTEXT [FLAG...]: writes the image that begin started and removes STAGE.
finish() {
  archive "$TAG" "$OUT" "$@"
  rm -rf "$STAGE"
  made "$OUT" "$key"
  built "$TAG" "$OUT" $((SECONDS - start))
}

# built NAME OUTPUT SECONDS: prints that OUTPUT was made.
built() { say "$1: $(($(stat -c %s "$2") / 1000000)) MB in $3 s ($2)"; }
