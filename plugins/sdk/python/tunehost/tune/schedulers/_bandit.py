"""The model of population based bandits: a Gaussian process of the improvements, whose older ones count less."""

from __future__ import annotations

import math
import random
from typing import Any, List, NamedTuple, Sequence, Tuple

from ..error import TuneError

_MOST = 200  #: improvements that the model knows, the newest ones
_FORGETS = 0.1
_NOISE = 0.1
_CANDIDATES = 1000
_LARGE = 1e150


class Seen(NamedTuple):
    """A result of a trial with its parameters."""

    trial: int
    time: float
    score: float
    point: List[float]


def best(seen: Sequence[Seen], bounds: Sequence[Tuple[float, float]], now: float) -> List[float]:
    """The point with the largest upper confidence bound of the improvement. A random one while nothing is known."""
    changes = list(_improvements(seen))[-_MOST:]
    draws = [[random.uniform(low, high) for low, high in bounds] for _ in range(_CANDIDATES)]
    if not changes:
        return draws[0]
    numpy = _numpy()
    low, span = (numpy.array(side, float) for side in zip(*((a, max(b - a, 1e-12)) for a, b in bounds)))
    x = (numpy.array([point for _, point, _ in changes]) - low) / span
    t = numpy.array([time for time, _, _ in changes])
    y = numpy.array([change for _, _, change in changes])
    y = y / max(1.0, float(numpy.abs(y).max()) / _LARGE)  # a square would overflow
    y = (y - y.mean()) / (y.std() or 1.0)
    candidates = (numpy.array(draws) - low) / span
    step = max(1.0, (t.max() - t.min()) / max(1, len(set(t.tolist())) - 1))
    known = _kernel(numpy, x, x, t, t, step) + _NOISE * numpy.eye(len(x))
    cross = _kernel(numpy, candidates, x, numpy.full(len(candidates), now), t, step)
    solved = numpy.linalg.solve(known, cross.T)
    spread = numpy.sqrt(numpy.maximum(1e-12, 1.0 - (cross * solved.T).sum(axis=1)))
    bound = solved.T @ y + numpy.sqrt(2.0 * numpy.log(len(x) + 1)) * spread
    return [float(v) for v in draws[int(bound.argmax())]]


def _improvements(seen: Sequence[Seen]) -> Any:
    """How much each result is better than the one before it of its trial, per time."""
    last: dict[int, Seen] = {}
    for one in seen:
        before = last.get(one.trial)
        if before is not None and one.time > before.time:
            change = (one.score - before.score) / (one.time - before.time)
            if math.isfinite(change):
                yield one.time, one.point, change
        last[one.trial] = one


def _kernel(numpy: Any, a: Any, b: Any, at: Any, bt: Any, step: float) -> Any:
    """Squared exponential in the parameters, and forgetting in time."""
    distance = ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)
    apart = numpy.abs(at[:, None] - bt[None, :]) / step
    return numpy.exp(-distance / (2 * 0.2**2)) * (1 - _FORGETS) ** (apart / 2)


def _numpy() -> Any:
    try:
        import numpy
    except ImportError as e:
        raise TuneError("PB2 with this time_attr or custom_explore_fn needs numpy: pip install numpy") from e
    return numpy
