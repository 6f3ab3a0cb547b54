#!/bin/bash
# build.sh TAG: the image with the demo's workload and its corpus.
source "$(dirname "$0")/../lib.sh"
TAG=${1:-knee.local/workload-nyc-taxis-mini:1}
DIR=$HERE/workload
OUT=$(image_file "$TAG")
key=$(fingerprint "$DIR" "$HERE/mkimage" "$HERE/lib.sh" -- "$TAG")
fresh "$OUT" "$key" && exit 0
start=$SECONDS
STAGE=$CACHE/workload-$ARCH
rm -rf "$STAGE"
mkdir -p "$STAGE/workload"
cp -r "$DIR/nyc_taxis_mini" "$STAGE/workload/"
documents=$STAGE/workload/nyc_taxis_mini/documents.json
"$(tool workload/corpus)" -out "$documents"
# opensearch-benchmark trusts these two numbers of the workload.
said=$(sed -n 's/.*"\(document-count\|uncompressed-bytes\)": \([0-9]*\).*/\2/p' "$DIR/nyc_taxis_mini/workload.json" | paste -sd' ')
is=$(wc -lc < "$documents" | awk '{print $1, $2}')
[ "$said" = "$is" ] || die "workload.json says $said documents and bytes, the corpus has $is"
archive "$TAG" "$OUT" "$DIR/Dockerfile" "$STAGE"
rm -rf "$STAGE"
made "$OUT" "$key"
built "$TAG" "$OUT" $((SECONDS - start))
