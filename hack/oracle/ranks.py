"""Comparisons of two samples of rates: exact rank statistics and Welch's t interval.

Sources: Hodges and Lehmann 1963; Mann and Whitney 1947 (distribution of U); Hollander and Wolfe, Nonparametric Statistical
Methods, 1999, chapter 4; Welch 1947; Satterthwaite 1946.
"""

import itertools
import math
import random
from fractions import Fraction
from functools import cache

import numpy as np
from scipy import stats

import samples


@cache
def count_u(n: int, m: int) -> tuple[int, ...]:
    """Returns, for each u, the number of orders of n + m different values with U = u (Mann and Whitney 1947, by recurrence)."""
    if n == 0 or m == 0:
        return (1,)
    out = [0] * (n * m + 1)
    for u, count in enumerate(count_u(n - 1, m)):  # the largest value is an x: it exceeds all m values of y
        out[u + m] += count
    for u, count in enumerate(count_u(n, m - 1)):  # the largest value is a y
        out[u] += count
    return tuple(out)


def enumerate_u(n: int, m: int) -> tuple[int, ...]:
    """Like count_u, by listing every order."""
    out = [0] * (n * m + 1)
    for places in itertools.combinations(range(n + m), n):
        out[sum(place - i for i, place in enumerate(places))] += 1
    return tuple(out)


def tail(n: int, m: int, u: int) -> Fraction:
    """Returns the probability that U is at most u if both samples come from one population."""
    counts = count_u(n, m)
    return Fraction(sum(counts[: u + 1]), math.comb(n + m, n)) if u >= 0 else Fraction(0)


def order_statistic(n: int, m: int, confidence: float) -> tuple[int, Fraction]:
    """Returns the largest k for which the interval from the k-th smallest to the k-th largest difference has the confidence.

    k is 1 if no interval has it. The second result is the confidence of the interval, 1 - 2 P(U <= k-1).
    """
    best = 1
    for k in range(1, n * m // 2 + 1):
        if 1 - 2 * tail(n, m, k - 1) >= Fraction(confidence) - Fraction(1, 10**12):
            best = k
    return best, 1 - 2 * tail(n, m, best - 1)


def compare(x: list[float], y: list[float], confidence: float) -> dict:
    n, m = len(x), len(y)
    ratios = sorted(Fraction(a) / Fraction(b) for a in x for b in y)
    middle = [ratios[(n * m - 1) // 2], ratios[n * m // 2]]
    u = sum(a > b for a in x for b in y)
    p = min(Fraction(1), 2 * min(tail(n, m, u), tail(n, m, n * m - u)))
    check = stats.mannwhitneyu(x, y, alternative="two-sided", method="exact").pvalue
    assert math.isclose(p, check, rel_tol=1e-9), (float(p), check)
    out = {
        "x": x, "y": y, "confidence": confidence,
        "ratio": math.sqrt(middle[0] * middle[1]), "p": float(p), "minP": float(min(Fraction(1), 2 * tail(n, m, 0))),
    }
    if n > 1 and m > 1:
        k, achieved = order_statistic(n, m, confidence)
        out |= {"low": float(ratios[k - 1]), "high": float(ratios[-k]), "achieved": float(achieved)}
    return out


def compares() -> list[dict]:
    for n, m in [(1, 1), (2, 3), (4, 4), (5, 5), (3, 7), (6, 5)]:
        assert enumerate_u(n, m) == count_u(n, m), (n, m)
    rng = random.Random("compare")
    sizes = [(1, 1), (1, 4), (4, 1), (2, 2), (2, 5), (3, 3), (3, 8), (7, 5), (10, 10), (12, 20), (19, 19), (25, 25), (40, 37)]
    sizes += [(4, 4)] * 6 + [(5, 5)] * 4 + [(8, 8)] * 3
    out = []
    for i, (n, m) in enumerate(sizes):
        for comparisons in (1, 3):
            x, y = samples.two_samples(rng, n, m, (0.97, 1, 1.02, 1.4)[i % 4], (0.004, 0.015, 0.06)[i % 3])
            out.append(compare(x, y, 1 - 0.05 / comparisons))
    # Hollander and Wolfe's permeability of the placenta, as in R's help for wilcox.test: W = 35, p = 0.2544, difference 0.305.
    x, y = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46], [1.15, 0.88, 0.90, 0.74, 1.21]
    published = compare([math.exp(v) for v in x], [math.exp(v) for v in y], 0.95)
    assert abs(published["p"] - 0.2544) < 5e-5 and abs(math.log(published["ratio"]) - 0.305) < 1e-12
    return out + [published]


def welch(x: list[float], y: list[float], confidence: float) -> dict:
    """Returns Welch's t interval for the ratio of the geometric means, and the smallest interval around it and the rank interval.

    Both intervals of the hull have the confidence, or else the highest confidence that the rank interval can have. The hull excludes 1
    if both exclude 1 on the same side. So its p is, on the better side, the larger of the two p.
    """
    a, b = np.log(x), np.log(y)
    n, m = len(x), len(y)
    found = stats.ttest_ind(a, b, equal_var=False)
    interval = found.confidence_interval(confidence)
    rank = compare(x, y, confidence)
    hull = found.confidence_interval(min(confidence, rank["achieved"]))
    u = sum(v > w for v in x for w in y)
    above, below = stats.t.sf(found.statistic, found.df), stats.t.cdf(found.statistic, found.df)
    return {
        "x": x, "y": y, "confidence": confidence, "ratio": math.exp(a.mean() - b.mean()), "freedom": float(found.df),
        "low": math.exp(interval.low), "high": math.exp(interval.high), "p": float(found.pvalue),
        "hullLow": min(rank["low"], math.exp(hull.low)), "hullHigh": max(rank["high"], math.exp(hull.high)),
        "hullP": min(1, 2 * min(max(float(tail(n, m, n * m - u)), float(above)), max(float(tail(n, m, u)), float(below)))),
    }


def welches() -> list[dict]:
    rng = random.Random("welch")
    out = []
    for n, m, one, other in [(4, 4, 0.01, 0.01), (4, 4, 0.01, 0.05), (4, 4, 0.005, 0.05), (5, 5, 0.03, 0.01), (8, 8, 0.01, 0.05),
                             (10, 4, 0.02, 0.01), (4, 19, 0.002, 0.03), (2, 2, 0.01, 0.02), (19, 19, 0.06, 0.01)]:
        for confidence in (0.95, 1 - 0.05 / 3, 1 - 2 / 70):
            out.append(welch(samples.rates(rng, n, 305_000, one), samples.rates(rng, m, 300_000, other), confidence))
    return out


def repetitions() -> list[int]:
    """Returns, for 1 to 60 comparisons m, the smallest n with m x 2/C(2n, n) <= 0.05."""
    return [next(n for n in itertools.count(1) if Fraction(2 * m, math.comb(2 * n, n)) <= Fraction(1, 20)) for m in range(1, 61)]
