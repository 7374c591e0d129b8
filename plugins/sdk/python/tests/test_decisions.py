"""Schedulers decide as Ray's do: both are told the same results of a deterministic function."""

import math
from typing import Any, Callable, Dict, List, Optional

import pytest
import ray.tune
from ray.tune.schedulers import resource_changing_scheduler as theirs
from ray.tune.schedulers.trial_scheduler import TrialScheduler as RayScheduler

from tunehost import tune
from tunehost.tune import schedulers
from tunehost.tune.schedulers import resource_changing_scheduler as ours
from tunehost.tune.schedulers.trial_scheduler import TrialScheduler
from tunehost.tune.trial import Trial


class Fake(Trial):
    """A trial that Ray's schedulers can use, too."""

    is_saving = False
    _saved = 1

    def __lt__(self, other: Any) -> bool:
        return bool(self.number < other.number)


class World:
    """Trains the trials in turns, as far as a scheduler lets them: its decisions are what happens."""

    def __init__(self, scheduler: Any, values: List[Callable[[int], float]], steps: int) -> None:
        self.scheduler, self.values, self.steps = scheduler, values, steps
        self.trials = [Fake(n, f"{n:05d}", {"x": n}) for n in range(len(values))]
        self.done = [0] * len(values)
        self.said: List[Any] = []

    get_trials = get_live = lambda self: self.trials

    def get_live_trials(self) -> List[Trial]:
        return [t for t in self.trials if not t.is_finished()]

    def get_trial(self, id: str) -> Optional[Trial]:
        return next((t for t in self.trials if t.trial_id == id), None)

    def _more(self) -> bool:
        return False

    def stop_trial(self, trial: Any) -> None:
        trial.status = Trial.TERMINATED
        self.said.append((trial.number, "removed", self.done[trial.number]))
        self.scheduler.on_trial_remove(self, trial)

    request_stop_trial = stop_trial

    def run(self) -> List[Any]:
        for trial in self.trials:
            self.scheduler.on_trial_add(self, trial)
        for _ in range(len(self.trials) * self.steps * 2):
            for trial in self.trials:
                if trial.status == Trial.PENDING:
                    trial.status = Trial.RUNNING
                if trial.status == Trial.RUNNING:
                    self.step(trial)
                self.resume()
        return self.said

    def resume(self) -> None:
        chosen = self.scheduler.choose_trial_to_run(self)
        if chosen is not None and chosen.status == Trial.PAUSED:
            chosen.status = Trial.RUNNING

    def step(self, trial: Any) -> None:
        n = trial.number
        self.done[n] += 1
        at = self.done[n]
        result = {"training_iteration": at, "loss": self.values[n](at), "half": at / 2, "time_total_s": float(at)}
        decision = self.scheduler.on_trial_result(self, trial, result)
        trial.last_result = result
        if decision != TrialScheduler.CONTINUE:
            self.said.append((n, decision, at))
        if decision == TrialScheduler.STOP or at >= self.steps:
            trial.status = Trial.TERMINATED
            self.scheduler.on_trial_complete(self, trial, result)
        elif decision == TrialScheduler.PAUSE:
            trial.status = Trial.PAUSED


def curves(count: int) -> List[Callable[[int], float]]:
    """Losses that fall, some of which cross."""
    return [lambda i, n=n: (n * 7 % count) / (i + n % 3) + math.sin(n) for n in range(count)]  # type: ignore[misc]


GOAL: Dict[str, Any] = {"metric": "loss", "mode": "min"}
KINDS: List[Any] = [
    ("ASHAScheduler", {"time_attr": "training_iteration", "max_t": 27, "grace_period": 1, "reduction_factor": 3}),
    ("ASHAScheduler", {"time_attr": "half", "max_t": 9, "grace_period": 1, "reduction_factor": 2.5}),
    ("ASHAScheduler", {"max_t": 9, "stop_last_trials": False}),
    ("MedianStoppingRule", {"time_attr": "training_iteration", "grace_period": 3, "min_samples_required": 2}),
    ("MedianStoppingRule", {"time_attr": "half", "grace_period": 1.5, "hard_stop": False}),
    ("HyperBandScheduler", {"time_attr": "training_iteration", "max_t": 9}),
    ("HyperBandScheduler", {"time_attr": "half", "max_t": 9, "reduction_factor": 3}),
    ("HyperBandScheduler", {"max_t": 16, "reduction_factor": 2.5}),
    ("HyperBandScheduler", {"max_t": 9, "stop_last_trials": False}),
]


