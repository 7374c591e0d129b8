"""Resources of trials that change while they train."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Mapping, Optional

from .._plugin import Choice, chosen
from ..error import TuneError
from ..resources import PlacementGroupFactory
from ..trial import Trial
from .trial_scheduler import FIFOScheduler, TrialScheduler

__all__ = ["DistributeResources", "DistributeResourcesToTopJob", "ResourceChangingScheduler"]

_KINDS = ("CPU", "GPU")


class DistributeResources:
    """Shares the CPUs and GPUs evenly among the trials: each gets increase_by several times beside what it requests, at
    most increase_by_times; add_bundles: as further bundles. reserve_resources stay free. ValueError: increase_by adds
    nothing."""

    def __init__(
        self,
        add_bundles: bool = False,
        increase_by: Optional[Mapping[str, float]] = None,
        increase_by_times: int = -1,
        reserve_resources: Optional[Mapping[str, float]] = None,
    ) -> None:
        if increase_by is not None and not any(increase_by.values()):
            raise ValueError("increase_by has nothing to add")
        self.add_bundles: bool
        self.increase_by: Dict[str, float]
        self.add_bundles, self.increase_by = add_bundles, dict(increase_by or {})
        self.increase_by_times: int
        self.reserve_resources: Dict[str, float]
        self.increase_by_times, self.reserve_resources = increase_by_times, dict(reserve_resources or {})

    def __call__(
        self, tune_controller: Any, trial: Trial, result: Mapping[str, Any], scheduler: Any
    ) -> Optional[PlacementGroupFactory]:
        """The new request of a trial; None: it stays as it is."""
        base: PlacementGroupFactory = scheduler.base_trial_resources
        if not self.add_bundles and len(base.bundles) > 1:
            raise ValueError(f"add_bundles=False is for one bundle, and a trial requests {len(base.bundles)}")
        if result["training_iteration"] < 1:
            return None
        step = self._step(base)
        updater = tune_controller._resource_updater
        total = {"CPU": updater.get_num_cpus(), "GPU": updater.get_num_gpus()}
        total = {kind: total[kind] - self.reserve_resources.get(kind, 0) for kind in _KINDS}
        live: List[Trial] = tune_controller.get_live_trials()
        used = {k: sum(_amount(t.placement_group_factory, k) for t in live) for k in _KINDS}
        free = _times({k: total[k] - used[k] for k in _KINDS}, step)
        share = _times({k: total[k] - len(live) * _amount(base, k) for k in _KINDS}, step)
        times = self._wanted(trial, live, base, step, free, math.ceil(share / len(live)) if share > 0 else 0)
        return self._with(base, step, times)

    def _step(self, base: PlacementGroupFactory) -> Dict[str, float]:
        """What is added once."""
        if self.increase_by:
            return {k: v for k, v in self.increase_by.items() if v}
        if self.add_bundles:
            return base.bundles[-1]
        return {"GPU": 1} if base.bundles[0].get("GPU") else {"CPU": 1}

    def _wanted(
        self, trial: Trial, live: List[Trial], base: PlacementGroupFactory, step: Mapping[str, float], free: int, share: int
    ) -> float:
        """How often it is added to a trial, if it fits so often into what is free, and into an even share."""
        return self._limited(self._added(trial, base, step), free, share)

    def _added(self, trial: Trial, base: PlacementGroupFactory, step: Mapping[str, float]) -> float:
        """How often it was added."""
        now = trial.placement_group_factory
        if self.add_bundles:
            return len(now.bundles) - len(base.bundles)
        kind = next(iter(step))
        return (_amount(now, kind) - _amount(base, kind)) / step[kind]

    def _limited(self, added: float, free: int, share: int) -> float:
        if free <= 0:
            return max(0, added + free)
        limits = [n for n in (share, self.increase_by_times) if n > 0]
        return min([added + free, *limits])

    def _with(self, base: PlacementGroupFactory, step: Mapping[str, float], times: float) -> PlacementGroupFactory:
        bundles = base.bundles
        if self.add_bundles:
            bundles += [dict(step)] * int(times)
        else:
            for kind, amount in step.items():
                bundles[0][kind] = bundles[0].get(kind, 0) + amount * times
        return PlacementGroupFactory(bundles, base.strategy)


def _amount(request: PlacementGroupFactory, kind: str) -> float:
    return request.required_resources.get(kind, 0)


def _times(amounts: Mapping[str, float], step: Mapping[str, float]) -> int:
    """How often a step fits; less than 0 if there is too little."""
    return int(min(amounts.get(kind, 0) // amount for kind, amount in step.items()))


class DistributeResourcesToTopJob(DistributeResources):
    """Gives everything that is free to the best trial that has not reached its limit."""

    def __init__(
        self,
        add_bundles: bool = False,
        increase_by: Optional[Mapping[str, float]] = None,
        increase_by_times: int = -1,
        reserve_resources: Optional[Mapping[str, float]] = None,
        metric: Optional[str] = None,
        mode: Optional[str] = None,
    ) -> None:
        super().__init__(add_bundles, increase_by, increase_by_times, reserve_resources)
        self.metric: Optional[str]
        self.mode: Optional[str]
        self.metric, self.mode = metric, mode

    def _wanted(
        self, trial: Trial, live: List[Trial], base: PlacementGroupFactory, step: Mapping[str, float], free: int, share: int
    ) -> float:
        if not self.metric or self.mode not in ("min", "max"):
            raise ValueError("DistributeResourcesToTopJob needs a metric and a mode, here or in TuneConfig")
        worst = math.inf if self.mode == "min" else -math.inf
        metric = self.metric
        ranked = sorted(live, key=lambda t: t.last_result.get(metric, worst), reverse=self.mode == "max")
        most = self.increase_by_times if self.increase_by_times > 0 else math.inf
        top = next((t for t in ranked if self._added(t, base, step) < most), ranked[0])
        added = self._added(trial, base, step)
        return added if trial != top and free >= 0 else self._limited(added, free, 0)


Allocation = Callable[..., Any]


class ResourceChangingScheduler(TrialScheduler):
    """Changes the resources of running trials, beside another scheduler. By default it gives those of ended trials to the
    running ones, evenly, as tunehost's `resources`. resources_allocation_function, a function of (tune_controller,
    trial, result, scheduler) that returns a PlacementGroupFactory or None, runs in a process of its own. A trial whose
    resources change saves a checkpoint, and goes on from it. TuneError: the base_scheduler is one of tunehost;
    TypeError: the function returns no PlacementGroupFactory."""

    def __init__(self, base_scheduler: Any = None, resources_allocation_function: Optional[Allocation] = None) -> None:
        super().__init__()
        self.base: Optional[Choice] = None if base_scheduler is None else chosen(base_scheduler, "scheduler")
        if self.base is not None:
            self.needs_metric: bool = self.base.needs_metric
            self.metric: Any
            self.mode: Any
            self.metric, self.mode = self.base.metric, self.base.mode
        self.allocate = resources_allocation_function
        if self.allocate is not None and not isinstance(self.base or FIFOScheduler(), TrialScheduler):
            raise TuneError(
                "a function that allocates resources needs a base_scheduler of tune.schedulers: one of tunehost runs in "
                "another process"
            )
        self._base_trial_resources: Optional[PlacementGroupFactory] = None
        self._reason = ""

    @property
    def base_trial_resources(self) -> PlacementGroupFactory:
        """What a trial requests at first."""
        return self._base_trial_resources or PlacementGroupFactory([{"CPU": 1}])

    @property
    def inner(self) -> TrialScheduler:
        """The scheduler that decides about trials."""
        if self.base is None:
            self.base = FIFOScheduler()
        assert isinstance(self.base, TrialScheduler)
        return self.base

    def set_search_properties(self, metric: Optional[str], mode: Optional[str], **spec: Any) -> bool:
        if isinstance(self.allocate, DistributeResourcesToTopJob):
            self.allocate.metric = self.allocate.metric or metric or self.metric
            self.allocate.mode = self.allocate.mode or mode or self.mode
        return self.inner.set_search_properties(metric, mode, **spec)

    def keys(self) -> Dict[str, Any]:
        return self.base.keys() if self.base else {}

    def served(self) -> Dict[str, Any]:
        if self.allocate is not None:
            return super().served()
        return self.base.served() if self.base else {}

    def entry(self) -> Dict[str, Any]:
        if self.allocate is not None:
            return super().entry()
        return {"plugin": "resources", **({"base": self.base.entry()} if self.base else {})}

    def on_trial_add(self, tune_controller: Any, trial: Trial) -> None:
        self._base_trial_resources = self._base_trial_resources or trial.placement_group_factory
        self.inner.on_trial_add(tune_controller, trial)

    def on_trial_error(self, tune_controller: Any, trial: Trial) -> None:
        self.inner.on_trial_error(tune_controller, trial)

    def on_trial_result(self, tune_controller: Any, trial: Trial, result: Dict[str, Any]) -> str:
        decision = self.inner.on_trial_result(tune_controller, trial, result)
        self._reason = getattr(self.inner, "_reason", "")
        if decision != self.CONTINUE or self.allocate is None:
            return decision
        wanted = self.allocate(tune_controller, trial, result, self)
        if wanted is None or wanted == trial.placement_group_factory:
            return decision
        if not isinstance(wanted, PlacementGroupFactory):
            raise TypeError(f"resources_allocation_function returned {wanted!r:.60}: expected a PlacementGroupFactory")
        self._reason = f"its resources become {wanted.required_resources}"
        trial._resize = wanted  # type: ignore[attr-defined]
        trial.placement_group_factory = wanted
        return self.PAUSE

    def on_trial_complete(self, tune_controller: Any, trial: Trial, result: Dict[str, Any]) -> None:
        self.inner.on_trial_complete(tune_controller, trial, result)

    def on_trial_remove(self, tune_controller: Any, trial: Trial) -> None:
        self.inner.on_trial_remove(tune_controller, trial)

    def choose_trial_to_run(self, tune_controller: Any) -> Optional[Trial]:
        for trial in tune_controller.get_trials():
            if trial.status == Trial.PAUSED and hasattr(trial, "_resize"):
                found: Trial = trial
                return found
        return self.inner.choose_trial_to_run(tune_controller)
