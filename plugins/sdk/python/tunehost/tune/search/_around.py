"""Searchers around other ones."""

from __future__ import annotations

from typing import Any, Dict, Optional

from .._plugin import chosen
from ..error import TuneError
from ._translated import Method
from .searcher import Points, Searcher


class Around(Searcher):
    """A searcher around another one. Around one of tunehost's it becomes a key of the experiment file; around one of
    the user's it runs with it if it must."""

    def __init__(self, searcher: Any) -> None:
        self.searcher: Any = chosen(searcher, "searcher")
        super().__init__(self.searcher.metric, self.searcher.mode)
        self.points: Points = getattr(self.searcher, "points", None)
        self.own_space: Any = getattr(self.searcher, "own_space", None)
        self.tells_late: bool = getattr(self.searcher, "tells_late", True)
        self.needs_metric: bool = self.searcher.needs_metric

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
        return own(self.searcher).suggest(trial_id)

    def on_trial_result(self, trial_id: str, result: Dict[str, Any]) -> None:
        own(self.searcher).on_trial_result(trial_id, result)

    def on_trial_complete(self, trial_id: str, result: Optional[Dict[str, Any]] = None, error: bool = False) -> None:
        own(self.searcher).on_trial_complete(trial_id, result=result, error=error)


def own(searcher: Any) -> Searcher:
    """A searcher that suggests in this process; TuneError: it runs in tunehost."""
    if isinstance(searcher, Method) and searcher.library:
        return searcher.library
    if not isinstance(searcher, Searcher) or isinstance(searcher, Method):
        raise TuneError(f"{type(searcher).__name__} runs in tunehost, and has no suggest in this process")
    return searcher
