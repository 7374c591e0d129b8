"""The base class of searchers."""

from __future__ import annotations

import glob
import os
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence

from .._plugin import SERVED, Choice, whole

__all__ = ["Searcher"]

Points = Optional[Sequence[Mapping[str, Any]]]


class Searcher(Choice):
    """The base class of searchers of one's own: implement suggest and on_trial_complete. A subclass is pickled, and
    runs in a process of its own, which tunehost starts and restarts. After a restart it goes on from what its save
    wrote, or from its pickle; without both it is told the whole history again, and asked again for what it has
    suggested before. random and numpy.random are seeded for each suggestion. ValueError: a mode is not min or max."""

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
        """Reads the newest file that save_to_dir wrote. RuntimeError: there is none."""
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
