#!/bin/bash
# push.sh CRANE IMAGE ARCHIVE...: pushes the archives of Knee's image, one for each architecture, and an image index named IMAGE. Prints the
# digest of the index.
set -euo pipefail
crane=$1 image=$2
shift 2
flags=()
for archive in "$@"; do # NAME-TAG-ARCH.tar
  arch=$(basename "$archive" .tar)
  one=$image-${arch##*-}
  "$crane" push "$archive" "$one" >&2
  flags+=(-m "$one")
done
"$crane" index append -t "$image" "${flags[@]}" >&2
echo "${image%:*}@$("$crane" digest "$image")"
