"""Searchers with Ray Tune's names. Each becomes a searcher of tunehost that uses the same kind of method;
the libraries after which they are named are not needed. docs/RAY.md says which becomes which.

A searcher of tunehost that Ray does not have is Plugin("sobol"), or its name.
"""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Sequence

from .._plugin import Choice, Plugin, chosen, refuse, whole, without_none
from ..error import Unsupported
from ..sample import grid_search

__all__ = [
    "BasicVariantGenerator",
    "ConcurrencyLimiter",
    "Plugin",
    "Repeater",
    "SearchAlgorithm",
    "Searcher",
    "create_searcher",
    "grid_search",
]

Points = Optional[Sequence[Mapping[str, Any]]]


class Searcher(Choice):
    """Ray's base class of searchers. Subclasses of one's own are not supported yet: write a
    tunehost.Searcher instead, and name its file: search_alg="./mine.py"."""

    points: Points = None
    concurrent: int = 0
    repeats: int = 1
    seed: Optional[int] = None

    def __init__(self, metric: Optional[str] = None, mode: Optional[str] = None) -> None:
        self.metric, self.mode = metric, mode

    def keys(self) -> Dict[str, Any]:
        found: Dict[str, Any] = {}
        if self.concurrent:
            found["concurrency"] = self.concurrent
        if self.repeats > 1:
            found["repeat"] = self.repeats
        if self.seed is not None:
            found["seed"] = whole(type(self).__name__, "seed", self.seed, 0)
        return found

    def entry(self) -> Dict[str, Any]:
        raise Unsupported(
            f"{type(self).__name__}: searchers that are subclasses of Searcher are not supported: write a "
            'tunehost.Searcher in a file, and pass search_alg="./mine.py"'
        )


SearchAlgorithm = Searcher


class Method(Searcher):
    """A searcher that becomes one of tunehost's."""

    def __init__(
        self,
        plugin: str,
        options: Mapping[str, Any],
        metric: Any = None,
        mode: Any = None,
        points: Points = None,
        seed: Optional[int] = None,
        space: Any = None,
        concurrent: int = 0,
    ) -> None:
        if space is not None:
            raise Unsupported(
                f"{type(self).__name__}(space=…) is not supported: give the space as param_space, with tune.uniform "
                "and the other functions of tune"
            )
        self.metric, self.mode = metric, mode
        self.points, self.seed, self.concurrent = points, seed, concurrent
        self.options = {"plugin": plugin, **without_none(options)}

    def entry(self) -> Dict[str, Any]:
        return self.options


class BasicVariantGenerator(Method):
    """Random points and grids. random_state is an integer here. Grids are always walked in full, so that
    constant_grid_search, which keeps random values the same over a grid, is not supported."""

    def __init__(
        self,
        points_to_evaluate: Points = None,
        max_concurrent: int = 0,
        constant_grid_search: bool = False,
        random_state: Any = None,
    ) -> None:
        if constant_grid_search:
            raise Unsupported(
                "BasicVariantGenerator(constant_grid_search=True) is not supported: run an experiment for each "
                "random point, or search without a grid"
            )
        if random_state is not None and not isinstance(random_state, int):
            raise Unsupported(
                "BasicVariantGenerator(random_state=…) takes an integer here: the seed of the experiment"
            )
        super().__init__(
            "random", {"repeats": True}, points=points_to_evaluate, seed=random_state, concurrent=max_concurrent
        )


class ConcurrencyLimiter(Searcher):
    """A searcher of which at most max_concurrent trials run at a time."""

    def __init__(self, searcher: Any, max_concurrent: int, batch: bool = False) -> None:
        refuse(
            "ConcurrencyLimiter",
            {"batch": False},
            {"batch": batch},
            {"batch": "trials start as soon as one ends; use a searcher that works in generations, such as cmaes"},
        )
        self.searcher = chosen(searcher, "searcher")
        super().__init__(self.searcher.metric, self.searcher.mode)
        self.concurrent = whole("ConcurrencyLimiter", "max_concurrent", max_concurrent)
        self.points = getattr(self.searcher, "points", None)

    def keys(self) -> Dict[str, Any]:
        return {**self.searcher.keys(), **super().keys()}

    def entry(self) -> Dict[str, Any]:
        return self.searcher.entry()


class Repeater(Searcher):
    """A searcher each of whose points runs several times, with other seeds; it learns the mean. num_samples counts
    points here, not trials. set_index, which adds the index of the run to the config, must be False."""

    def __init__(self, searcher: Any, repeat: int = 1, set_index: bool = True) -> None:
        if set_index:
            raise Unsupported(
                "Repeater(set_index=True) is not supported: write set_index=False; the runs differ in their seeds"
            )
        self.searcher = chosen(searcher, "searcher")
        super().__init__(self.searcher.metric, self.searcher.mode)
        self.repeats = whole("Repeater", "repeat", repeat)
        self.points = getattr(self.searcher, "points", None)

    def keys(self) -> Dict[str, Any]:
        return {**self.searcher.keys(), **super().keys()}

    def entry(self) -> Dict[str, Any]:
        return self.searcher.entry()


def create_searcher(search_alg: str, **kwargs: Any) -> Choice:
    """A searcher by one of Ray's names, such as "hyperopt"; tunehost's own names work, too. Arguments that it does
    not have are a TypeError."""
    from . import _methods

    made = {"variant_generator": BasicVariantGenerator, "random": BasicVariantGenerator, **_methods.NAMES}.get(
        search_alg.lower()
    )
    found: Choice = made(**kwargs) if made else Plugin(search_alg, **kwargs)
    return found
