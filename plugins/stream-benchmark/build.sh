#!/bin/bash
# build.sh: compiles the plugin, runs its unit tests and writes
# .cache/stream-benchmark/stream-benchmark.zip, which opensearch-plugin installs.
source "$(dirname "$0")/../../hack/images/lib.sh"
DIR=$ROOT/plugins/stream-benchmark
OUT=$CACHE/stream-benchmark/stream-benchmark.zip
"$HERE/opensearch/jre.sh"
key=$(fingerprint "$DIR" "$CACHE/jre-$ARCH.inputs" --)
fresh "$OUT" "$key" && exit 0
need mvn maven
mkdir -p "$CACHE/stream-benchmark"
exec 9> "$CACHE/maven.lock" # shared with jars.sh: two Mavens must not write to one local repository at the same time
flock 9
start=$SECONDS
# Maven and the tests run on the Java of the image.
log=$CACHE/stream-benchmark/maven.log
if ! JAVA_HOME=$CACHE/jre-$ARCH mvn -B -Dstyle.color=never -f "$DIR/pom.xml" -Dtarget="$CACHE/stream-benchmark/target" clean package > "$log" 2>&1; then
  grep -E '^\[(ERROR|WARNING)\]|FAIL' "$log" | head -60 >&2
  die "the plugin stream-benchmark could not be built; the whole output is in $log"
fi
rm -f "$OUT"
python3 -m zipfile -c "$OUT" "$DIR/plugin-descriptor.properties" "$CACHE/stream-benchmark/target/stream-benchmark.jar"
made "$OUT" "$key"
say "plugin stream-benchmark: $(sed -n 's/.*Tests run: \([0-9]*\), Failures.*$/\1/p' "$log" | tail -1) unit tests, $((SECONDS - start)) s ($OUT)"
