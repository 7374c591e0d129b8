"""Rules that end trials, or the experiment. Those that an experiment file can express become its `stop` and `budget`;
the others run in a process of their own, which is told every result."""

from __future__ import annotations

import datetime
import difflib
import math
import sys
import time
from collections import deque
from typing import Any, Callable, Deque, Dict, List, Mapping, Optional, Tuple, Union

from ._means import deviation
from ._plugin import SERVED
from .config import seconds
from .error import TuneError

__all__ = [
    "CombinedStopper",
    "ExperimentPlateauStopper",
    "FunctionStopper",
    "MaximumIterationStopper",
    "NoopStopper",
    "Stopper",
    "TimeoutStopper",
    "TrialPlateauStopper",
]

Function = Callable[[str, Dict[str, Any]], bool]
Keys = Dict[str, Dict[str, Any]]


class Stopper:
    """The base class of stoppers of one's own: implement __call__ and stop_all. A subclass is pickled, and runs in a
    process of its own, which is told every result of all trials, in order."""

    def __call__(self, trial_id: str, result: Dict[str, Any]) -> bool:
        """Whether a trial ends with this result."""
        raise NotImplementedError(f"{type(self).__name__} has no method __call__")

    def stop_all(self) -> bool:
        """Whether the experiment ends. Called after each result."""
        raise NotImplementedError(f"{type(self).__name__} has no method stop_all")

    def parts(self) -> List[Stopper]:
        """The stoppers of which it consists."""
        return [self]

    def keys(self) -> Optional[Keys]:
        """Keys of the experiment file (stop, budget) that say all about it; None: it must run."""
        return None

    def _is(self, base: type) -> bool:
        """Whether it is a bundled stopper, and no subclass with rules of its own."""
        same = (getattr(type(self), m) is getattr(base, m) for m in ("__call__", "stop_all"))
        return all(same)


class NoopStopper(Stopper):
    """Never stops anything."""

    def __call__(self, trial_id: str, result: Dict[str, Any]) -> bool:
        return False

    def stop_all(self) -> bool:
        return False

    def keys(self) -> Optional[Keys]:
        return {} if self._is(NoopStopper) else None


class MaximumIterationStopper(Stopper):
    """Ends each trial after max_iter iterations."""

    def __init__(self, max_iter: int) -> None:
        self.max_iter = max_iter
        self._seen: Dict[str, int] = {}

    def __call__(self, trial_id: str, result: Dict[str, Any]) -> bool:
        self._seen[trial_id] = self._seen.get(trial_id, 0) + 1
        return self._seen[trial_id] >= self.max_iter

    def stop_all(self) -> bool:
        return False

    def keys(self) -> Optional[Keys]:
        return {"stop": {"iteration": int(self.max_iter)}} if self._is(MaximumIterationStopper) else None


class TimeoutStopper(Stopper):
    """Ends the experiment after a time in seconds. ValueError: it is no time."""

    def __init__(self, timeout: Union[float, datetime.timedelta]) -> None:
        self.timeout: float = seconds(timeout)
        if self.timeout < 0:
            raise ValueError(f"timeout is {timeout}: expected seconds")
        self._begun: Optional[float] = None

    def __call__(self, trial_id: str, result: Dict[str, Any]) -> bool:
        return False

    def stop_all(self) -> bool:
        self._begun = self._begun or time.monotonic()
        return time.monotonic() - self._begun >= self.timeout

    def keys(self) -> Optional[Keys]:
        return {"budget": {"time": self.timeout}} if self._is(TimeoutStopper) else None


def _spread(values: List[float]) -> float:
    """The standard deviation; infinite if a value is no number."""
    if not all(isinstance(v, (int, float)) and math.isfinite(v) for v in values):
        return math.inf
    return deviation(values)


