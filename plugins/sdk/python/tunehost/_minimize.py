"""minimize and maximize: a function, its space, and the best point."""

from __future__ import annotations

import warnings
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional

from ._reading import Experiment

__all__ = ["Best", "maximize", "minimize"]

Objective = Callable[[Dict[str, Any]], float]


class Best(NamedTuple):
    """What minimize and maximize return."""

    params: Dict[str, Any]  #: the best parameters
    value: float  #: the function's value there
    experiment: Experiment  #: everything that was tried


def minimize(
    f: Objective,
    space: Mapping[str, Any],
    trials: int = 100,
    *,
    searcher: Any = "auto",
    concurrency: int = 0,
    seed: Optional[int] = None,
    name: Optional[str] = None,
    storage: Optional[str] = None,
    verbose: int = 1,
) -> Best:
    """The parameters with the smallest value of f, of so many trials:

    >>> from tunehost import tune
    >>> best = minimize(lambda p: (p["x"] - 3) ** 2, {"x": tune.uniform(0, 10)}, trials=30, seed=1, verbose=0)
    >>> 2 < best.params["x"] < 4, best.value < 1
    (True, True)

    f takes the parameters as a dict and returns a number. Each call is a trial in a process of its own, as many at a
    time as there are CPUs, or concurrency. The experiment is recorded in storage (./results) under name. RuntimeError
    if every trial failed; the message has the first failure."""
    return _search(f, space, "min", trials, searcher, concurrency, seed, name, storage, verbose)


def maximize(
    f: Objective,
    space: Mapping[str, Any],
    trials: int = 100,
    *,
    searcher: Any = "auto",
    concurrency: int = 0,
    seed: Optional[int] = None,
    name: Optional[str] = None,
    storage: Optional[str] = None,
    verbose: int = 1,
) -> Best:
    """The parameters with the largest value of f; see minimize."""
    return _search(f, space, "max", trials, searcher, concurrency, seed, name, storage, verbose)


def _search(
    f: Objective,
    space: Mapping[str, Any],
    mode: str,
    trials: int,
    searcher: Any,
    concurrency: int,
    seed: Optional[int],
    name: Optional[str],
    storage: Optional[str],
    verbose: int,
) -> Best:
    from . import tune
    from .tune._encode import varies
    from .tune._plugin import Seeded

    if trials != 1 and isinstance(space, Mapping) and not any(varies(value) for value in space.values()):
        warnings.warn(f"all trials are alike: nothing varies in the space {space!r:.60}; a range is tune.uniform(0, 10)", stacklevel=3)
    results = tune.Tuner(
        Returning(f),
        param_space=space,
        tune_config=tune.TuneConfig(
            metric="value",
            mode=mode,
            num_samples=trials,
            search_alg=Seeded(searcher, seed),
            max_concurrent_trials=concurrency or None,
        ),
        run_config=tune.RunConfig(name=name, storage_path=storage, verbose=verbose),
    ).fit()
    if results.num_errors == len(results):
        raise RuntimeError(
            f"all {len(results)} trials failed, the first with: {results.errors[0]}"
            if len(results)
            else "no trial ran"
        )
    best = results.get_best_result()
    return Best(best.config, best.metrics["value"], Experiment(results.experiment_path))


class Returning:
    """The function as a trainable."""

    def __init__(self, f: Objective) -> None:
        self.f = f
        self.__name__ = getattr(f, "__name__", "f").strip("<>")

    def __call__(self, config: Dict[str, Any]) -> Dict[str, Any]:
        value = self.f(config)
        try:
            return {"value": float(value)}
        except (TypeError, ValueError):
            raise TypeError(f"{_place(self.f)} returned {value!r:.60}: expected a number") from None


def _place(f: Objective) -> str:
    """The function, and where it is defined."""
    code = getattr(f, "__code__", None)
    where = f" ({code.co_filename}, line {code.co_firstlineno})" if code else ""
    return f"the function {getattr(f, '__name__', type(f).__name__)}{where}"
