"""Probabilities of the knee, by weighting random curves of the prior with their likelihood.

The Go code computes the same model as a hidden Markov model on a grid. Here, slopes and levels are continuous, and no state is
followed from count to count.
"""

import numpy as np
from scipy import stats

CURVES = 3_000_000
BENDS = np.array([(0.3, 1), (0.08, 0.3), (0, 0.08), (0, 0), (-0.05, 0), (-0.2, -0.05), (-0.6, -0.2)])
IRREGULARITIES = np.array([0.001, 0.005, 0.012, 0.025])
MEDIAN_VARIANCE = {1: 1.0, 2: 0.5}


def transitions() -> np.ndarray:
    """Returns the cumulative probabilities of the bend after each bend: 1 for the same, 0.8 x 0.5^k after it, 0.05 before it."""
    n = len(BENDS)
    p = np.array([[1 if a == b else 0.8 * 0.5 ** (a - b - 1) if a > b else 0.05 for a in range(n)] for b in range(n)])
    return np.cumsum(p / p.sum(axis=1, keepdims=True), axis=1)


def probability(case: dict) -> list[float]:
    rng = np.random.default_rng(20260701)
    clients, trials = np.array(case["clients"], float), case["trials"]
    curves = np.zeros((CURVES, len(clients)))
    chances, bend = transitions(), rng.integers(len(BENDS), size=CURVES)
    for i in range(1, len(clients)):
        bend = (rng.random(CURVES)[:, None] > chances[bend]).sum(axis=1)
        slope = BENDS[bend, 0] + (BENDS[bend, 1] - BENDS[bend, 0]) * rng.random(CURVES)
        curves[:, i] = curves[:, i - 1] + slope * np.log(clients[i] / clients[i - 1])
    irregular = rng.choice(IRREGULARITIES, CURVES) ** 2
    quantile = (rng.integers(6, size=CURVES) + 0.5) / 6
    noise = case["cv"] ** 2 * case["freedom"] / stats.chi2.ppf(quantile, case["freedom"])
    known = [i for i, n in enumerate(trials) if n > 0]
    y = np.log([case["docs"][i] for i in known])
    of_median = noise[:, None] * np.array([MEDIAN_VARIANCE[trials[i]] for i in known])
    variance = of_median + irregular[:, None]
    off = y - curves[:, known]
    precision = (1 / variance).sum(axis=1)
    level = (off / variance).sum(axis=1) / precision  # any level is equally probable
    log_weight = -(np.log(variance).sum(axis=1) + np.log(precision) + ((off - level[:, None]) ** 2 / variance).sum(axis=1)) / 2
    weight = np.exp(log_weight - log_weight.max())
    if weight.sum() ** 2 / (weight ** 2).sum() < 2500:
        raise ValueError(f"too few curves have a weight: {case}")
    truth = curves + (level + rng.standard_normal(CURVES) / np.sqrt(precision))[:, None]
    z = rng.standard_normal(truth.shape)
    share = irregular[:, None] / variance
    truth[:, known] += share * (y - truth[:, known]) + np.sqrt(share * of_median) * z[:, known]
    for i in set(range(len(clients))) - set(known):
        truth[:, i] += np.sqrt(irregular) * z[:, i]
    knee = (truth >= truth.max(axis=1, keepdims=True) + np.log(case["percentOfPeak"] / 100)).argmax(axis=1)
    return [float(f"{weight[knee == i].sum() / weight.sum():.3f}") for i in range(len(clients))]


def probabilities() -> list[dict]:
    cases = [
        {"clients": [8, 16, 32, 64], "docs": [80.0, 97.1, 99.0, 100.0], "trials": [1, 1, 1, 1], "cv": 0.01, "freedom": 20},
        {"clients": [8, 16, 32, 64], "docs": [70.0, 88.0, 99.0, 100.0], "trials": [1, 1, 1, 1], "cv": 0.03, "freedom": 3},
        {"clients": [8, 16, 32, 64], "docs": [90.0, 96.0, 100.0, 93.0], "trials": [2, 2, 2, 2], "cv": 0.02, "freedom": 7},
        {"clients": [8, 16, 24, 32, 48], "docs": [80.0, 0.0, 97.0, 0.0, 100.0], "trials": [1, 0, 1, 0, 1], "cv": 0.01, "freedom": 2},
        {"clients": [8, 12, 16, 24, 32, 48], "docs": [100.0, 99.0, 101.0, 98.0, 100.0, 102.0], "trials": [1] * 6, "cv": 0.02, "freedom": 6},
        {"clients": [12, 16, 20, 32, 40, 48], "docs": [239130.0, 236746.0, 242232.0, 238201.0, 232926.0, 243044.0], "trials": [1] * 6,
         "cv": 0.015, "freedom": 6},
    ]
    return [case | {"percentOfPeak": p, "probability": probability(case | {"percentOfPeak": p})} for case in cases for p in (97.0, 90.0)]
