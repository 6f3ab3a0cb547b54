#!/bin/bash
# build.sh [TAG]: the image with the demo's workload and its corpus.
source "$(dirname "$0")/../lib.sh"
DIR=$HERE/workload
begin "${1:-knee.local/workload-nyc-taxis-mini:1}" "$CACHE/workload-$ARCH" "$DIR"
mkdir -p "$STAGE/workload"
cp -r "$DIR/nyc_taxis_mini" "$STAGE/workload/"
documents=$STAGE/workload/nyc_taxis_mini/documents.json
"$(tool workload/corpus)" -out "$documents"
# opensearch-benchmark trusts these two numbers of the workload.
said=$(sed -n 's/.*"\(document-count\|uncompressed-bytes\)": \([0-9]*\).*/\2/p' "$DIR/nyc_taxis_mini/workload.json" | paste -sd' ')
is=$(wc -lc < "$documents" | awk '{print $1, $2}')
[ "$said" = "$is" ] || die "workload.json says $said documents and bytes, the corpus has $is"
finish "$DIR/Dockerfile" "$STAGE"
