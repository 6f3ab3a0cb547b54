"""Peak, knee and shared client count, by the literal rule.

A client count passes if it is Measured and has at least percentOfPeak of the highest Measured rate. The knee is the lowest count
that passes. Repeats of a count are summarised by their median. All comparisons use exact fractions of the decimal inputs.
"""

import random
import statistics
from fractions import Fraction


def combine(points: list[dict]) -> dict[int, tuple[str, Fraction | None]]:
    """Returns the verdict and the rate of each client count. One Gated repeat makes a count Gated; Errored repeats are left out."""
    out = {}
    for clients in sorted({p["clients"] for p in points}):
        repeats = [p for p in points if p["clients"] == clients and p["verdict"] != "Errored"]
        verdict = "Errored" if not repeats else "Gated" if any(p["verdict"] == "Gated" for p in repeats) else "Measured"
        out[clients] = verdict, statistics.median([Fraction(str(p["docs"])) for p in repeats]) if repeats else None
    return out


def curve(points: list[dict], percent: float) -> dict:
    counts = combine(points)
    measured = {c: rate for c, (verdict, rate) in counts.items() if verdict == "Measured"}
    observed = {c: rate for c, (verdict, rate) in counts.items() if verdict != "Errored"}
    out = {"points": points, "percentOfPeak": percent, "passing": []}
    if observed:
        out["highest"] = min(c for c in observed if observed[c] == max(observed.values()))
    if not measured:
        return out | {"peakGated": bool(observed)}
    top = max(measured.values())
    target = Fraction(str(percent)) / 100 * top
    passing = [c for c in sorted(measured) if measured[c] >= target]
    return out | {
        "peak": min(c for c in measured if measured[c] == top), "target": float(target), "knee": passing[0], "passing": passing,
        "peakGated": max(observed.values()) > top, "kneeAtRangeEdge": passing[0] == min(observed),
    }


def share(curves: list[dict]) -> dict:
    """Returns the smallest count that passes in every cell, or else the Measured count whose worst cell is nearest to its peak."""
    common = set.intersection(*(set(c["passing"]) for c in curves))
    if common:
        return {"clients": min(common), "agreed": True}
    rates = [{c: rate for c, (verdict, rate) in combine(curve["points"]).items() if verdict == "Measured"} for curve in curves]
    if not all(rates):
        return {"clients": 0, "agreed": False}
    worst = {c: min(r[c] / max(r.values()) for r in rates) for c in set.intersection(*(set(r) for r in rates))}
    if not worst:
        return {"clients": 0, "agreed": False}
    return {"clients": min(c for c in worst if worst[c] == max(worst.values())), "agreed": False}


ARM = {12: 336527, 16: 345964, 20: 335456, 24: 341191, 32: 349156, 40: 342395, 48: 341377}
INTEL = {12: 239130, 16: 236746, 20: 242232, 24: None, 32: 238201, 40: 232926, 48: 243044}


def study(rates: dict) -> list[dict]:
    return [{"clients": c, "docs": r or 0, "verdict": "Measured" if r else "Errored"} for c, r in rates.items()]


def random_points(rng: random.Random, dead: float) -> list[dict]:
    """Returns a sweep with repeats in random order. A rate never occurs twice, so that no tie decides."""
    out, seen = [], set()
    for i, clients in enumerate([1, 2, 4, 8, 16, 24, 32, 48][: rng.randint(1, 8)]):
        for _ in range(rng.choice([1, 1, 2, 3, 4])):
            rate = round(1000 * min(1, 0.4 + 0.15 * i) * (1 + rng.gauss(0, 0.03)), 3)
            verdict = "Errored" if rng.random() < dead else "Gated" if rng.random() < 0.12 else "Measured"
            while rate in seen:
                rate += 0.001
            seen.add(rate)
            out.append({"clients": clients, "docs": 0 if verdict == "Errored" else rate, "verdict": verdict})
    rng.shuffle(out)
    return out


def curves() -> list[dict]:
    published = {95: (12, 12), 97: (16, 12), 98.5: (16, 20), 100: (32, 48)}
    out = []
    for percent, knees in published.items():
        for rates, knee in zip((ARM, INTEL), knees):
            out.append(curve(study(rates), percent))
            assert out[-1]["knee"] == knee, (percent, knee)
    # The target is inclusive: 745117.431 is exactly 97 % of 768162.3.
    out.append(curve([{"clients": 1, "docs": 745117.431, "verdict": "Measured"}, {"clients": 2, "docs": 768162.3, "verdict": "Measured"}], 97))
    rng = random.Random("curves")
    return out + [curve(random_points(rng, 0.15), rng.choice([90, 95, 97, 98.5, 100])) for _ in range(80)]


def shares() -> list[dict]:
    """Returns sweeps of cells and the count that they share at 97 % of the peak."""
    out = []
    both = [curve(study(ARM), 97), curve(study(INTEL), 97)]
    assert share(both)["clients"] == 16
    out.append({"sweeps": [c["points"] for c in both]} | share(both))
    rng = random.Random("shares")
    for i in range(60):
        several = [curve(random_points(rng, 0.1), 97) for _ in range(1 + i % 4)]
        if all("knee" in c for c in several):  # what happens without a knee is a decision of the campaign
            out.append({"sweeps": [c["points"] for c in several]} | share(several))
    return out
