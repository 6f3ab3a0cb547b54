"""The drift of docs/s over the order of the runs, and costs.

The test of the drift is a permutation test within groups of runs (Fisher 1935; Good, Permutation Tests, 2000). Here every
permutation is listed, so p is exact.
"""

import itertools
import math
import random
from fractions import Fraction

import numpy as np

import ranks
import samples


def drift(runs: list[dict]) -> dict:
    """Returns the change from the first to the last run in percent, and the exact p of the hypothesis that there is none.

    runs are in the order of their starts. The place of a run goes from 0 to 1. Places and logs are centred within each cell. The
    slope is the least-squares slope of logs over places.
    """
    cells = sorted({r["cell"] for r in runs})
    places = {c: np.array([i / (len(runs) - 1) for i, r in enumerate(runs) if r["cell"] == c]) for c in cells}
    logs = {c: np.array([math.log(r["docs"]) for r in runs if r["cell"] == c]) for c in cells}
    places = {c: p - p.mean() for c, p in places.items()}
    logs = {c: v - v.mean() for c, v in logs.items()}
    observed = sum(float(places[c] @ logs[c]) for c in cells)
    sums = [np.array([places[c] @ np.array(order) for order in itertools.permutations(logs[c])]) for c in cells]
    total = sums[0]
    for s in sums[1:]:
        total = np.add.outer(total, s).ravel()
    slope = observed / sum(float(p @ p) for p in places.values())
    return {
        "runs": runs, "percent": 100 * math.expm1(slope),
        "p": float((np.abs(total) >= abs(observed) * (1 - 1e-9)).mean()), "permutations": len(total),
    }


def drifts() -> list[dict]:
    rng = random.Random("drift")
    out = []
    for n, change, cv in [(4, 0, 0.01), (4, 0.02, 0.01), (4, -0.04, 0.01), (5, 0.01, 0.01), (5, 0.05, 0.005), (5, 0, 0.02), (3, 0.03, 0.01)]:
        runs = []
        for i in range(2 * n):
            cell = "ab"[(i + i // 2) % 2]
            docs = (300_000, 200_000)["ab".index(cell)] * math.exp(change * i / (2 * n - 1) + cv * rng.gauss(0, 1))
            runs.append({"cell": cell, "docs": round(docs, 3)})
        out.append(drift(runs))
    return out


def costs() -> list[dict]:
    """Documents per unit of currency are 3600 x docs/s / (nodes x (node + volume)); the break-even price ratio is the ratio of docs/s."""
    rng = random.Random("cost")
    out = []
    for nodes, prices in [(1, ("0.80", "0", "0.72", "0.08")), (3, ("1.25", "0.10", "0.95", "0.2")), (5, ("0.4", "0.011", "0.7", "0.013"))]:
        docs = samples.two_samples(rng, 4, 4, 1.3, 0.015)
        node, disk, base_node, base_disk = (Fraction(p) for p in prices)
        per_hour, base_per_hour = nodes * (node + disk), nodes * (base_node + base_disk)
        ratio = ranks.compare(*docs, 0.95)
        price = per_hour / base_per_hour
        out.append({
            "nodes": nodes, "prices": list(prices), "docs": docs[0], "baselineDocs": docs[1],
            "perHour": float(per_hour), "docsPerUnit": float(3600 * Fraction(np.median(docs[0])) / per_hour),
            "ratio": ratio["ratio"] / float(price), "low": ratio["low"] / float(price), "high": ratio["high"] / float(price),
            "breakEven": ratio["ratio"], "breakEvenLow": ratio["low"], "breakEvenHigh": ratio["high"],
            "breakEvenPrice": ratio["ratio"] * float(base_per_hour),
        })
    return out
