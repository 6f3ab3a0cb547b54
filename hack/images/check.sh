#!/bin/bash
# Runs the images as a cluster would, without one (runc, as root): OpenSearch
# on a read-only root file system to green, the demo's workload against it, and
# the ways in which a start must fail. Everything it makes goes away with it.
source "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || die "check.sh needs root, for runc"
need runc runc; need ip iproute2; need curl curl
OSB_VERSION=${OSB_VERSION:-2.4.0}
opensearch=$(image_file "${OPENSEARCH_IMAGE:-knee.local/opensearch:${OPENSEARCH_VERSION:-3.1.0}}")
osb=$(image_file "${OSB_IMAGE:-knee.local/opensearch-benchmark:$OSB_VERSION}")
workload=$(image_file "${WORKLOAD_IMAGE:-knee.local/workload-nyc-taxis-mini:1}")
work=$(mktemp -d -t knee-images-XXXXXX)
id=knee-check-$$
ip netns add "$id"
ip -n "$id" link set lo up
cleanup() {
  for c in $(runc --root "$work/runc" list -q 2>/dev/null); do runc --root "$work/runc" delete --force "$c" || true; done
  ip netns del "$id"
  rm -rf "$work"
}
trap cleanup EXIT
failed=0
ok() { echo "ok    $*"; }
bad() { echo "FAIL  $*"; failed=1; }

# bundle NAME ARCHIVE [FLAG...]: makes or changes the bundle of that name.
bundle() { local name=$1 archive=$2; shift 2; python3 "$HERE/bundle.py" "$archive" "$work/$name" --netns "/run/netns/$id" "$@"; }
# container NAME: runs it in the foreground.
container() { timeout "${LIMIT:-300}" runc --root "$work/runc" run --bundle "$work/$1" "$id-$1" < /dev/null; }
inside() { ip netns exec "$id" curl -sS -m 10 "$@"; }
seconds() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(seconds)" 'BEGIN {printf "%.1f", b - a}'; }
# value EXPRESSION: evaluates a Python expression over the JSON d on stdin.
value() { python3 -c "import json, sys; d = json.load(sys.stdin); print($1)"; }

home=/usr/share/opensearch
volumes=(--writable $home/data --writable $home/logs --writable $home/config)
node() { bundle node "$opensearch" "${volumes[@]}" "$@"; }

# fails WHAT REASON [FLAG...]: the container exits non-zero and says why.
fails() {
  local what=$1 reason=$2 rc=0; shift 2
  node "$@"
  LIMIT=240 container node > "$work/out" 2>&1 || rc=$?
  if [ $rc != 0 ] && [ $rc != 124 ] && grep -q -- "$reason" "$work/out"; then
    ok "$what: exit $rc, \"$(grep -m1 -o -- "$reason.*" "$work/out" | cut -c1-100)\""
  else
    bad "$what: exit $rc"; tail -5 "$work/out"
  fi
}
fails "runs as root" "cannot run as root" --user 0:0
fails "bad JVM option" "Unrecognized VM option" --env OPENSEARCH_JAVA_OPTS=-XX:+NoSuchOption
fails "heap beyond reason" "Could not reserve enough space" --env OPENSEARCH_JAVA_OPTS=-Xmx9999999g
fails "index setting in the environment" "index level settings" --env index.refresh_interval=1s
fails "unknown setting" "unknown setting" --env no.such.setting=1
fails "missing configuration" "no configuration folder" --env OPENSEARCH_PATH_CONF=/nowhere

# The study's own options, after the defaults: the last word wins.
options="-Xms1g -Xmx1g -XX:+UseG1GC -XX:G1ReservePercent=15 -XX:InitiatingHeapOccupancyPercent=30 -XX:+AlwaysPreTouch"
node --env discovery.type=single-node --env "OPENSEARCH_JAVA_OPTS=$options" --env DISABLE_SECURITY_PLUGIN=true \
  --env DISABLE_INSTALL_DEMO_CONFIG=true --env action.auto_create_index=false --env processors=2
start=$(seconds)
LIMIT=1200 container node > "$work/node.log" 2>&1 &
pid=$!
until inside "http://127.0.0.1:9200/_cluster/health?wait_for_status=green&timeout=5s" 2>/dev/null | grep -q '"green"'; do
  kill -0 $pid 2>/dev/null || { tail -40 "$work/node.log"; die "OpenSearch exited"; }
  [ "$(since "$start" | cut -d. -f1)" -lt 120 ] || { tail -40 "$work/node.log"; die "not green within 120 s"; }
  sleep 0.1
done
ok "green after $(since "$start") s"
inside http://127.0.0.1:9200/_nodes > "$work/nodes"
given=$(value 'list(d["nodes"].values())[0]["jvm"]["input_arguments"]' < "$work/nodes")
for option in -XX:G1ReservePercent=15 -Xmx1g -XX:MaxDirectMemorySize=536870912 cgroups.hierarchy.override=/ logs/gc.log; do
  [[ $given == *"$option"* ]] && ok "JVM has $option" || bad "JVM lacks $option: $given"
