"""Which metrics are integers. The record has all metrics as floating-point numbers. A file of the trial, or of an experiment
of ask and tell, has the names of those that were integers whenever this package reported them, so that who reads them
gets what was reported: 3 or 3.0."""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any, Collection, Dict, FrozenSet, Mapping

_FILE = ".integers.json"
_NOT_FINITE = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
_TOTALS = ("_total", "_since_restore")  #: what the host adds of a metric NAME_this_iter
_COUNT = "training_iteration"  #: is one in any case
_OWN = "metric/"  #: before the name of a metric in files, if the host has one of this name


class Integers:
    """The integers of what a process reports, in the file of a directory."""

    def __init__(self, dir: "str | os.PathLike[str]") -> None:
        self._dir = os.fspath(dir)
        self._known: Dict[str, bool] = {}  # whether a metric was an integer each time
        self._read = False

    def note(self, metrics: Collection[str], integers: Collection[str]) -> None:
        """Takes the names of a report's metrics, and of those that are integers, before it is made."""
        found = {name: name in integers and self._known.get(name, True) for name in metrics}
        new = {name for name, is_one in found.items() if is_one is not self._known.get(name, False)}
        before = dict(self._known)
        self._known.update(found)
        try:
            if new and os.path.isdir(self._dir):
                self._write()
        except OSError:
            self._known = before  # the next call writes it
            raise

    def names(self) -> Collection[str]:
        """The metrics that were integers each time."""
        return {name for name, is_one in self._known.items() if is_one}

    def _write(self) -> None:
        if not self._read:  # of an earlier attempt
            self._known = {**dict.fromkeys(of(self._dir), True), **self._known}
            self._read = True
            _tidy(self._dir)
        made = f"{os.path.join(self._dir, _FILE)}.{os.getpid()}.new"
        try:
            with open(made, "w", encoding="utf-8") as f:
                json.dump(sorted(self.names()), f)
            os.replace(made, os.path.join(self._dir, _FILE))
        except OSError:  # a full disk, for example
            with contextlib.suppress(OSError):
                os.unlink(made)
            raise


def _tidy(dir: str) -> None:
    """Removes what processes that were killed have half written."""
    for name in os.listdir(dir):
        pid = name[len(_FILE) + 1 : -len(".new")]
        if name.startswith(f"{_FILE}.") and name.endswith(".new") and pid.isdigit() and not _lives(int(pid)):
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(dir, name))


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True


def of(*dirs: Any) -> FrozenSet[str]:
    """The names of metrics that are integers, by the files of directories."""
    found: FrozenSet[str] = frozenset()
    for dir in dirs:
        try:
            with open(os.path.join(dir or "", _FILE), encoding="utf-8") as f:
                found |= frozenset(json.load(f))
        except (FileNotFoundError, NotADirectoryError, ValueError):
            pass  # there is none, or somebody else's
    return found


def loads(line: "str | bytes") -> Any:
    """The program's JSON, which has whole floats as 3, and the negative zero as -0.

    >>> loads('{"loss": -0, "n": 7}')
    {'loss': -0.0, 'n': 7}
    """
    zero = b"-0" if isinstance(line, bytes) else "-0"
    return json.loads(line, parse_int=_whole) if zero in line else json.loads(line)  # type: ignore[operator]


def _whole(digits: str) -> Any:
    return -0.0 if digits == "-0" else int(digits)


def typed(metrics: Mapping[str, Any], integers: Collection[str]) -> Dict[str, Any]:
    """Metrics of the program's JSON as they were reported; other values as they are.

    >>> typed({"loss": 3, "epoch": 3, "worst": "NaN", "by": "hand"}, {"epoch"})
    {'loss': 3.0, 'epoch': 3, 'worst': nan, 'by': 'hand'}
    >>> typed({"n": 9223372036854776000, "huge": 10**400}, {"n"}) == {"n": 2**63, "huge": 10**400}
    True
    """
    return {name: _typed(name, value, integers) for name, value in metrics.items()}


def _typed(name: str, value: Any, integers: Collection[str]) -> Any:
    if type(value) is str:
        return _NOT_FINITE.get(value, value)
    if type(value) not in (int, float):
        return value
    try:
        number = float(value)  # what was recorded: JSON rounds the digits of a large one
    except OverflowError:  # no metric, but a value beside them
        return value
    return int(number) if number.is_integer() and _is_one(name, integers) else number


def _is_one(name: str, integers: Collection[str]) -> bool:
    if name == _COUNT or not integers:
        return name == _COUNT
    name = name[len(_OWN) :] if name.startswith(_OWN) else name
    makers = (f"{name[: -len(end)]}_this_iter" for end in _TOTALS if name.endswith(end))
    return name in integers or any(maker in integers for maker in makers)
