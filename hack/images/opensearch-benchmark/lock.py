"""lock.py REPORT...: merges pip's installation reports, one for each platform,
into one requirements file with digests. Packages that were built here, rather
than published as wheels, are left out: they are locked in source.lock."""
import json
import sys

versions, digests = {}, {}
for path in sys.argv[1:]:
    with open(path) as f:
        report = json.load(f)
    for item in report["install"]:
        if item["download_info"]["url"].startswith("file:"):
            continue
        name, version = item["metadata"]["name"].lower().replace("_", "-"), item["metadata"]["version"]
        if versions.setdefault(name, version) != version:
            sys.exit(f"{name}: {versions[name]} on one platform, {version} on another")
        digests.setdefault(name, set()).add(item["download_info"]["archive_info"]["hashes"]["sha256"])

print("# Written by lock.sh; the digests are those of the wheels for amd64 and arm64.")
for name in sorted(versions):
    lines = [f"{name}=={versions[name]}"] + [f"    --hash=sha256:{d}" for d in sorted(digests[name])]
    print(" \\\n".join(lines))
