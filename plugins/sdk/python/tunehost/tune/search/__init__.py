"""Searchers with Ray Tune's names. Each becomes a searcher of tunehost that uses the same kind of method;
the libraries after which they are named are not needed. docs/RAY.md says which becomes which.

A searcher of tunehost that Ray does not have is Plugin("sobol"), or its name.
"""

from __future__ import annotations

import copy
import glob
import os
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Set, Tuple

from .._plugin import SERVED, Choice, Plugin, chosen, known, whole, without_none
from ..error import TuneError, Unsupported
from ..sample import grid_search

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

Points = Optional[Sequence[Mapping[str, Any]]]


class Searcher(Choice):
    """The base class of searchers of one's own: implement suggest and on_trial_complete. A subclass is pickled, and
    runs in a process of its own, which tunehost starts and restarts. After a restart it goes on from what its save
    wrote, or from its pickle; without both it is told the whole history again, and asked again for what it has
    suggested before. random and numpy.random are seeded for each suggestion."""

    FINISHED = "FINISHED"  #: what suggest returns when there is nothing more to suggest
    CKPT_FILE_TMPL = "searcher-state-{}.pkl"

    needs_metric = False
    points: Points = None
    concurrent: int = 0
    repeats: int = 1
    tells_late = True  #: it is told the results that come after its last suggestion, once the experiment has ended
    seed: Optional[int] = None
    _metric: Any = None
    _mode: Any = None

    def __init__(self, metric: Any = None, mode: Any = None) -> None:
        for one in [mode] if isinstance(mode, str) else mode or ():
            if one not in ("min", "max"):
                raise ValueError(f"mode is {one!r}: expected min or max")
        self._metric, self._mode = metric, mode

    @property
    def metric(self) -> Any:
        """The metric that counts, or None."""
        return self._metric

    @metric.setter
    def metric(self, value: Any) -> None:
        self._metric = value

    @property
    def mode(self) -> Any:
        """min, max or None."""
        return self._mode

    @mode.setter
    def mode(self, value: Any) -> None:
        self._mode = value

    def set_search_properties(
        self, metric: Optional[str], mode: Optional[str], config: Dict[str, Any], **spec: Any
    ) -> bool:
        """Called once with the metric and mode of TuneConfig and with the param_space; True: it has taken them."""
        return False

    def suggest(self, trial_id: str) -> Any:
        """The config of the next trial: a dict, None (nothing yet) or Searcher.FINISHED. What it leaves out is that of
        param_space."""
        raise NotImplementedError(f"{type(self).__name__} has no method suggest")

    def on_trial_result(self, trial_id: str, result: Dict[str, Any]) -> None:
        """Called with each result of a trial."""

    def on_trial_complete(self, trial_id: str, result: Optional[Dict[str, Any]] = None, error: bool = False) -> None:
        """Called at the end of a trial, with its last result; error: it has failed."""
        raise NotImplementedError(f"{type(self).__name__} has no method on_trial_complete")

    def add_evaluated_point(
        self,
        parameters: Dict[str, Any],
        value: float,
        error: bool = False,
        pruned: bool = False,
        intermediate_values: Optional[List[float]] = None,
    ) -> None:
        """Tells the searcher of a point that was measured elsewhere."""
        raise NotImplementedError(f"{type(self).__name__} has no method add_evaluated_point")

    def add_evaluated_trials(self, trials_or_analysis: Any, metric: str) -> None:
        """Tells the searcher of the trials of another experiment: an ExperimentAnalysis, a ResultGrid, a Result or a
        list of them."""
        given = getattr(trials_or_analysis, "trials", trials_or_analysis)
        for result in given if isinstance(given, Iterable) else [given]:
            if metric in result.metrics:
                self.add_evaluated_point(result.config, result.metrics[metric], error=result.error is not None)

    def save(self, checkpoint_path: str) -> None:
        """Writes the state into a file."""
        raise NotImplementedError(f"{type(self).__name__} has no method save")

    def restore(self, checkpoint_path: str) -> None:
        """Reads what save wrote."""
        raise NotImplementedError(f"{type(self).__name__} has no method restore")

    def save_to_dir(self, checkpoint_dir: str, session_str: str = "default") -> None:
        """Writes the state into a file of a directory."""
        self.save(os.path.join(checkpoint_dir, self.CKPT_FILE_TMPL.format(session_str)))

    def restore_from_dir(self, checkpoint_dir: str) -> None:
        """Reads the newest file that save_to_dir wrote."""
        files = glob.glob(os.path.join(glob.escape(checkpoint_dir), self.CKPT_FILE_TMPL.format("*")))
        if not files:
            raise RuntimeError(f"there is no state of a searcher in {checkpoint_dir}")
        self.restore(max(files, key=os.path.getmtime))

    def get_state(self) -> Dict[str, Any]:
        """The state as a dict."""
        return dict(vars(self))

    def set_state(self, state: Dict[str, Any]) -> None:
        """Takes what get_state returned."""
        vars(self).update(state)

    def set_max_concurrency(self, max_concurrent: int) -> bool:
        """Called by ConcurrencyLimiter. True: the searcher keeps the limit itself."""
        return False

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
        return {"plugin": SERVED + "searcher"}

    def served(self) -> Dict[str, Any]:
        return {"searcher": self}


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


