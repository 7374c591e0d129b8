"""Rules that end trials, or the experiment. They become `stop` and `budget` of the experiment file."""

from __future__ import annotations

import datetime
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

from .config import seconds
from .error import TuneError, Unsupported

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


class Stopper:
    """The base class. Subclasses of one's own are not supported yet: use a function of (trial_id, result), which
    is called in the trial's process."""

    def keys(self) -> Dict[str, Dict[str, Any]]:
        """Keys of the experiment file: stop, budget."""
        raise Unsupported(
            f"{type(self).__name__}: stoppers that are subclasses of Stopper are not supported: pass a function "
            "stop(trial_id, result) that returns whether the trial ends"
        )

    def functions(self) -> List[Function]:
        """Functions that the trial's process calls with each result."""
        return []


class NoopStopper(Stopper):
    """Never stops anything."""

    def keys(self) -> Dict[str, Dict[str, Any]]:
        return {}


class MaximumIterationStopper(Stopper):
    """Ends each trial after max_iter iterations."""

    def __init__(self, max_iter: int) -> None:
        self.max_iter = max_iter

    def keys(self) -> Dict[str, Dict[str, Any]]:
        return {"stop": {"iteration": int(self.max_iter)}}


class TimeoutStopper(Stopper):
    """Ends the experiment after a time in seconds."""

    def __init__(self, timeout: Union[float, datetime.timedelta]) -> None:
        self.timeout = seconds(timeout)
        if self.timeout < 0:
            raise ValueError(f"timeout is {timeout}: expected seconds")

    def keys(self) -> Dict[str, Dict[str, Any]]:
        return {"budget": {"time": self.timeout}}


class TrialPlateauStopper(Stopper):
    """Ends a trial when the standard deviation of its last num_results results is at most std."""

    def __init__(
        self,
        metric: str,
        std: float = 0.01,
        num_results: int = 4,
        grace_period: int = 4,
        metric_threshold: Optional[float] = None,
        mode: Optional[str] = None,
    ) -> None:
        if metric_threshold is not None:
            raise Unsupported(
                "TrialPlateauStopper(metric_threshold=…) is not supported: pass a function stop(trial_id, result)"
            )
        self.plateau = {
            "metric": metric,
            "mode": mode or "min",
            "std": float(std),
            "last": int(num_results),
            "grace": max(0, int(grace_period) - 1),
        }

    def keys(self) -> Dict[str, Dict[str, Any]]:
        return {"stop": {"plateau": self.plateau}}


class ExperimentPlateauStopper(Stopper):
    """Ends the experiment when the best results no longer improve. The top best values are those of trials here."""

    def __init__(self, metric: str, std: float = 0.001, top: int = 10, mode: str = "min", patience: int = 0) -> None:
        if mode not in ("min", "max"):
            raise ValueError(f"mode is {mode!r}: expected min or max")
        self.plateau = {
            "metric": metric,
            "mode": mode,
            "std": float(std),
            "last": int(top),
            "patience": int(patience),
        }

    def keys(self) -> Dict[str, Dict[str, Any]]:
        return {"budget": {"plateau": self.plateau}}


class FunctionStopper(Stopper):
    """Calls a function of (trial_id, result) with each result of a trial, in the trial's process: it does not see
    other trials. The trial ends when it returns True."""

    def __init__(self, function: Function) -> None:
        if not callable(function):
            raise ValueError(f"{function!r:.60} is no function of (trial_id, result)")
        self.function = function

    def keys(self) -> Dict[str, Dict[str, Any]]:
        return {}

    def functions(self) -> List[Function]:
        return [self.function]


class CombinedStopper(Stopper):
    """Stops when any of several stoppers does."""

    def __init__(self, *stoppers: Stopper) -> None:
        self.stoppers = stoppers

    def keys(self) -> Dict[str, Dict[str, Any]]:
        found: Dict[str, Dict[str, Any]] = {}
        for stopper in self.stoppers:
            for key, rules in stopper.keys().items():
                for name, rule in rules.items():
                    _add(found.setdefault(key, {}), key, name, rule)
        return found

    def functions(self) -> List[Function]:
        return [f for stopper in self.stoppers for f in stopper.functions()]


def _add(rules: Dict[str, Any], key: str, name: str, rule: Any) -> None:
    if name in rules and name in ("iteration", "time"):
        rules[name] = min(rules[name], rule)
    elif rules.setdefault(name, rule) != rule:
        raise Unsupported(
            f"a CombinedStopper with two rules {key}.{name} is not supported: combine them in a function"
        )


class _Any:
    """Whether any of several functions stops the trial."""

    def __init__(self, functions: List[Function]) -> None:
        self.functions = functions

    def __call__(self, trial_id: str, result: Dict[str, Any]) -> bool:
        return any([f(trial_id, result) for f in self.functions])


def rules(stop: Any, objectives: Mapping[str, str]) -> Tuple[Dict[str, Dict[str, Any]], Optional[Function]]:
    """What RunConfig.stop means: keys of the experiment file, and a function for the trial's process.
    objectives are modes by metric."""
    if stop is None:
        return {}, None
    if isinstance(stop, Mapping):
        return ({"stop": _criteria(stop, objectives)} if stop else {}), None
    if not isinstance(stop, Stopper):
        if isinstance(stop, (list, tuple)):
            return rules(
                CombinedStopper(*(s if isinstance(s, Stopper) else FunctionStopper(s) for s in stop)), objectives
            )
        stop = FunctionStopper(stop)
    functions = stop.functions()
    return stop.keys(), functions[0] if len(functions) == 1 else _Any(functions) if functions else None


def _criteria(stop: Mapping[str, Any], objectives: Mapping[str, str]) -> Dict[str, Any]:
    """{"accuracy": 0.9}: a trial ends when the metric is at least this, as in Ray, whatever the mode is."""
    found: Dict[str, Any] = {}
    least = []
    for name, value in stop.items():
        if name == "training_iteration":
            found["iteration"] = int(value)
        elif name == "time_total_s":
            found["time"] = float(value)
        elif isinstance(value, bool) or not isinstance(value, (int, float)):
            raise Unsupported(
                f"stop={{{name!r}: {value!r:.40}}} is not supported: expected a number; or pass a function "
                "stop(trial_id, result)"
            )
        elif objectives.get(name) == "min":
            least.append(f"{_expression(name)} >= {float(value)!r}")
        else:
            found[name] = value
    if least:
        found["when"] = " || ".join(least)
    return found


def _expression(metric: str) -> str:
    name = metric.replace("/", ".")
    if not all(part.isidentifier() for part in name.split(".")):
        raise TuneError(f"the metric {metric!r} in stop must consist of letters, digits, _ and /")
    return name
