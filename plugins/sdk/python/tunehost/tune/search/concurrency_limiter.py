"""A limit of the trials that run at a time."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Set

from .._plugin import whole
from ._around import Around
from .searcher import Searcher

__all__ = ["ConcurrencyLimiter"]


class ConcurrencyLimiter(Around):
    """A searcher of which at most max_concurrent trials run at a time. batch: the next ones start, and the searcher is
    told the results, when all of them have ended."""

    def __init__(self, searcher: Any, max_concurrent: int, batch: bool = False) -> None:
        super().__init__(searcher)
        self.max_concurrent: int = whole("ConcurrencyLimiter", "max_concurrent", max_concurrent)
        self.batch = batch
        if batch and not self.searcher.served():
            from ._asking import Asking

            self.searcher: Any
            self.points: Any
            self.tells_late: bool
            self.searcher, self.points, self.tells_late = Asking(self.searcher), None, False
        inner = self.searcher
        limits = isinstance(inner, Searcher) and inner.set_max_concurrency(self.max_concurrent)
        self.concurrent: int = 0 if limits else self.max_concurrent
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
