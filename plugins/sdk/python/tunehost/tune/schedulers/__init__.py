"""Schedulers with Ray Tune's names: each becomes a scheduler of tunehost with the same options.

A scheduler of tunehost that Ray does not have is Plugin("pasha", max=81), or its name.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional

from .._plugin import Choice, Plugin, by_iteration, refuse, whole
from ..error import Unsupported
from ._pbt import PB2, PopulationBasedTraining, PopulationBasedTrainingReplay
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

_LAST = {"stop_last_trials": "a trial is finished when it reaches max_t; give a larger max_t"}


class _Halving(Choice):
    """What the schedulers that halve have in common."""

    def __init__(self, time_attr: str, metric: Optional[str], mode: Optional[str], stop_last_trials: bool) -> None:
        by_iteration(type(self).__name__, time_attr)
        refuse(type(self).__name__, {"stop_last_trials": True}, {"stop_last_trials": stop_last_trials}, _LAST)
        self.metric, self.mode = metric, mode
        self.options: Dict[str, Any] = {}

    def entry(self) -> Dict[str, Any]:
        return self.options


class AsyncHyperBandScheduler(_Halving):
    """Asynchronous successive halving: only the best fraction trains on at each milestone, the iterations
    grace_period × reduction_factor^k up to max_t. reduction_factor must be an integer here."""

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
        super().__init__(time_attr, metric, mode, stop_last_trials)
        me = type(self).__name__
        self.options = {
            "plugin": "asha",
            "max": whole(me, "max_t", max_t),
            "grace": whole(me, "grace_period", grace_period),
            "reduction_factor": whole(me, "reduction_factor", reduction_factor, 2),
            "brackets": whole(me, "brackets", brackets),
        }


ASHAScheduler = AsyncHyperBandScheduler


class HyperBandScheduler(_Halving):
    """Synchronous Hyperband: brackets of trials that halve together. It pauses trials, so they need checkpoints."""

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
        super().__init__(time_attr, metric, mode, stop_last_trials)
        me = type(self).__name__
        self.options = {
            "plugin": self.plugin,
            "max": whole(me, "max_t", max_t),
            "reduction_factor": whole(me, "reduction_factor", reduction_factor, 2),
        }


class HyperBandForBOHB(HyperBandScheduler):
    """Hyperband for the searcher TuneBOHB: starts with many trials at small budgets."""

    plugin = "bohb"


class MedianStoppingRule(Choice):
    """Stops trials whose best result is worse than the median of the others' means. time_attr must be
    "training_iteration" here, and grace_period counts iterations."""

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
        me = type(self).__name__
        by_iteration(me, time_attr)
        refuse(
            me,
            {"min_time_slice": 0, "hard_stop": True},
            {"min_time_slice": min_time_slice, "hard_stop": hard_stop},
            {
                "min_time_slice": "use grace_period",
                "hard_stop": "trials are stopped, not paused; use HyperBandScheduler",
            },
        )
        self.metric, self.mode = metric, mode
        self.options = {
            "plugin": "median",
            "grace": whole(me, "grace_period", grace_period),
            "min_trials": whole(me, "min_samples_required", min_samples_required),
        }

    def entry(self) -> Dict[str, Any]:
        return self.options


class ResourceChangingScheduler(Choice):
    """Gives the resources of ended trials to the running ones, evenly, beside another scheduler. Functions that
    allocate resources are not supported: see the options of the scheduler `resources`."""

    def __init__(self, base_scheduler: Any = None, resources_allocation_function: Any = None) -> None:
        if resources_allocation_function is not None:
            raise Unsupported(
                "ResourceChangingScheduler(resources_allocation_function=…) is not supported: leave it out, or "
                'use Plugin("resources", give="best", …)'
            )
        self.base: Optional[Choice] = None
        if base_scheduler is not None:
            from .._plugin import chosen

            self.base = chosen(base_scheduler, "scheduler")
            self.metric, self.mode = self.base.metric, self.base.mode

    def keys(self) -> Dict[str, Any]:
        return self.base.keys() if self.base else {}

    def entry(self) -> Dict[str, Any]:
        found: Dict[str, Any] = {"plugin": "resources"}
        return {**found, "base": self.base.entry()} if self.base else found


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
    """A scheduler by one of Ray's names, such as "pbt"; tunehost's own names work, too. Arguments that it does
    not have are a TypeError."""
    made = _NAMES.get(scheduler.lower())
    found: Choice = made(**kwargs) if made else Plugin(scheduler, **kwargs)
    return found


def names() -> List[str]:
    """The names that create_scheduler knows."""
    return list(_NAMES)
