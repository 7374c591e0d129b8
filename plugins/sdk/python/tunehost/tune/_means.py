"""Means and deviations of values that may be so large that their sums overflow. Where nothing overflows they are the
plain ones."""

from __future__ import annotations

import math
from typing import List, Sequence, Tuple


def mean(values: Sequence[float]) -> float:
    """The mean of at least one value; finite if all values are."""
    plain = sum(values) / len(values)
    if math.isfinite(plain) or not all(map(math.isfinite, values)):
        return plain
    largest, scaled = _scaled(values)
    return largest * (sum(scaled) / len(scaled))


def running(before: float, value: float, count: int) -> float:
    """The mean after the value with this number, given the mean before it."""
    step = (value - before) / count
    return before + (step if math.isfinite(step) else value / count - before / count)


def deviation(values: Sequence[float]) -> float:
    """The standard deviation of at least one finite value."""
    try:
        plain = _deviation(values)
    except OverflowError:  # a square
        plain = math.inf
    if math.isfinite(plain):
        return plain
    largest, scaled = _scaled(values)
    return largest * _deviation(scaled)


def _deviation(values: Sequence[float]) -> float:
    middle = sum(values) / len(values)
    return math.sqrt(sum((v - middle) ** 2 for v in values) / len(values))


def _scaled(values: Sequence[float]) -> Tuple[float, List[float]]:
    """The largest value, without its sign, and all of them divided by it."""
    largest = max(map(abs, values))
    return largest, [v / largest for v in values]
