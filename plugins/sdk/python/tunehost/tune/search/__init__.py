"""Searchers with Ray Tune's names. Each becomes a searcher of tunehost that uses the same kind of method;
the libraries after which they are named are not needed. docs/RAY.md says which becomes which.

A searcher of tunehost that Ray does not have is Plugin("sobol"), or its name.
"""

from __future__ import annotations

from typing import Any

from .._plugin import Choice, Plugin, known
from ..sample import grid_search
from ._algorithm import SearchAlgorithm, SearchGenerator
from .basic_variant import BasicVariantGenerator
from .concurrency_limiter import ConcurrencyLimiter
from .repeater import Repeater
from .searcher import Searcher

__all__ = [
    "BasicVariantGenerator",
    "ConcurrencyLimiter",
    "Plugin",
    "Repeater",
    "SearchAlgorithm",
    "SearchGenerator",
    "Searcher",
    "UNDEFINED_METRIC_MODE",
    "UNDEFINED_SEARCH_SPACE",
    "UNRESOLVED_SEARCH_SPACE",
    "create_searcher",
    "grid_search",
]

UNRESOLVED_SEARCH_SPACE = (
    "You passed a `{par}` parameter to {cls} that contained unresolved search space definitions. {cls} should however "
    "be instantiated with fully configured search spaces only. To use Ray Tune's automatic search space conversion, "
    "pass the space definition as part of the `param_space` argument to `tune.Tuner()` instead."
)
UNDEFINED_SEARCH_SPACE = (
    "Trying to sample a configuration from {cls}, but no search space has been defined. Either pass the `{space}` "
    "argument when instantiating the search algorithm, or pass a `param_space` to `tune.Tuner()`."
)
UNDEFINED_METRIC_MODE = (
    "Trying to sample a configuration from {cls}, but the `metric` ({metric}) or `mode` ({mode}) parameters have not "
    "been set. Either pass these arguments when instantiating the search algorithm, or pass them to "
    "`tune.TuneConfig()`."
)


def create_searcher(search_alg: str, **kwargs: Any) -> Choice:
    """A searcher by one of Ray's names, such as "hyperopt"; tunehost's own names work, too. Arguments that one of
    Ray's does not have are left out, as in Ray, with a warning."""
    from . import _methods

    made = {"variant_generator": BasicVariantGenerator, "random": BasicVariantGenerator, **_methods.NAMES}.get(
        search_alg.lower()
    )
    found: Choice = made(**known(made, search_alg, kwargs)) if made else Plugin(search_alg, **kwargs)
    return found
