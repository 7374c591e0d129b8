"""Metrics as authors give them, flat and as JSON."""

from __future__ import annotations

import math
from typing import Any, Dict, Iterator, Mapping, Optional, Tuple, Union

Metrics = Mapping[str, Any]


def flatten(metrics: Optional[Metrics], more: Metrics) -> Dict[str, float]:
    """The numbers by name, nested names joined with "/". What is no number is an error."""
    flat: Dict[str, float] = {}
    for part in (metrics or {}, more):
        for name, value in _leaves(part, ""):
            if name in flat:
                raise ValueError(f"metric {name!r} is there twice")
            flat[name] = value
    if not flat:
        raise ValueError("no metrics: write report(accuracy=0.9) or report({'accuracy': 0.9})")
    return flat


def _leaves(metrics: Metrics, prefix: str) -> Iterator[Tuple[str, float]]:
    for key, value in metrics.items():
        name = prefix + str(key).encode("utf-8", "replace").decode()
        if isinstance(value, Mapping):
            yield from _leaves(value, name + "/")
        else:
            yield name, _number(name, value)


def _number(name: str, value: Any) -> float:
    """Numbers of any library: those of numpy and torch know how to be a float."""
    if not isinstance(value, (bool, str, bytes)):
        try:
            return float(value)
        except (TypeError, ValueError):
            pass
        except OverflowError:  # an int beyond all floats
            return math.inf if value > 0 else -math.inf
    raise TypeError(f"metric {name!r} is {value!r:.60}: expected a number")


def whole(iteration: Any) -> int:
    """An iteration as authors give it."""
    if isinstance(iteration, bool) or int(iteration) != iteration or not 1 <= iteration < 2**63:
        raise ValueError(f"iteration is {iteration!r:.60}: expected a whole number from 1")
    return int(iteration)


def jsonable(value: float) -> Union[float, str]:
    """A number, or the string that stands for one that JSON lacks."""
    if math.isfinite(value):
        return value
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
