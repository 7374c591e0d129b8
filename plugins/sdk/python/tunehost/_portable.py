"""Functions with bit-identical results on every machine and in every SDK.

They follow plugins/sdk/space/portable.go step by step: only operations with
exactly defined results are used, each rounded separately, as Python does anyway.
"""

from __future__ import annotations

import math
import random
from typing import Any, Sequence

_LN2_HI = 6.93147180369123816490e-01
_LN2_LO = 1.90821492927058770002e-10
_LN2 = 0.6931471805599453
_HALF_SQRT2 = 1.4142135623730951 / 2


def ln(x: float) -> float:
    """The natural logarithm of a positive, finite x."""
    m, e = math.frexp(x)
    if m < _HALF_SQRT2:
        m, e = 2 * m, e - 1
    s = (m - 1) / (m + 1)
    s2 = s * s
    total = 0.0
    for k in range(23, 2, -2):
        total = (total + 1 / k) * s2
    frac = 2 * s + 2 * s * total
    return e * _LN2_HI + (frac + e * _LN2_LO)


def exp(x: float) -> float:
    """e to the x, for finite x."""
    k = math.floor(x / _LN2 + 0.5)
    r = (x - k * _LN2_HI) - k * _LN2_LO
    total = 1.0
    for n in range(14, 0, -1):
        total = 1 + total * r / n
    try:
        return math.ldexp(total, k)
    except OverflowError:
        return math.inf


_MID = (
    (3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
     4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3),
    (1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3),
)
_SIDE = (
    (1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9),
)
_TAIL = (
    (6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15),
)


def quantile(u: float) -> float:
    """The inverse of the standard normal distribution function, 0 < u < 1."""
    q = u - 0.5
    if abs(q) <= 0.425:
        return q * _ratio(_MID, 0.180625 - q * q)
    r = math.sqrt(-ln(min(u, 1 - u)))
    z = _ratio(_SIDE, r - 1.6) if r <= 5 else _ratio(_TAIL, r - 5)
    return math.copysign(z, q)


def _ratio(top_bottom: tuple[Sequence[float], Sequence[float]], x: float) -> float:
    top, bottom = top_bottom
    return _polynomial(top, x) / _polynomial(bottom, x)


def _polynomial(coefficients: Sequence[float], x: float) -> float:
    total = 0.0
    for c in reversed(coefficients):
        total = total * x + c
    return total


_MASK64 = (1 << 64) - 1
_MASK128 = (1 << 128) - 1
_MULTIPLIER = (2549297995355413924 << 64) | 4865540595714422341
_INCREMENT = (6364136223846793005 << 64) | 1442695040888963407
_CHEAP = 0xDA942042E4DD58B5


class Rand(random.Random):
    """The generator of a request's seed: PCG-DXSM, as in the other SDKs.

    It is a random.Random, so it has gauss, choice, shuffle and so on;
    random() gives the same numbers in every language.
    """

    def __new__(cls, seed: int = 0) -> Rand:  # random.Random would hash the seed
        return super().__new__(cls)

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)

    def seed(self, a: Any = 0, version: int = 2) -> None:
        super().seed(0)  # forgets a second gauss() value
        self._state = ((int(a) & _MASK64) << 64) | 0x74756E65686F7374

    def _next(self) -> int:
        self._state = state = (self._state * _MULTIPLIER + _INCREMENT) & _MASK128
        hi, lo = state >> 64, (state & _MASK64) | 1
        hi ^= hi >> 32
        hi = (hi * _CHEAP) & _MASK64
        hi ^= hi >> 48
        return (hi * lo) & _MASK64

    def random(self) -> float:
        return (self._next() & ((1 << 53) - 1)) / (1 << 53)

    def getrandbits(self, k: int, /) -> int:
        words, bits = 0, 0
        while bits < k:
            words, bits = (words << 64) | self._next(), bits + 64
        return words >> (bits - k)

    def getstate(self) -> tuple[Any, ...]:
        return (self._state, self.gauss_next)

    def setstate(self, state: tuple[Any, ...]) -> None:
        self.gauss_next: Any
        self._state, self.gauss_next = state

    def __reduce__(self) -> Any:
        return Rand, (), self.getstate()

    def __setstate__(self, state: Any) -> None:
        self.setstate(state)