class Method(Searcher):
    """A searcher that becomes one of tunehost's, or the library after which it is named."""

    needs_metric = True
    own_space: Any = None  #: a space that was given to the searcher, as a param_space
    library: Optional[Searcher] = None  #: what drives the library itself, if arguments need it

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
        self.own_space = space
        self.metric, self.mode = metric, mode
        self.points, self.seed, self.concurrent = points, seed, concurrent
        self.options = {"plugin": plugin, **without_none(options)}
        self.library: Optional[Searcher] = None

    def entry(self) -> Dict[str, Any]:
        return self.library.entry() if self.library else self.options

    def served(self) -> Dict[str, Any]:
        return self.library.served() if self.library else {}

    def set_search_properties(self, metric: Any, mode: Any, config: Dict[str, Any], **spec: Any) -> bool:
        return self.library is not None and self.library.set_search_properties(metric, mode, config, **spec)


class BasicVariantGenerator(Method):
    """Random points and grids, which are walked in full. constant_grid_search keeps random values the same over a grid.
    random_state is a seed, or a generator of numpy: with it the configs are those that Ray draws with the same one, and
    are written into the experiment file, if there are at most 10,000 and neither a list nor a value of a choice contains
    parameters. Otherwise it is the seed of tunehost's `random`."""

    needs_metric = False

    def __init__(
        self,
        points_to_evaluate: Points = None,
        max_concurrent: int = 0,
        constant_grid_search: bool = False,
        random_state: Any = None,
    ) -> None:
        self.random_state, self.constant_grid_search = copy.deepcopy(random_state), constant_grid_search
        seed = _seed(random_state)
        super().__init__(
            "random", {"repeats": True}, points=points_to_evaluate, seed=seed, concurrent=max_concurrent
        )
        if constant_grid_search:
            from ._variants import ConstantGrid

            self.library = ConstantGrid(points_to_evaluate)
            self.points = None
        self._given = list(points_to_evaluate or ())

    def drawn(self, space: Mapping[str, Any], samples: int) -> Optional[Tuple[BasicVariantGenerator, Dict[str, Any], int]]:
        """The searcher, the space and the number of samples with which the configs are those that Ray draws; None: they are
        drawn by tunehost."""
        if self.random_state is None or samples < 0:
            return None
        from . import _seeded

        found = _seeded.configs(space, samples, self._given, self.constant_grid_search, copy.deepcopy(self.random_state))
        if found is None:
            return None
        made = BasicVariantGenerator(found, self.concurrent)
        made.seed = self.seed
        return made, _seeded.choices(space), len(found)


def _seed(state: Any) -> Optional[int]:
    """The seed of an experiment: an integer, or one that a generator of numpy draws from its state."""
    if state is None or isinstance(state, int):
        return state
    draw = getattr(state, "integers", None) or getattr(state, "randint", None)
    if draw is None:
        raise TypeError(f"random_state is {state!r:.60}: expected an integer or a generator of numpy")
    return int(draw(0, 2**31 - 1))


