"""minimize and maximize: a function, its space, and the best point."""

from __future__ import annotations

import math
import os
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Sequence, Union

from . import _grids, _metrics, _places, _returned
from ._reading import Experiment

__all__ = ["Best", "maximize", "minimize"]

Objective = Callable[[Dict[str, Any]], Union[float, Mapping[str, Any]]]


class Best(NamedTuple):
    """What minimize and maximize return."""

    params: Dict[str, Any]  #: the best parameters
    value: float  #: the function's value there
    experiment: Experiment  #: everything that was tried

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C has ended the experiment: it has no more than the trials until then."""
        return bool(self.experiment.status()["state"] == "interrupted")


def minimize(
    f: Objective,
    space: Mapping[str, Any],
    trials: Optional[int] = None,
    *,
    searcher: Any = "auto",
    scheduler: Any = None,
    points: Sequence[Mapping[str, Any]] = (),
    constraints: Sequence[str] = (),
    concurrency: int = 0,
    seed: Optional[int] = None,
    name: Optional[str] = None,
    storage: Optional[str] = None,
    resume: bool = False,
    verbose: int = 1,
    executor: Any = None,
) -> Best:
    """The parameters with the smallest value of f, of so many trials in all, by default 100 or, if the space has only grids,
    each of their combinations once:

    >>> from tunehost import tune
    >>> best = minimize(lambda p: (p["x"] - 3) ** 2, {"x": tune.uniform(0, 10)}, trials=30, seed=1, verbose=0)
    >>> 2 < best.params["x"] < 4, best.value < 1
    (True, True)

    f takes the parameters as a dict and returns a number, or a dict with it as "value" and with whatever else
    tune.report takes. With grids each combination is tried as often as trials allows, and at least once. Each call is a
    trial in a process of its own, as many at a time as there are CPUs, or concurrency; executor, such as "slurm" or
    {"plugin": "slurm", "partition": "gpu"}, says where they run. points are tried first, and all points satisfy the
    constraints, such as ["x + y < 0.7"]. For a scheduler f reports values on its way: tune.report({"value": 0.5}). A
    trial that it stops counts with its last value, and may be the best. The experiment is recorded in storage
    (./results) under name. resume=True continues the one of this name, or begins it if there is none; trials that have
    ended are not run again.

    After Ctrl-C this is the best point so far, and interrupted of it is True. KeyboardInterrupt: there was none yet.
    RuntimeError: every trial failed; the message has the first failure."""
    wanted = _Wanted(trials, searcher, scheduler, points, constraints, concurrency, seed, name, storage, resume, verbose,
                     executor)
    return _search(f, space, "min", wanted)


def maximize(
    f: Objective,
    space: Mapping[str, Any],
    trials: Optional[int] = None,
    *,
    searcher: Any = "auto",
    scheduler: Any = None,
    points: Sequence[Mapping[str, Any]] = (),
    constraints: Sequence[str] = (),
    concurrency: int = 0,
    seed: Optional[int] = None,
    name: Optional[str] = None,
    storage: Optional[str] = None,
    resume: bool = False,
    verbose: int = 1,
    executor: Any = None,
) -> Best:
    """The parameters with the largest value of f; see minimize."""
    wanted = _Wanted(trials, searcher, scheduler, points, constraints, concurrency, seed, name, storage, resume, verbose,
                     executor)
    return _search(f, space, "max", wanted)


@dataclass
class _Wanted:
    """The arguments of minimize beside the function and its space."""

    trials: Optional[int]
    searcher: Any
    scheduler: Any
    points: Sequence[Mapping[str, Any]]
    constraints: Sequence[str]
    concurrency: int
    seed: Optional[int]
    name: Optional[str]
    storage: Optional[str]
    resume: bool
    verbose: int
    executor: Any


#: What sets the keys of the experiment file that have other names here than those of Tuner.
_ARGUMENTS = {
    name: name for name in ("trials", "concurrency", "space", "searcher", "scheduler", "storage", "seed", "constraints")
}


def _search(f: Objective, space: Mapping[str, Any], mode: str, wanted: _Wanted) -> Best:
    _check(f, space, wanted)
    dir = os.path.join(_places.absolute(wanted.storage or "results"), wanted.name) if wanted.resume and wanted.name else ""
    rounds = _grids.rounds(wanted.trials, space, 100, dir, bool(wanted.constraints), level=4)
    tuner = _called_here(lambda: _tuner(f, space, mode, wanted, rounds))
    tuner._called("minimize" if mode == "min" else "maximize", _ARGUMENTS)
    if wanted.resume:
        tuner._take_up(space)
    results = tuner.fit()
    best = _best(results, tuner._interrupted)
    if best is None:
        raise KeyboardInterrupt(f"interrupted before any trial had a value: {tuner._continues()}")
    return Best(best.config, best.metrics["value"], Experiment(results.experiment_path))


def _called_here(make: Callable[[], Any]) -> Any:
    """What make returns; its errors speak of the argument that minimize has."""
    from .tune.error import TuneError

    try:
        return make()
    except TuneError as e:
        if "points_to_evaluate" not in str(e):
            raise
        raise type(e)(str(e).replace("points_to_evaluate", "points")) from None


def _check(f: Any, space: Any, wanted: _Wanted) -> None:
    """Refuses what no trial could work with; warns of trials that are all alike."""
    from .tune._encode import varies
    from .tune.config import whole
    from .tune.error import TuneError

    if not callable(f) or isinstance(f, type):
        raise TuneError(f"f is {f!r:.60}: expected a function that takes the parameters as a dict and returns a number")
    if wanted.trials is not None:
        expected = "expected a whole number from 1 on, or -1 for no limit"
        wanted.trials = whole("trials", wanted.trials, expected, -1, zero=False)
    if wanted.resume and wanted.name is None:
        raise TuneError("resume continues the experiment of a name: give it as name")
    if wanted.trials != 1 and isinstance(space, Mapping) and not any(varies(value) for value in space.values()):
        warnings.warn(
            f"all trials are alike: nothing varies in the space {space!r:.60}; a range is tune.uniform(0, 10)", stacklevel=4
        )


def _tuner(f: Objective, space: Mapping[str, Any], mode: str, wanted: _Wanted, rounds: int) -> Any:
    from . import tune
    from .tune._plugin import Seeded

    return tune.Tuner(
        Returning(f),
        param_space=space,
        tune_config=tune.TuneConfig(
            metric="value",
            mode=mode,
            num_samples=rounds,
            search_alg=Seeded(wanted.searcher, wanted.seed, wanted.points),
            scheduler=wanted.scheduler,
            constraints=wanted.constraints,
            max_concurrent_trials=wanted.concurrency or None,
        ),
        run_config=tune.RunConfig(
            name=wanted.name, storage_path=wanted.storage, verbose=wanted.verbose, executor=wanted.executor
        ),
    )


def _best(results: Any, interrupted: bool) -> Any:
    """The best result; None if there is none because of an interrupt."""
    if results.num_errors == len(results) and not interrupted:
        raise RuntimeError(
            f"all {len(results)} trials failed, the first with: {results.errors[0]}"
            if len(results)
            else "no trial ran"
        )
    if interrupted and not any(math.isfinite(r.metrics.get("value", math.nan)) for r in results):
        return None
    return results.get_best_result()


class Returning:
    """The function as a trainable."""

    def __init__(self, f: Objective) -> None:
        self.f = f
        self.__name__ = getattr(f, "__name__", "f").strip("<>")

    def __call__(self, config: Dict[str, Any]) -> Dict[str, Any]:
        found = self.f(config)
        if not isinstance(found, Mapping):
            return {"value": self._number(found)}
        if "value" not in found:
            raise self._refused(found, 'a number, or a dict with a number as "value"')
        return {**found, "value": self._number(found["value"])}

    def _number(self, value: Any) -> float:
        number = float(value) if isinstance(value, bool) else _metrics.number(value)
        if number is None:
            raise self._refused(value, "a number")
        return number

    def _refused(self, value: Any, expected: str) -> BaseException:
        return _returned.refusal(self.f, "returned", value, expected)
