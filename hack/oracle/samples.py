"""Inputs of the vectors. random.Random gives the same numbers in every version of Python."""

import math
import random


def rates(rng: random.Random, n: int, centre: float, cv: float) -> list[float]:
    """Returns n different lognormal rates, rounded as a record rounds them."""
    out: list[float] = []
    while len(out) < n:
        rate = round(centre * math.exp(cv * rng.gauss(0, 1)), 3)
        if rate not in out:
            out.append(rate)
    return out


def two_samples(rng: random.Random, n: int, m: int, shift: float, cv: float) -> tuple[list[float], list[float]]:
    """Returns two samples without a value in common."""
    while True:
        x, y = rates(rng, n, 300_000 * shift, cv), rates(rng, m, 300_000, cv)
        if not set(x) & set(y):
            return x, y
