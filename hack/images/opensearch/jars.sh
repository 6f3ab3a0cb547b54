#!/bin/bash
# jars.sh [--relock]: fetches the jars of OpenSearch and the zips of its plugins
# from Maven Central into .cache/opensearch-VERSION/repository and checks them
# against the lock; --relock writes the lock from what Maven resolves today.
source "$(dirname "$0")/../lib.sh"
VERSION=${OPENSEARCH_VERSION:-3.1.0}
DIR=$HERE/opensearch
LOCK=$DIR/jars-$VERSION.lock
OUT=$CACHE/opensearch-$VERSION/repository

key=$(ARCH='' fingerprint "$DIR/pom.xml" "$DIR/jars.sh" $([ -e "$LOCK" ] && echo "$LOCK") -- "$VERSION")
[ "${1:-}" != --relock ] && fresh "$OUT" "$key" && exit 0
need mvn maven
[ -e "$LOCK" ] || [ "${1:-}" = --relock ] || die "no lock for OpenSearch $VERSION: run hack/images/opensearch/jars.sh --relock"
# Two Mavens must not write to one local repository at the same time; the second finds the shared jars there.
exec 9> "$CACHE/maven.lock"
flock 9
start=$SECONDS
say "OpenSearch $VERSION: jars"
rm -rf "$OUT"
mkdir -p "$OUT"
mvn -q -B -Dstyle.color=never -f "$DIR/pom.xml" -Dopensearch.version="$VERSION" -Dmaven.artifact.threads=16 \
  org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
  -DincludeScope=runtime -Dmdep.useRepositoryLayout=true -DoutputDirectory="$OUT" >&2 ||
  die "Maven could not fetch OpenSearch's jars"
find "$OUT" -type f ! -name '*.jar' ! -name '*.zip' -delete
cd "$OUT"
if [ "${1:-}" = --relock ]; then
  find . -type f -printf '%P\n' | sort | xargs sha256sum > "$LOCK"
  exit 0
fi
sha256sum --check --quiet --strict "$LOCK" >&2 || die "a jar differs from $LOCK"
[ "$(find . -type f | wc -l)" = "$(wc -l < "$LOCK")" ] || die "Maven brought other jars than $LOCK names"
made "$OUT" "$key"
say "OpenSearch $VERSION: $(wc -l < "$LOCK") jars in $((SECONDS - start)) s"
