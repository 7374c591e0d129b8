"""The values k*step for integers k: integers, stepped reals, indices of choices."""

from __future__ import annotations

import math
from typing import NamedTuple

from . import _portable

MAX_EXACT = 2.0**53


def even(x: float) -> float:
    """x rounded to the nearest integer, halves to the even one."""
    return float(round(x)) if math.isfinite(x) else x


def away(x: float) -> float:
    """x rounded to the nearest integer, halves away from zero."""
    whole = float(math.trunc(x)) if math.isfinite(x) else x
    return whole + math.copysign(1, x) if abs(x - whole) >= 0.5 else whole


def near_floor(x: float) -> float:
    """The floor of x, or the integer above when x misses it by rounding only."""
    near = away(x)
    if abs(x - near) <= 1e-9 + 1e-15 * abs(x):
        return near
    return float(math.floor(x)) if math.isfinite(x) else x


def multiple(k: float, step: float) -> float:
    """k*step as it is usually written: three steps of 0.1 are 0.3."""
    power = 1.0
    for _ in range(15):
        m = even(step * power)
        if m / power == step and abs(k * m) <= MAX_EXACT:
            return k * m / power + 0.0
        power *= 10
    return k * step + 0.0


def is_multiple(x: float, step: float, k: float) -> bool:
    """Whether x is the k-th multiple of step, up to rounding."""
    return abs(x - multiple(k, step)) <= 1e-9 * step + 1e-15 * abs(x)


class Lattice(NamedTuple):
    """The multiples k*step for k from first to last."""

    first: float
    last: float
    step: float

    def size(self) -> float:
        return self.last - self.first + 1

    def value(self, k: float) -> float:
        return multiple(k, self.step)

    def nearest(self, x: float) -> float:
        """The k whose value is nearest to x."""
        return max(self.first, min(self.last, even(x / self.step))) + 0.0

    def from_unit(self, u: float, log: bool) -> float:
        k = self.first + float(math.floor(u * self.size()))
        if log:
            low, width = self._log_cells()
            k = away(_portable.exp(low + u * width))
        return self.value(max(self.first, min(self.last, k)))

    def to_unit(self, x: float, log: bool) -> float:
        if self.first == self.last:
            return 0.5
        if log:
            low, width = self._log_cells()
            return (_portable.ln(max(x / self.step, self.first - 0.5)) - low) / width
        return (x / self.step - self.first + 0.5) / self.size()

    def _log_cells(self) -> tuple[float, float]:
        low = _portable.ln(self.first - 0.5)
        return low, _portable.ln(self.last + 0.5) - low
