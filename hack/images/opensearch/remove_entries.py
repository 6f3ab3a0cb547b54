"""remove_entries.py JAR NAME...: rewrites a jar without the entries of these names."""

import os
import sys
import zipfile

jar, names = sys.argv[1], set(sys.argv[2:])
with zipfile.ZipFile(jar) as old, zipfile.ZipFile(jar + ".new", "w", zipfile.ZIP_DEFLATED) as new:
    missing = names - set(old.namelist())
    if missing:
        sys.exit(f"{jar} has no {', '.join(sorted(missing))}")
    for entry in old.infolist():
        if entry.filename not in names:
            new.writestr(entry, old.read(entry))
os.replace(jar + ".new", jar)