class _Around(Searcher):
    """A searcher around another one. Around one of tunehost's it becomes a key of the experiment file; around one of
    the user's it runs with it if it must."""

    def __init__(self, searcher: Any) -> None:
        self.searcher = chosen(searcher, "searcher")
        super().__init__(self.searcher.metric, self.searcher.mode)
        self.points = getattr(self.searcher, "points", None)
        self.own_space = getattr(self.searcher, "own_space", None)
        self.tells_late = getattr(self.searcher, "tells_late", True)
        self.needs_metric = self.searcher.needs_metric

    def _serves(self) -> bool:
        """Whether it runs in the process of the searcher."""
        return False

    def keys(self) -> Dict[str, Any]:
        return {**self.searcher.keys(), **super().keys()}

    def entry(self) -> Dict[str, Any]:
        return super().entry() if self._serves() else self.searcher.entry()

    def served(self) -> Dict[str, Any]:
        return super().served() if self._serves() else self.searcher.served()

    def set_search_properties(
        self, metric: Optional[str], mode: Optional[str], config: Dict[str, Any], **spec: Any
    ) -> bool:
        inner = self.searcher
        taken = isinstance(inner, Searcher) and inner.set_search_properties(metric, mode, config, **spec)
        self._metric, self._mode = self._metric or inner.metric, self._mode or inner.mode
        return taken

    def suggest(self, trial_id: str) -> Any:
        return _own(self.searcher).suggest(trial_id)

    def on_trial_result(self, trial_id: str, result: Dict[str, Any]) -> None:
        _own(self.searcher).on_trial_result(trial_id, result)

    def on_trial_complete(self, trial_id: str, result: Optional[Dict[str, Any]] = None, error: bool = False) -> None:
        _own(self.searcher).on_trial_complete(trial_id, result=result, error=error)


def _own(searcher: Any) -> Searcher:
    if isinstance(searcher, Method) and searcher.library:
        return searcher.library
    if not isinstance(searcher, Searcher) or isinstance(searcher, Method):
        raise TuneError(f"{type(searcher).__name__} runs in tunehost, and has no suggest in this process")
    return searcher


class ConcurrencyLimiter(_Around):
    """A searcher of which at most max_concurrent trials run at a time. batch: the next ones start, and the searcher is
    told the results, when all of them have ended."""

    def __init__(self, searcher: Any, max_concurrent: int, batch: bool = False) -> None:
        super().__init__(searcher)
        self.max_concurrent = whole("ConcurrencyLimiter", "max_concurrent", max_concurrent)
        self.batch = batch
        if batch and not self.searcher.served():
            from ._asking import Asking

            self.searcher, self.points, self.tells_late = Asking(self.searcher), None, False
        inner = self.searcher
        limits = isinstance(inner, Searcher) and inner.set_max_concurrency(self.max_concurrent)
        self.concurrent = 0 if limits else self.max_concurrent
        self._live: Set[str] = set()
        self._ended: Dict[str, Any] = {}

    def _serves(self) -> bool:
        return self.batch

    def suggest(self, trial_id: str) -> Any:
        if len(self._live) >= self.max_concurrent or self._ended:
            return None
        suggested = super().suggest(trial_id)
        if isinstance(suggested, Mapping):
            self._live.add(trial_id)
        return suggested

    def on_trial_complete(self, trial_id: str, result: Optional[Dict[str, Any]] = None, error: bool = False) -> None:
        self._live.discard(trial_id)
        self._ended[trial_id] = (result, error)
        if not self._live:
            ended, self._ended = self._ended, {}
            for one, (its, failed) in ended.items():
                super().on_trial_complete(one, its, failed)


class Repeater(_Around):
    """A searcher each of whose points runs several times, with other seeds; it learns the mean. num_samples counts
    trials: those that are left over, when it is no multiple of repeat, do not run. set_index puts the index of the run
    into the config, as "__trial_index__"."""

    def __init__(self, searcher: Any, repeat: int = 1, set_index: bool = True) -> None:
        super().__init__(searcher)
        self.repeats = whole("Repeater", "repeat", repeat)
        self.set_index = set_index


def repeater(searcher: Any) -> Optional[Repeater]:
    """The Repeater among searchers that are around each other."""
    while searcher is not None and not isinstance(searcher, Repeater):
        searcher = getattr(searcher, "searcher", None)
    return searcher


def create_searcher(search_alg: str, **kwargs: Any) -> Choice:
    """A searcher by one of Ray's names, such as "hyperopt"; tunehost's own names work, too. Arguments that one of
    Ray's does not have are left out, as in Ray, with a warning."""
    from . import _methods

    made = {"variant_generator": BasicVariantGenerator, "random": BasicVariantGenerator, **_methods.NAMES}.get(
        search_alg.lower()
    )
    found: Choice = made(**known(made, search_alg, kwargs)) if made else Plugin(search_alg, **kwargs)
    return found


from ._algorithm import SearchAlgorithm, SearchGenerator  # noqa: E402: they are searchers of this module
