"""Computes expected values for the tests of internal/verdict, without Knee's code.

`make oracle` runs main.py with the Python packages of requirements.txt. main.py compares its values with the files in testdata. It
fails if a value differs by more than 1e-12 of the value. main.py --write replaces the files.
"""

import json
import math
import pathlib
import sys

import campaigns
import knees
import ranks
import shapes
import sweeps

VERDICT = pathlib.Path(__file__).resolve().parents[2] / "internal" / "verdict"


def vectors() -> dict[str, dict]:
    """Returns the content of each file, by the package whose test reads it."""
    return {
        "stats": {
            "compare": ranks.compares(), "welch": ranks.welches(), "repetitions": ranks.repetitions(),
            "noise": shapes.noises(), "medians": shapes.medians(),
        },
        "sweep": {"curves": sweeps.curves(), "shared": sweeps.shares(), "usl": shapes.usls(), "knees": knees.probabilities()},
        "campaign": {"drift": campaigns.drifts(), "cost": campaigns.costs()},
    }


def differences(path: str, got, want) -> list[str]:
    """Lists the places at which two values differ."""
    if isinstance(got, dict) and isinstance(want, dict) and got.keys() == want.keys():
        return [d for key in got for d in differences(f"{path}.{key}", got[key], want[key])]
    if isinstance(got, (list, tuple)) and isinstance(want, list) and len(got) == len(want):
        return [d for i, (a, b) in enumerate(zip(got, want)) for d in differences(f"{path}[{i}]", a, b)]
    if isinstance(got, float) and isinstance(want, (int, float)) and math.isclose(got, want, rel_tol=1e-12, abs_tol=1e-300):
        return []
    return [] if got == want else [f"{path}: {got} is computed, {want} is stored"]


def count(value) -> int:
    """Counts the numbers and words in a value."""
    if isinstance(value, dict):
        value = list(value.values())
    return sum(count(v) for v in value) if isinstance(value, (list, tuple)) else 1


def main() -> int:
    found = 0
    for package, content in vectors().items():
        file = VERDICT / package / "testdata" / "oracle.json"
        if "--write" in sys.argv[1:]:
            file.parent.mkdir(exist_ok=True)
            groups = [f'"{name}": [\n' + ",\n".join(json.dumps(case) for case in cases) + "\n]" for name, cases in content.items()]
            file.write_text("{" + ",\n".join(groups) + "}\n")
        stored = json.loads(file.read_text())
        differ = differences(package, content, stored)
        found += len(differ)
        for difference in differ[:20]:
            print(difference, file=sys.stderr)
        for name, cases in content.items():
            print(f"{package:9} {name:12} {len(cases):4} cases {count(cases):6} values")
    if found:
        print(f"{found} values differ from testdata: find out which side is wrong, or run make oracle ORACLE_FLAGS=--write", file=sys.stderr)
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
