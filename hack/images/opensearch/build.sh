#!/bin/bash
# build.sh [TAG]: the image of OpenSearch OPENSEARCH_VERSION, from the root file system, the jars, the plugins and the
# Java runtime.
source "$(dirname "$0")/../lib.sh"
export OPENSEARCH_VERSION=${OPENSEARCH_VERSION:-3.1.0}
DIR=$HERE/opensearch
"$HERE/rootfs/build.sh"
"$DIR/jars.sh"
"$DIR/jre.sh"
own_plugins=() # the project's own, which are built for one version each
if grep -qx "opensearch.version=$OPENSEARCH_VERSION" "$ROOT/plugins/stream-benchmark/plugin-descriptor.properties"; then
  "$ROOT/plugins/stream-benchmark/build.sh"
  own_plugins=("$CACHE/stream-benchmark/stream-benchmark.zip")
fi
begin "${1:-knee.local/opensearch:$OPENSEARCH_VERSION}" "$CACHE/opensearch-$OPENSEARCH_VERSION/context-$ARCH" "$DIR" ${own_plugins[@]+"${own_plugins[@]/%/.inputs}"} "$CACHE"/{rootfs-$ARCH.tar,opensearch-$OPENSEARCH_VERSION/repository,jre-$ARCH}.inputs -- "$OPENSEARCH_VERSION"
mkdir -p "$STAGE"/home/{agent,bin,config/jvm.options.d,data,lib,logs,modules,plugins}
cp -rl "$CACHE/opensearch-$OPENSEARCH_VERSION/repository" "$STAGE/jars"
cd "$STAGE/jars"

# take FOLDER PATTERN...: moves the jars of these artifacts there.
take() {
  local to=$1 pattern; shift
  for pattern; do find . -path "./$pattern/*.jar" -exec mv -t "$to" {} +; done
}

# share FOLDER PATTERN...: links the jars of these artifacts there; others take
# them as well.
share() {
  local to=$1 pattern; shift
  for pattern; do find . -path "./$pattern/*.jar" -exec ln -t "$to" {} +; done
}