class TrialPlateauStopper(Stopper):
    """Ends a trial when the standard deviation of its last num_results results is at most std. With metric_threshold
    only a trial that has reached it: at least it with mode "max", at most it with mode "min". ValueError: there is a
    threshold, and no mode."""

    def __init__(
        self,
        metric: str,
        std: float = 0.01,
        num_results: int = 4,
        grace_period: int = 4,
        metric_threshold: Optional[float] = None,
        mode: Optional[str] = None,
    ) -> None:
        if metric_threshold is not None and mode not in ("min", "max"):
            raise ValueError(f'mode is {mode!r}: a metric_threshold needs mode="min" or mode="max"')
        self.metric: str
        self.std: float
        self.mode: Optional[str]
        self.metric, self.std, self.mode = metric, float(std), mode
        self.num_results: int
        self.grace_period: int
        self.num_results, self.grace_period = int(num_results), int(grace_period)
        self.metric_threshold = metric_threshold
        self._last: Dict[str, Deque[float]] = {}
        self._seen: Dict[str, int] = {}

    def __call__(self, trial_id: str, result: Dict[str, Any]) -> bool:
        value = result.get(self.metric, math.nan)
        last = self._last.setdefault(trial_id, deque(maxlen=self.num_results))
        last.append(value)
        self._seen[trial_id] = self._seen.get(trial_id, 0) + 1
        if self._seen[trial_id] < self.grace_period or len(last) < self.num_results or not self._reached(value):
            return False
        return _spread(list(last)) <= self.std

    def _reached(self, value: float) -> bool:
        if self.metric_threshold is None:
            return True
        return value <= self.metric_threshold if self.mode == "min" else value >= self.metric_threshold

    def stop_all(self) -> bool:
        return False

    def keys(self) -> Optional[Keys]:
        if self.metric_threshold is not None or not self._is(TrialPlateauStopper):
            return None
        plateau = {
            "metric": self.metric,
            "mode": self.mode or "min",
            "std": self.std,
            "last": self.num_results,
            "grace": max(0, self.grace_period - 1),
        }
        return {"stop": {"plateau": plateau}}


class ExperimentPlateauStopper(Stopper):
    """Ends the experiment when the top best of all results no longer change: their standard deviation is at most std
    for patience results in a row. ValueError: an argument is out of its range."""

    def __init__(self, metric: str, std: float = 0.001, top: int = 10, mode: str = "min", patience: int = 0) -> None:
        if mode not in ("min", "max"):
            raise ValueError(f"mode is {mode!r}: expected min or max")
        if not isinstance(top, int) or top <= 1:
            raise ValueError(f"top is {top!r}: expected an integer above 1")
        if not isinstance(patience, int) or patience < 0:
            raise ValueError(f"patience is {patience!r}: expected an integer from 0")
        if not std > 0:
            raise ValueError(f"std is {std!r}: expected a number above 0")
        self.metric: str
        self.std: float
        self.top: int
        self.patience: int
        self.metric, self.std, self.top, self.mode, self.patience = metric, float(std), top, mode, patience
        self._best: List[float] = []
        self._since = 0

    def __call__(self, trial_id: str, result: Dict[str, Any]) -> bool:
        best = sorted([*self._best, result[self.metric]])
        self._best = best[: self.top] if self.mode == "min" else best[-self.top :]
        self._since = self._since + 1 if self.has_plateaued() else 0
        return self.stop_all()

    def has_plateaued(self) -> bool:
        """Whether the best results are as good as equal."""
        return len(self._best) == self.top and _spread(self._best) <= self.std

    def stop_all(self) -> bool:
        return self.has_plateaued() and self._since >= self.patience


class FunctionStopper(Stopper):
    """Calls a function of (trial_id, result) with each result of all trials, in order, in a process of its own. The
    trial ends when it returns True. ValueError: it is no function."""

    def __init__(self, function: Function) -> None:
        if not callable(function):
            raise ValueError(f"{function!r:.60} is no function of (trial_id, result)")
        self.function = function

    def __call__(self, trial_id: str, result: Dict[str, Any]) -> bool:
        return bool(self.function(trial_id, result))

    def stop_all(self) -> bool:
        return False

    @classmethod
    def is_valid_function(cls, function: Any) -> bool:
        """Whether it can be called, and is no stopper."""
        return callable(function) and not isinstance(function, Stopper)


