#!/bin/bash
# opensearch.sh BENCH-LOADER KNEE-AGENT [FLAG...]: starts an OpenSearch (1 GiB of heap) from the image that hack/images
# makes, in a network of its own, and lets bench-loader compare Knee's loader there with opensearch-benchmark from its
# image. Everything that it makes goes away with it. As root, for runc.
HERE_BENCH=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$HERE_BENCH/../images/lib.sh"
[ "$(id -u)" = 0 ] || die "bench-loader-opensearch needs root, for runc"
need runc runc; need ip iproute2; need curl curl
loader=$(realpath "$1") agent=$(realpath "$2"); shift 2
opensearch=$(image_file "${OPENSEARCH_IMAGE:-knee.local/opensearch:${OPENSEARCH_VERSION:-3.1.0}}")
osb=$(image_file "${OSB_IMAGE:-knee.local/opensearch-benchmark:${OSB_VERSION:-2.4.0}}")
workload=$(image_file "${WORKLOAD_IMAGE:-knee.local/workload-nyc-taxis-mini:1}")
work=$(mktemp -d -t knee-bench-XXXXXX)
id=knee-bench-$$
ip netns add "$id"
ip -n "$id" link set lo up
cleanup() {
  for c in $(runc --root "$work/runc" list -q 2>/dev/null); do runc --root "$work/runc" delete --force "$c" 2>/dev/null || true; done
  ip netns del "$id"
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
bundle() { local name=$1 archive=$2; shift 2; python3 "$HERE/bundle.py" "$archive" "$work/$name" --netns "/run/netns/$id" "$@"; }

home=/usr/share/opensearch
bundle node "$opensearch" --writable $home/data --writable $home/logs --writable $home/config \
  --env discovery.type=single-node --env "OPENSEARCH_JAVA_OPTS=-Xms1g -Xmx1g" --env DISABLE_SECURITY_PLUGIN=true \
  --env DISABLE_INSTALL_DEMO_CONFIG=true --env cluster.routing.allocation.disk.threshold_enabled=false
runc --root "$work/runc" run --bundle "$work/node" "$id-node" > "$work/node.log" 2>&1 < /dev/null &
node=$!
deadline=$((SECONDS + 120))
until ip netns exec "$id" curl -sS -m 10 "http://127.0.0.1:9200/_cluster/health?wait_for_status=green&timeout=5s" 2>/dev/null | grep -q '"green"'; do
  kill -0 $node 2>/dev/null && [ $SECONDS -lt $deadline ] || { tail -40 "$work/node.log" >&2; die "OpenSearch is not green"; }
  sleep 0.2
done

bundle workload "$workload"
mv "$work/workload/rootfs/workload" "$work/target"
chown -R 1000:1000 "$work/target" # opensearch-benchmark opens the corpus for writing, though it only reads it
# One run of opensearch-benchmark: SECONDS BULK_SIZE CLIENTS TEST_PROCEDURE.
cat > "$work/osb.sh" <<SCRIPT
#!/bin/bash
set -euo pipefail
# HOME itself must be writable: opensearch-benchmark makes a link beside .benchmark.
python3 "$HERE/bundle.py" "$osb" "$work/osb" --netns "/run/netns/$id" --writable /home/benchmark --env HOME=/home/benchmark \\
  --bind "$work/target:/workload" --arg opensearch-benchmark --arg run --arg=--pipeline=benchmark-only \\
  --arg=--workload-path=/workload/nyc_taxis_mini --arg=--target-hosts=127.0.0.1:9200 "--arg=--test-procedure=\$4" \\
  "--arg=--workload-params=warmup_time_period:0,time_period:\$1,bulk_size:\$2,bulk_indexing_clients:\$3" --arg=--offline
exec runc --root "$work/runc" run --bundle "$work/osb" "$id-osb" < /dev/null
SCRIPT
chmod +x "$work/osb.sh"
# Not by ip netns exec, which hides the cgroups from runc.
nsenter --net="/run/netns/$id" "$loader" opensearch -agent "$agent" -osb "$work/osb.sh" -corpus "$work/target/nyc_taxis_mini/documents.json" "$@"