@pytest.mark.parametrize("kind, given", KINDS)
def test_the_same_decisions(kind: str, given: Dict[str, Any]) -> None:
    said = World(getattr(schedulers, kind)(**given, **GOAL), curves(12), 30).run()
    known = World(getattr(ray.tune.schedulers, kind)(**given, **GOAL), curves(12), 30).run()
    assert sorted(said) == sorted(known) and said


def test_what_is_native() -> None:
    """The same rules in tunehost's own schedulers, where they can say it."""
    assert schedulers.HyperBandScheduler(max_t=9).entry()["plugin"] == "hyperband"
    assert schedulers.HyperBandForBOHB(max_t=9).entry() == {"plugin": "bohb", "max": 9, "reduction_factor": 3}
    assert schedulers.HyperBandForBOHB(max_t=9, stop_last_trials=False).served()
    pbt = schedulers.PopulationBasedTraining("training_iteration", perturbation_interval=2, hyperparam_mutations={"a": [1]})
    assert pbt.native() and not pbt.served()
    pbt.space({"a": tune.choice([2, 3])})
    assert pbt.native() is None and pbt.served()


class Updater:
    def __init__(self, cpus: float, gpus: float) -> None:
        self.get_num_cpus, self.get_num_gpus = lambda: cpus, lambda: gpus


class Holds:
    """What a function that allocates resources looks at."""

    def __init__(self, base: Any, requests: List[Any], cpus: float, gpus: float) -> None:
        self.base_trial_resources = base
        self._resource_updater = Updater(cpus, gpus)
        self.live = [Fake(n, f"{n:05d}", {}) for n in range(len(requests))]
        for trial, request in zip(self.live, requests):
            trial.placement_group_factory = request
            trial.last_result = {"loss": trial.number}

    def get_live_trials(self) -> List[Any]:
        return self.live


STATES = [([1, 1], 4, 0), ([1, 1, 1], 8, 0), ([4, 1], 4, 0), ([2, 2], 9, 0), ([3, 1], 8, 0), ([1], 5, 0), ([4, 4, 1], 8, 0)]
WAYS: List[Dict[str, Any]] = [
    {},
    {"increase_by": {"CPU": 2}},
    {"increase_by": {"CPU": 1}, "increase_by_times": 2},
    {"reserve_resources": {"CPU": 1}},
    {"add_bundles": True},
]


@pytest.mark.parametrize("given", WAYS)
@pytest.mark.parametrize("requests, cpus, gpus", STATES)
@pytest.mark.parametrize("top", [False, True])
def test_the_same_resources(given: Dict[str, Any], requests: List[int], cpus: float, gpus: float, top: bool) -> None:
    def found(module: Any, group: Any) -> List[Any]:
        many = given.get("add_bundles")
        held = Holds(group([{"CPU": 1}]), [group([{"CPU": 1}] * r if many else [{"CPU": r}]) for r in requests], cpus, gpus)
        share = module.DistributeResourcesToTopJob(**given, **GOAL) if top else module.DistributeResources(**given)
        return [share(held, t, {"training_iteration": 2, "loss": 1}, held).required_resources["CPU"] for t in held.live]

    assert found(ours, tune.PlacementGroupFactory) == found(theirs, ray.tune.PlacementGroupFactory)


def test_the_names_of_decisions() -> None:
    for name in ("CONTINUE", "PAUSE", "STOP", "NOOP"):
        assert getattr(TrialScheduler, name) == getattr(RayScheduler, name)
