"""Flattens reported results and converts them to JSON: numbers are metrics, the rest are values."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple, Union

Metrics = Mapping[str, Any]

_MAX_METRICS = 10_000
_MAX_NAME = 128  #: of a metric, in bytes
_MAX_VALUES = 64 << 10
_MAX_DEPTH = 32
_MAX_BITS = 13_000  #: of an int; Python makes no text of one with more than 4300 digits
MAX_DICTS = 100  #: in each other
LEFT_OUT = "left out, because values that are not metrics may have"
_COUNTS = ("iteration", "training_iteration")


class Reported:
    """One report."""

    def __init__(self) -> None:
        self.metrics: Dict[str, float] = {}
        self.integers: Set[str] = set()  #: the names of those that are integers
        self.values: Dict[str, Any] = {}  #: everything that is not a number, as JSON values
        self.done = False  #: the report contains done=True
        self.iteration: Optional[int] = None  #: the iteration in the report
        self.counted = ""  #: the name by which the report gives it
        self.left_out: List[str] = []  #: names of values that exceed the size limit
        self._room = _MAX_VALUES - 2

    def add(self, name: str, value: Any) -> None:
        """Adds a value under its flattened name."""
        if name in self.metrics or name in self.values:
            raise ValueError(f"metric {name!r} is given twice")
        found = scalar(value)  # an array stays one: the next may be longer
        if found is None:
            self._add_value(name, _plain(value, 0))
            return
        if name in _COUNTS and found.is_integer() and 1 <= found <= 2**53:
            self.iteration, self.counted = int(found), name
            if name == "iteration":
                return
        _check_name(name)
        self.metrics[name] = found
        if name not in _COUNTS and _is_integer(value):
            self.integers.add(name)

    def _add_value(self, name: str, value: Any) -> None:
        if name == "done" and isinstance(value, bool):
            self.done = value
            return
        size = len(json.dumps({name: value}))
        if size > self._room:
            self.left_out.append(name)
            return
        self.values[name] = value
        self._room -= size

    def check(self, call: str) -> None:
        """Raises ValueError if the report has no number, or too many. call is one that is right."""
        if len(self.metrics) > _MAX_METRICS:
            raise ValueError(f"a report has {len(self.metrics)} metrics; at most {_MAX_METRICS}")
        if self.metrics:
            return
        says = "".join(f"; {name} is {_shown(value)}" for name, value in list(self.values.items())[:1])
        raise ValueError(f"no metrics: write {call}{says}")


def _check_name(name: str) -> None:
    if not name:
        raise ValueError("a metric has no name")
    if not name.isprintable():
        raise ValueError(f"the metric's name {name!r:.60} has an unprintable character")
    if len(name) > _MAX_NAME // 4 and len(name.encode()) > _MAX_NAME:
        raise ValueError(f"the metric's name {name!r:.60}… is longer than {_MAX_NAME} bytes")


def _shown(value: Any) -> str:
    """Why a value is no metric."""
    return short(value) if _is_whole(value) else f"{short(value)}, which is not a number"


def short(value: Any) -> str:
    """The beginning of a value in an error; an integer has too many digits if it is beyond all floats."""
    if not _is_whole(value) or scalar(value) is not None:
        return f"{value!r:.60}"
    digits = int(value.bit_length() * math.log10(2)) + 1
    return f"a whole number of about {digits} digits, which is beyond all floats"


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def flatten(metrics: Optional[Metrics], more: Metrics, call: str = "report({'accuracy': 0.9})") -> Reported:
    """The reported values by name, nested names joined with "/". call is an example for errors."""
    r = Reported()
    if metrics is not None and not hasattr(metrics, "items"):
        got = repr(metrics) if isinstance(metrics, (int, float)) else type(metrics).__name__
        raise TypeError(f"a metric has a name: write report(accuracy=0.5), not report({got})")
    for part in (metrics or {}, more):
        check_depth(part)
        for name, value in _leaves(part, ""):
            r.add(name, value)
    r.check(call)
    return r


def check_depth(metrics: Metrics, within: str = "", depth: int = 1) -> None:
    """Raises ValueError for a dict that contains itself, or that is nested so deep that it may."""
    for key, value in metrics.items():
        if isinstance(value, Mapping):
            name = within or _text(key)
            if depth == MAX_DICTS:
                raise ValueError(f"{name:.60} has more than {MAX_DICTS} dicts in each other: does it contain itself?")
            check_depth(value, name, depth + 1)


def _leaves(metrics: Metrics, prefix: str) -> Iterator[Tuple[str, Any]]:
    for key, value in metrics.items():
        name = prefix + _text(key)
        if isinstance(value, Mapping):
            yield from _leaves(value, name + "/")
        else:
            yield name, value


def _text(value: Any) -> str:
    return str(value).encode("utf-8", "replace").decode()


def _is_bool(value: Any) -> bool:
    """The booleans of numpy and torch can be converted to float, too."""
    return isinstance(value, bool) or getattr(getattr(value, "dtype", None), "kind", "") == "b" or str(
        getattr(value, "dtype", "")) == "torch.bool"


def _is_integer(value: Any) -> bool:
    """Integers of any library."""
    if type(value) in (float, int):
        return type(value) is int
    dtype = getattr(value, "dtype", None)
    return isinstance(value, int) or getattr(dtype, "kind", "") in ("i", "u") or getattr(
        dtype, "is_floating_point", True) is False


def single(value: Any) -> Any:
    """The one element of an array that has no other, and any other value as it is."""
    if type(value) not in (float, int) and getattr(value, "size", None) == 1 and getattr(value, "ndim", 0) and hasattr(value, "item"):
        return value.item()
    return value


def number(value: Any) -> Optional[float]:
    """Numbers of any library, also in an array that has one alone: those of numpy and torch can be converted to float."""
    return scalar(single(value))


def scalar(value: Any) -> Optional[float]:
    """A number of any library as a report takes it: an array that has a dimension is none."""
    if _is_bool(value) or isinstance(value, (str, bytes)) or getattr(value, "ndim", False):
        return None
    try:
        return float(value)
    except Exception:  # not a number, or an int beyond all floats
        return None


def _plain(value: Any, depth: int) -> Any:
    """A value that JSON can represent; anything else becomes its text."""
    if value is None or isinstance(value, (bool, str)):
        return _text(value) if isinstance(value, str) else value
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        return {_text(k): _plain(v, depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(v, depth + 1) for v in value]
    if hasattr(value, "tolist"):  # arrays of numpy and torch, and their truths
        return _plain(value.tolist(), depth + 1)
    if isinstance(value, int) and value.bit_length() <= _MAX_BITS:
        return value
    if isinstance(value, int):
        return jsonable(math.inf if value > 0 else -math.inf)
    found = scalar(value)
    return jsonable(found) if found is not None else _text(value)


def whole(iteration: Any) -> int:
    """The iteration given by the author."""
    if isinstance(iteration, bool) or int(iteration) != iteration or not 1 <= iteration < 2**63:
        raise ValueError(f"iteration is {iteration!r:.60}: expected a whole number from 1")
    return int(iteration)


def jsonable(value: float) -> Union[float, str]:
    """A number, or a string for one that JSON cannot represent."""
    if math.isfinite(value):
        return value
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def left_out(names: List[str]) -> str:
    """The warning about values that were left out because of their size."""
    many = f"{_MAX_VALUES >> 10} KiB in total: write more than that into files"
    return f"{', '.join(names[:8])}: {LEFT_OUT} {many}"