class CombinedStopper(Stopper):
    """Stops when any of several stoppers does."""

    def __init__(self, *stoppers: Stopper) -> None:
        self.stoppers = stoppers

    def __call__(self, trial_id: str, result: Dict[str, Any]) -> bool:
        return any([s(trial_id, result) for s in self.stoppers])

    def stop_all(self) -> bool:
        return any([s.stop_all() for s in self.stoppers])

    def parts(self) -> List[Stopper]:
        if not self._is(CombinedStopper):
            return [self]
        return [part for s in self.stoppers for part in s.parts()]


Rules = Tuple[Keys, Optional[Function], Optional[Stopper]]


def rules(stop: Any, objectives: Mapping[str, str]) -> Rules:
    """What RunConfig.stop means: keys of the experiment file, a function for the trial's process, and a stopper that
    runs in a process of its own. objectives are modes by metric."""
    if stop is None:
        return {}, None, None
    if isinstance(stop, Mapping):
        return _criteria(stop, objectives)
    parts = stop.parts() if isinstance(stop, Stopper) else _listed(stop)
    keys: Keys = {}
    own: List[Stopper] = []
    for part in parts:
        said = part.keys()
        if said is None or not _add(keys, said):
            own.append(part)
    if own:
        keys.setdefault("stop", {})["plugin"] = SERVED + "stopper"
    runs = own[0] if len(own) == 1 else CombinedStopper(*own) if own else None
    return keys, None, runs


def _listed(stop: Any) -> List[Stopper]:
    given = stop if isinstance(stop, (list, tuple)) else [stop]
    return [p for s in given for p in (s.parts() if isinstance(s, Stopper) else [FunctionStopper(s)])]


def _add(keys: Keys, more: Keys) -> bool:
    """Adds the keys of a stopper; False if there is one with the same keys that says something else."""
    for key, found in more.items():
        for name, rule in found.items():
            known = keys.setdefault(key, {})
            if name in known and name in ("iteration", "time"):
                known[name] = min(known[name], rule)
            elif known.setdefault(name, rule) != rule:
                return False
    return True


class _Reached:
    """Whether a value that is no number is at least what is wanted, as in Ray."""

    def __init__(self, criteria: Mapping[str, Any]) -> None:
        self.criteria = dict(criteria)

    def __call__(self, trial_id: str, result: Dict[str, Any]) -> bool:
        return any(name in result and result[name] >= value for name, value in self.criteria.items())


def _criteria(stop: Mapping[str, Any], objectives: Mapping[str, str]) -> Rules:
    """{"accuracy": 0.9}: a trial ends when the metric is at least this, as in Ray, whatever the mode is."""
    found: Dict[str, Any] = {}
    least: List[str] = []
    others: Dict[str, Any] = {}
    for name, value in stop.items():
        _check_criterion(name, value, objectives)
        if name == "training_iteration":
            found["iteration"] = int(value)
        elif name == "time_total_s":  # of a result, as in Ray: stop.time would cut the iteration that runs
            least.append(f"time >= {float(value)!r}")
        elif isinstance(value, bool) or not isinstance(value, (int, float)):
            others[name] = value
        elif objectives.get(name) == "min":
            least.append(f"{_expression(name)} >= {float(value)!r}")
        else:
            found[name] = value
    if least:
        found["when"] = " || ".join(least)
    return {"stop": found} if found else {}, _Reached(others) if others else None, None


_COUNTED = ("training_iteration", "time_total_s")  # what every result has


def _check_criterion(name: str, value: Any, objectives: Mapping[str, str]) -> None:
    """Refuses what no result could be compared with, and warns of a name that is nearly one that results have."""
    number: Any = value
    if name in (*_COUNTED, *objectives) and (isinstance(value, bool) or not isinstance(value, (int, float))):
        try:
            float(number.item())  # of numpy
        except (AttributeError, TypeError, ValueError):
            raise TuneError(f"stop: {name} is {value!r:.60}: expected a number") from None
    near = difflib.get_close_matches(str(name), _COUNTED, 1, 0.85)
    if near and name not in (*_COUNTED, *objectives):
        print(f"tunehost: stop has {name!r}: did you mean {near[0]!r}?", file=sys.stderr)


def _expression(metric: str) -> str:
    name = metric.replace("/", ".")
    if not all(part.isidentifier() for part in name.split(".")):
        raise TuneError(f"the metric {metric!r} in stop must consist of letters, digits, _ and /")
    return name