# descriptor FOLDER CLASS EXTENDED: describes a module or a plugin to OpenSearch.
descriptor() {
  cat > "$1/plugin-descriptor.properties" <<D
name=${1##*/}
description=OpenSearch's ${1##*/}
version=$OPENSEARCH_VERSION
opensearch.version=$OPENSEARCH_VERSION
java.version=21
classname=$2
extended.plugins=$3
has.native.controller=false
D
}

# module NAME CLASS PATTERN...: one folder of modules/, as OpenSearch expects it
# (a jar that is in lib/ as well stops the start).
module() {
  local class=$2 to=$STAGE/home/modules/$1; shift 2
  mkdir "$to"
  take "$to" "$@"
  descriptor "$to" "$class" ''
}

# arrow_plugins: the stream transport, of whose two plugins Maven Central has the
# jars. Each plugin has a class loader of its own, and so its own Netty.
arrow_plugins() {
  local base=$STAGE/home/plugins/arrow-base flight=$STAGE/home/plugins/arrow-flight-rpc name
  mkdir "$base" "$flight"
  share "$base" io/netty/netty-{common,buffer} org/slf4j commons-codec
  take "$base" org/opensearch/plugin/arrow-base org/apache/arrow/arrow-{memory-core,memory-netty,memory-netty-buffer-patch,vector,format} \
    com/google/flatbuffers com/fasterxml/jackson/core/jackson-{annotations,databind} com/fasterxml/jackson/datatype
  share "$flight" io/netty/netty-{codec,codec-base,codec-compression,codec-http,codec-http2,handler,resolver,transport,transport-native-unix-common}
  take "$flight" org/opensearch/plugin/arrow-flight-rpc org/apache/arrow/flight-core io/grpc io/perfmark io/netty/netty-{tcnative-classes,transport-classes-epoll} \
    org/apache/parquet com/google/guava com/google/code/findbugs
  descriptor "$base" org.opensearch.arrow.allocator.ArrowBasePlugin ''
  descriptor "$flight" org.opensearch.arrow.flight.transport.FlightStreamPlugin arrow-base
  for name in "$base" "$flight"; do cp "$DIR/arrow.policy" "$name/plugin-security.policy"; done
}

if [ -d org/opensearch/plugin/arrow-flight-rpc ]; then arrow_plugins; fi

module transport-netty4 org.opensearch.transport.Netty4ModulePlugin 'io/netty' 'org/opensearch/plugin/transport-netty4-client' \
  'org/opensearch/opensearch-netty4'
cp "$DIR/transport-netty4.policy" "$STAGE/home/modules/transport-netty4/plugin-security.policy"
module lang-painless org.opensearch.painless.PainlessModulePlugin 'org/antlr' 'org/ow2/asm' \
  'org/opensearch/plugin/lang-painless' 'org/opensearch/plugin/opensearch-scripting-painless-spi'
module mapper-extras org.opensearch.index.mapper.MapperExtrasModulePlugin 'org/opensearch/plugin/mapper-extras-client'
module reindex org.opensearch.index.reindex.ReindexModulePlugin 'org/opensearch/plugin/reindex-client' 'org/opensearch/client' \
  'org/apache/httpcomponents' 'commons-codec' 'commons-logging' 'org/slf4j' 'org/opensearch/opensearch-ssl-config'
module analysis-common org.opensearch.analysis.common.CommonAnalysisModulePlugin 'org/opensearch/plugin/analysis-common'
sed -i 's/^extended.plugins=$/extended.plugins=lang-painless/' "$STAGE/home/modules/analysis-common/plugin-descriptor.properties"
# plugin ZIP: one folder of plugins/, as opensearch-plugin would unpack it.
plugin() {
  local to=$STAGE/home/plugins/.new name
  python3 -m zipfile -e "$1" "$to"
  name=$(sed -n 's/^name=//p' "$to/plugin-descriptor.properties")
  mv "$to" "$STAGE/home/plugins/$name"
  to=$STAGE/home/plugins/$name
  if [ -d "$to/config" ]; then mv "$to/config" "$STAGE/home/config/$name"; fi
  if [ -d "$to/bin" ]; then mv "$to/bin" "$STAGE/home/bin/$name"; fi
  if [ "$name" = opensearch-security ]; then complete_security "$to"; fi
}

# complete_security FOLDER: makes the security plugin start with what Maven
# Central has. It extends workload-management, which is not there; and its zip
# lacks commons-collections4.
complete_security() {
  take "$1" 'org/apache/commons/commons-collections4'
  sed -i 's/^extended.plugins=.*/extended.plugins=/' "$1/plugin-descriptor.properties"
  python3 "$DIR/remove_entries.py" "$1/opensearch-security-"[0-9]*.jar META-INF/services/org.opensearch.plugin.wlm.spi.AttributeExtractorExtension \
    META-INF/services/org.opensearch.rule.spi.AttributesExtension
}

for zip in $(find . -name '*.zip') ${own_plugins[@]+"${own_plugins[@]}"}; do plugin "$zip"; done
take "$STAGE/home/agent" 'org/opensearch/opensearch-agent' 'org/opensearch/opensearch-agent-bootstrap' 'net/bytebuddy'
find . -name '*.jar' -exec mv -t "$STAGE/home/lib" {} +
cd "$STAGE"
rm -rf jars
# The agent's manifest names its neighbours with their versions, the options
# name the agent without.
ln -s "opensearch-agent-$OPENSEARCH_VERSION.jar" home/agent/opensearch-agent.jar

cp -r "$DIR/etc" .
cp "$DIR/opensearch-docker-entrypoint.sh" home/
cp "$DIR/bin/opensearch" home/bin/
cp "$DIR"/config/* home/config/
ln "$CACHE/rootfs-$ARCH.tar" rootfs.tar
cp -rl "$CACHE/jre-$ARCH" jdk
if [ -e jdk/without-analysis-common ]; then
  rm -r jdk/without-analysis-common home/modules/analysis-common
fi
grep -q jdk.incubator.vector jdk/release || sed -i '/jdk.incubator.vector/d' home/config/jvm.options
finish "$DIR/Dockerfile" "$STAGE" -build-arg "VERSION=$OPENSEARCH_VERSION"
