#!/bin/bash
# Puts opensearch-benchmark and what it needs into .cache/osb-VERSION-ARCH/site
# from PyPI, as osb-VERSION.lock and source.lock say.
source "$(dirname "$0")/../lib.sh"
VERSION=${OSB_VERSION:-2.4.0}
DIR=$HERE/opensearch-benchmark
LOCK=$DIR/osb-$VERSION.lock
OUT=$CACHE/osb-$VERSION-$ARCH/site
source "$DIR/platforms.sh"
[ -e "$LOCK" ] || die "no lock for opensearch-benchmark $VERSION: run hack/images/opensearch-benchmark/lock.sh $VERSION"
need python3 python3
# .pyc files are of use to the image's Python only if one of the same minor
# version wrote them.
python=$(command -v python3.11 || true)
[ -n "$python" ] && "$python" -V >/dev/null 2>&1 || python=$(command -v python3)
magic=$("$python" -c 'import importlib.util as u; print(u.MAGIC_NUMBER.hex())')
key=$(fingerprint "$LOCK" "$DIR"/{source.lock,constraints.txt,packages.sh,platforms.sh} -- "$magic" "${KNEE_OSB_PYC:-yes}")
fresh "$OUT" "$key" && exit 0
start=$SECONDS
say "opensearch-benchmark $VERSION: packages"
rm -rf "$OUT" "$OUT".new "$OUT".src
mkdir -p "$OUT.new" "$OUT.src"
# The source package: pip reads its metadata with setuptools, which
# constraints.txt pins, and the files are taken as they are.
PIP_CONSTRAINT=$DIR/constraints.txt python3 -m pip download --quiet --no-deps --no-binary=:all: --require-hashes \
  -r "$DIR/source.lock" -d "$OUT.src" >&2
python3 -m pip install --quiet --no-deps --no-compile --no-warn-conflicts --require-hashes --only-binary=:all: \
  --python-version 3.11 $(platforms "$ARCH") --target "$OUT.new" -r "$LOCK" >&2
python3 - "$OUT.src/thespian-$THESPIAN.zip" "$OUT.new" "$THESPIAN" <<'E2'
import pathlib, sys, zipfile
archive, site, version = sys.argv[1:]
with zipfile.ZipFile(archive) as z:
    for name in z.namelist():
        inside = name.partition("/")[2]
        if inside.startswith("thespian/") and not name.endswith("/"):
            target = pathlib.Path(site, inside)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(z.read(name))
info = pathlib.Path(site, f"thespian-{version}.dist-info")
info.mkdir()
(info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: thespian\nVersion: {version}\n")
E2
cd "$OUT.new"
# Not needed to run: programs of the packages (they name the host's Python),
# their tests, and pip's own notes.
rm -rf bin
find . -type d -name tests -prune -exec rm -rf {} +
find . -path '*.dist-info/*' \( -name RECORD -o -name INSTALLER -o -name REQUESTED \) -delete
find . -name __pycache__ -prune -exec rm -rf {} +
if [ "${KNEE_OSB_PYC:-yes}" = yes ] && [ "$magic" = a70d0d0a ]; then
  # Trusted without a look at the source: every start of opensearch-benchmark
  # is shorter. One process, so that the order, and with it the bytes, is fixed.
  "$python" -m compileall -q -f --invalidation-mode unchecked-hash \
    -s "$OUT.new" -p /opensearch-benchmark/venv/lib/python3.11/site-packages . >&2 ||
    die "a package does not compile with $("$python" -V)"
else
  say "no Python 3.11 here: opensearch-benchmark is not precompiled and starts slower"
fi
cd "$DIR"
mv "$OUT.new" "$OUT"
rm -rf "$OUT.src"
made "$OUT" "$key"
say "opensearch-benchmark $VERSION: $(du -sm "$OUT" | cut -f1) MB of packages in $((SECONDS - start)) s"