done
[[ $(value 'list(d["nodes"].values())[0]["settings"]["processors"]' < "$work/nodes" 2>/dev/null ||
  value 'list(d["nodes"].values())[0]["os"]["allocated_processors"]' < "$work/nodes") == 2 ]] && ok "processors=2 became a setting" || bad "processors"
echo "      Java $(value 'list(d["nodes"].values())[0]["jvm"]["version"]' < "$work/nodes"), modules $(value '" ".join(m["name"] for m in list(d["nodes"].values())[0]["modules"])' < "$work/nodes")"
[ -s "$work/node/volumes/usr-share-opensearch-logs/gc.log" ] && ok "gc.log is written" || bad "no gc.log"

# OSB opens the corpus for writing, though it only reads it: the folder is a copy of
# the user's own, as the agent makes it in a trial.
bundle workload "$workload"
mv "$work/workload/rootfs/workload" "$work/target"
chown -R 1000:1000 "$work/target"
run=run id_flag=--test-run-id
case $OSB_VERSION in 1.*) run=execute-test id_flag=--test-execution-id ;; esac
# load PROCEDURE PARAMS NAME: one OSB run; leaves its result in $work/result.
load() {
  # HOME itself must be writable: OSB 2.4 makes a link beside .benchmark.
  bundle osb "$osb" --writable /home/benchmark --env HOME=/home/benchmark --bind "$work/target:/workload" \
    --arg opensearch-benchmark --arg $run --arg=--pipeline=benchmark-only --arg=--workload-path=/workload/nyc_taxis_mini \
    --arg=--target-hosts=127.0.0.1:9200 "--arg=--test-procedure=$1" "--arg=--workload-params=$2" "--arg=$id_flag=$3" --arg=--offline
  # The official image has no entry point, and so has this.
  local rc=0 start; start=$(seconds)
  container osb > "$work/osb.log" 2>&1 || rc=$?
  [ $rc = 0 ] || { bad "$1: exit $rc"; tail -20 "$work/osb.log"; tail -5 "$work"/osb/volumes/*/.benchmark/logs/benchmark.log; return 1; }
  cp "$work"/osb/volumes/*/.benchmark/benchmarks/test[-_]*/"$3"/test_*.json "$work/result"
  echo "      $1: $(since "$start") s in all"
}
metric() { value "next((m for m in d['results']['op_metrics'] if m['task'] == 'index'), {})$1" < "$work/result"; }
count() { inside -XPOST http://127.0.0.1:9200/nyc_taxis/_refresh > /dev/null; inside "http://127.0.0.1:9200/nyc_taxis/_count" | value 'd["count"]'; }
total() { inside "http://127.0.0.1:9200/nyc_taxis/_stats/indexing" | value 'd["_all"]["primaries"]["indexing"]["index_total"]'; }

if load index-only bulk_size:1000,bulk_indexing_clients:2,number_of_shards:2,number_of_replicas:0,refresh_interval:2s whole; then
  [ "$(count)" = 100000 ] && ok "whole corpus: 100000 documents, $(metric '["throughput"]["mean"]') docs/s" || bad "whole corpus: $(count) documents"
  inside "http://127.0.0.1:9200/nyc_taxis/_settings" | grep -q '"refresh_interval":"2s"' && ok "refresh_interval reached the index" || bad "refresh_interval"
  [ "$(inside "http://127.0.0.1:9200/nyc_taxis/_settings" | value 'list(d.values())[0]["settings"]["index"]["number_of_shards"]')" = 2 ] && ok "number_of_shards too" || bad "number_of_shards"
  grep -q "Preparing file offset table" "$work/osb.log" && bad "OSB rebuilt the offset table" || ok "the offset table was taken as it is"
fi
if load index-timed bulk_size:1000,bulk_indexing_clients:4,warmup_time_period:3,time_period:10 timed; then
  [ "$(count)" = "$(total)" ] && [ "$(count)" -gt 0 ] && ok "timed: $(count) documents, each indexed once, $(metric '["throughput"]["mean"]') docs/s, error rate $(metric '["error_rate"]')" || bad "timed: count $(count), index_total $(total)"
fi
if load search-only iterations:10,warmup_iterations:2 search; then
  [ "$(value '[m["task"] for m in d["results"]["op_metrics"] if m["error_rate"] == 0]' < "$work/result")" = "['default', 'term', 'range', 'distance_amount_agg', 'date_histogram_agg']" ] && ok "five searches without errors" || bad "searches: $(cat "$work/result" | head -c 2000)"
fi
if load create-index-fails warmup_time_period:1,time_period:3 broken; then
  inside -o /dev/null -w '%{http_code}' http://127.0.0.1:9200/nyc_taxis | grep -q 404 && ok "create-index-fails: OSB exits 0, there is no index, error rate $(metric '["error_rate"]')" || bad "create-index-fails made an index"
fi

start=$(seconds)
runc --root "$work/runc" kill "$id-node" TERM
rc=0; wait $pid || rc=$?
[ $rc = 143 ] && ok "SIGTERM ends OpenSearch in $(since "$start") s" || bad "SIGTERM: exit $rc"
exit $failed
