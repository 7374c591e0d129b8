"""Schedulers with Ray Tune's names: each becomes a scheduler of tunehost with the same options.

A scheduler of tunehost that Ray does not have is Plugin("pasha", max=81), or its name.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional

from .._plugin import Choice, Plugin, known, whole
from ._adaptive import AsynchronousHalving, MedianRule, check_numbers
from ._hyperband import Hyperband
from ._pbt import PB2, PopulationBasedTraining, PopulationBasedTrainingReplay
from .resource_changing_scheduler import ResourceChangingScheduler
from .trial_scheduler import FIFOScheduler, TrialScheduler

__all__ = [
    "ASHAScheduler",
    "AsyncHyperBandScheduler",
    "FIFOScheduler",
    "HyperBandForBOHB",
    "HyperBandScheduler",
    "MedianStoppingRule",
    "PB2",
    "Plugin",
    "PopulationBasedTraining",
    "PopulationBasedTrainingReplay",
    "ResourceChangingScheduler",
    "TrialScheduler",
    "create_scheduler",
]

class AsyncHyperBandScheduler(AsynchronousHalving):
    """Asynchronous successive halving: only the best fraction trains on at each milestone, which are
    grace_period × reduction_factor^k up to max_t. With time_attr="training_iteration" and integers it is tunehost's
    `asha`; otherwise it follows Ray's rules in a process of its own. ValueError: a number is out of its range."""

    def __init__(
        self,
        time_attr: str = "training_iteration",
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        max_t: int = 100,
        grace_period: int = 1,
        reduction_factor: float = 4,
        brackets: int = 1,
        stop_last_trials: bool = True,
    ) -> None:
        super().__init__(time_attr, metric, mode)
        check_numbers(max_t=max_t, grace_period=grace_period, reduction_factor=reduction_factor, brackets=brackets)
        if not (0 < grace_period <= max_t and reduction_factor > 1 and brackets > 0):
            raise ValueError(
                f"max_t is {max_t}, grace_period {grace_period}, reduction_factor {reduction_factor}, brackets "
                f"{brackets}: expected 0 < grace_period <= max_t, reduction_factor > 1, and a bracket"
            )
        self.max_t: float
        self.grace_period: float
        self.reduction_factor: float
        self.max_t, self.grace_period, self.reduction_factor = max_t, grace_period, reduction_factor
        self.brackets: int
        self.stop_last_trials: bool
        self.brackets, self.stop_last_trials = brackets, stop_last_trials

    def native(self) -> Optional[Dict[str, Any]]:
        numbers = (self.max_t, self.grace_period, self.reduction_factor)
        if self.time_attr != "training_iteration" or not self.stop_last_trials or any(n != int(n) for n in numbers):
            return None
        return {
            "plugin": "asha",
            "max": int(self.max_t),
            "grace": int(self.grace_period),
            "reduction_factor": int(self.reduction_factor),
            "brackets": int(self.brackets),
        }


ASHAScheduler = AsyncHyperBandScheduler


class HyperBandScheduler(Hyperband):
    """Synchronous Hyperband: brackets of trials that halve together. It pauses trials, so they need checkpoints. With
    time_attr="training_iteration" and integers it is tunehost's `hyperband`; otherwise, and with
    stop_last_trials=False, it follows Ray's rules in a process of its own. ValueError: a number is out of its
    range."""

    plugin = "hyperband"

    def __init__(
        self,
        time_attr: str = "training_iteration",
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        max_t: int = 81,
        reduction_factor: float = 3,
        stop_last_trials: bool = True,
    ) -> None:
        super().__init__(time_attr, metric, mode)
        check_numbers(max_t=max_t, reduction_factor=reduction_factor)
        if not (max_t > 0 and reduction_factor > 1):
            raise ValueError(
                f"max_t is {max_t}, reduction_factor {reduction_factor}: expected max_t > 0, reduction_factor > 1"
            )
        self.max_t: float
        self.reduction_factor: float
        self.stop_last_trials: bool
        self.max_t, self.reduction_factor, self.stop_last_trials = max_t, reduction_factor, stop_last_trials

    def native(self) -> Optional[Dict[str, Any]]:
        numbers = (self.max_t, self.reduction_factor)
        if self.time_attr != "training_iteration" or not self.stop_last_trials or any(n != int(n) for n in numbers):
            return None
        return {"plugin": self.plugin, "max": int(self.max_t), "reduction_factor": int(self.reduction_factor)}


class HyperBandForBOHB(HyperBandScheduler):
    """Hyperband for the searcher TuneBOHB: starts with many trials at small budgets."""

    plugin = "bohb"
    fewest_first = True


class MedianStoppingRule(MedianRule):
    """Stops trials whose best result is worse than the median of the others' means. With
    time_attr="training_iteration" it is tunehost's `median`; otherwise it follows Ray's rules in a process of its
    own. hard_stop=False pauses trials instead, and min_time_slice makes room for others: they need checkpoints."""

    def __init__(
        self,
        time_attr: str = "time_total_s",
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        grace_period: float = 60.0,
        min_samples_required: int = 3,
        min_time_slice: int = 0,
        hard_stop: bool = True,
    ) -> None:
        super().__init__(time_attr, metric, mode)
        self.grace_period: float
        self.min_samples_required: int
        self.grace_period, self.min_samples_required = grace_period, whole(
            type(self).__name__, "min_samples_required", min_samples_required
        )
        self.min_time_slice: float
        self.hard_stop: bool
        self.min_time_slice, self.hard_stop = min_time_slice, hard_stop

    def native(self) -> Optional[Dict[str, Any]]:
        if self.time_attr != "training_iteration" or self.min_time_slice or not self.hard_stop:
            return None
        grace = whole(type(self).__name__, "grace_period", self.grace_period)
        return {"plugin": "median", "grace": grace, "min_trials": self.min_samples_required}


_NAMES: Mapping[str, Any] = {
    "fifo": FIFOScheduler,
    "async_hyperband": AsyncHyperBandScheduler,
    "asynchyperband": AsyncHyperBandScheduler,
    "median_stopping_rule": MedianStoppingRule,
    "medianstopping": MedianStoppingRule,
    "hyperband": HyperBandScheduler,
    "hb_bohb": HyperBandForBOHB,
    "pbt": PopulationBasedTraining,
    "pbt_replay": PopulationBasedTrainingReplay,
    "pb2": PB2,
    "resource_changing": ResourceChangingScheduler,
}


def create_scheduler(scheduler: str, **kwargs: Any) -> Choice:
    """A scheduler by one of Ray's names, such as "pbt"; tunehost's own names work, too. Arguments that one of Ray's
    does not have are left out, as in Ray, with a warning."""
    made = _NAMES.get(scheduler.lower())
    found: Choice = made(**known(made, scheduler, kwargs)) if made else Plugin(scheduler, **kwargs)
    return found


def names() -> List[str]:
    """The names that create_scheduler knows."""
    return list(_NAMES)
