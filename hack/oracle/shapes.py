"""Noise pooled from groups of repeats, and the Universal Scalability Law (Gunther, Guerrilla Capacity Planning, 2007)."""

import math
import random
import statistics

import numpy as np
from scipy import optimize

import samples


def noises() -> list[dict]:
    """Pooled coefficients of variation: the square root of the pooled variance of logs (sums of squares over degrees of freedom)."""
    rng = random.Random("noise")
    out = []
    for sizes in ([2], [4, 4], [3, 1, 2, 5], [6, 6, 6], [1, 8], [19, 4]):
        groups = [samples.rates(rng, n, 100_000 * (g + 1), 0.005 * (g + 1)) for g, n in enumerate(sizes)]
        freedom = sum(n - 1 for n in sizes)
        squares = sum((len(g) - 1) * statistics.variance([math.log(v) for v in g]) for g in groups if len(g) > 1)
        out.append({"groups": groups, "cv": math.sqrt(squares / freedom), "freedom": freedom})
    return out


def medians() -> list[dict]:
    rng = random.Random("median")
    out = []
    for n in (1, 2, 3, 4, 7, 10):
        values = samples.rates(rng, n, 1000, 0.2)
        out.append({"values": values, "median": statistics.median(values)})
    return out


def usl(clients: list[float], docs: list[float]) -> dict:
    """Fits docs/s = lambda N / (1 + alpha (N-1) + beta N (N-1)), alpha and beta >= 0, by least squares from many starts."""
    n, x = np.array(clients), np.array(docs)

    def curve(p: np.ndarray) -> np.ndarray:
        return p[0] * n / (1 + p[1] * (n - 1) + p[2] * n * (n - 1))
    best = None
    for alpha in (1e-4, 0.01, 0.1, 0.5):
        for beta in (1e-7, 1e-5, 1e-3):
            found = optimize.least_squares(
                lambda p: (curve(p) - x) / x.max(), [x.max() / n.max() * 2, alpha, beta], bounds=([0, 0, 0], np.inf),
                x_scale=[x.max(), 0.1, 1e-3], xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=5000)
            if best is None or found.cost < best.cost:
                best = found
    fitted = curve(best.x)
    squares = float(((fitted - x) ** 2).sum())
    return {
        "clients": clients, "docs": docs, "residualsRoot": math.sqrt(squares / len(docs)),
        "fitted": [float(f"{v:.5g}") for v in fitted],  # the sum of squares hardly depends on the last digits of a fit
    }


def usls() -> list[dict]:
    rng = random.Random("usl")
    # R's package usl, data set specsdm91.
    published = usl([1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2])
    out = [published]
    # Rates that bend upwards at the end: beta is 0, and the linear fit that starts a search has a negative one.
    out.append(usl([1.0, 2, 4, 8, 16, 32, 64], [1000.0, 1810, 3300, 5300, 8100, 12500, 21000]))
    for alpha, beta, cv in [(0.02, 0.0002, 0.01), (0.1, 0.001, 0.02), (0.3, 0.0005, 0.01), (0.05, 0.004, 0.03), (0.01, 0.0003, 0.005)]:
        clients = [1.0, 2, 4, 8, 16, 32, 64]
        docs = [round(9000 * c / (1 + alpha * (c - 1) + beta * c * (c - 1)) * math.exp(cv * rng.gauss(0, 1)), 2) for c in clients]
        out.append(usl(clients, docs))
    return out
