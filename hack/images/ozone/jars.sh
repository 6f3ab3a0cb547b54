#!/bin/bash
# jars.sh [--relock]: fetches the jars of Ozone OZONE_VERSION from Maven Central into .cache/ozone-VERSION/lib and checks
# them against the lock. With --relock it writes the lock from the classpath files that Ozone's own jars carry.
#
# Maven cannot resolve Ozone's dependencies. Maven Central lacks a parent pom of each release (2.2.0:
# hdds-hadoop-dependency-client, 2.2.1: ozone). The jars themselves are complete, and the classpath files name them all.
source "$(dirname "$0")/../lib.sh"
VERSION=${OZONE_VERSION:-2.2.1}
DIR=$HERE/ozone
LOCK=$DIR/jars-$VERSION.lock
WORK=$CACHE/ozone-$VERSION
OUT=$WORK/lib
# The programs of the image: their jars, and with them their classpath files.
MODULES=(ozone-manager hdds-server-scm ozone-datanode ozone-freon ozone-cli-shell ozone-cli-admin)

# coordinates: group artifact version classifier of the jars whose file names are the input, by groups.txt.
coordinates() {
  awk -v table="$DIR/groups.txt" '
    function pattern(glob) { gsub(/\./, "\\.", glob); gsub(/\*/, ".*", glob); return "^" glob "$" }
    BEGIN {
      while ((getline line < table) > 0)
        if (line !~ /^#/) { n = split(line, word, " "); for (i = 2; i <= n; i++) { group[++last] = word[1]; match_of[last] = pattern(word[i]) } }
    }
    {
      found = ""
      for (i = 1; i <= last && !found; i++) if ($0 ~ match_of[i]) found = group[i]
      if (!found) { print "images: " $0 " has no group in hack/images/ozone/groups.txt: add one" > "/dev/stderr"; exit 1 }
      name = $0; sub(/\.jar$/, "", name)
      classifier = "-"
      if (match(name, /-(native|linux-x86_64|linux-aarch_64)$/)) { classifier = substr(name, RSTART + 1); name = substr(name, 1, RSTART - 1) }
      match(name, /-[0-9]/)
      print found, substr(name, 1, RSTART - 1), substr(name, RSTART + 1), classifier
    }'
}

# copy FOLDER: fetches the jars whose coordinates are the input. Version 2.10 of the plugin is the last that reads no pom of a jar.
copy() {
  local pom=$WORK/pom.xml
  {
    echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
    echo '<groupId>dev.knee</groupId><artifactId>ozone-image</artifactId><version>1</version><packaging>pom</packaging>'
    echo '<build><plugins><plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId>'
    echo '<version>2.10</version><configuration><artifactItems>'
    while read -r group artifact version classifier; do
      [ "$classifier" = - ] && classifier='' || classifier="<classifier>$classifier</classifier>"
      echo "<artifactItem><groupId>$group</groupId><artifactId>$artifact</artifactId><version>$version</version>$classifier</artifactItem>"
    done
    echo '</artifactItems></configuration></plugin></plugins></build></project>'
  } > "$pom"
  mvn -q -B -Dstyle.color=never -f "$pom" org.apache.maven.plugins:maven-dependency-plugin:2.10:copy -DoutputDirectory="$1" >&2 ||
    die "Maven could not fetch the jars of Ozone $VERSION"
}

key=$(ARCH='' fingerprint "$DIR/jars.sh" "$DIR/groups.txt" $([ -e "$LOCK" ] && echo "$LOCK") -- "$VERSION")
[ "${1:-}" != --relock ] && fresh "$OUT" "$key" && exit 0
need mvn maven
[ -e "$LOCK" ] || [ "${1:-}" = --relock ] || die "no lock for Ozone $VERSION: run OZONE_VERSION=$VERSION hack/images/ozone/jars.sh --relock"
start=$SECONDS
say "Ozone $VERSION: jars"
rm -rf "$WORK"
mkdir -p "$OUT"
if [ "${1:-}" = --relock ]; then
  printf "%s-$VERSION.jar\n" "${MODULES[@]}" | sort > "$WORK/names"
  coordinates < "$WORK/names" | copy "$OUT"
  for module in "${MODULES[@]}"; do
    python3 -m zipfile -e "$OUT/$module-$VERSION.jar" "$WORK/$module"
    sed 's/^classpath=//' "$WORK/$module/$module.classpath" | tr ':' '\n' | sed 's#.*/##' | grep '\.jar$' >> "$WORK/names"
  done
  sort -u "$WORK/names" | grep -v -e '-osx-' -e '-windows-' > "$WORK/all"
  coordinates < "$WORK/all" | copy "$OUT"
  coordinates < "$WORK/all" | while read -r group artifact version classifier; do
    file=$artifact-$version
    [ "$classifier" = - ] || file+=-$classifier
    echo "$(sha256sum < "$OUT/$file.jar" | cut -d' ' -f1)  ${group//.//}/$artifact/$version/$file.jar"
  done > "$LOCK"
  rm -rf "$WORK"
  exit 0
fi
sed 's#.*/##' "$LOCK" | coordinates | copy "$OUT"
cd "$OUT"
sed 's#  .*/#  #' "$LOCK" | sha256sum --check --quiet --strict >&2 || die "a jar differs from $LOCK"
made "$OUT" "$key"
say "Ozone $VERSION: $(wc -l < "$LOCK") jars in $((SECONDS - start)) s"
