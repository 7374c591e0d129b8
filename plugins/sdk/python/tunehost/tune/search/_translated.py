"""Searchers that become one of tunehost's, or the library after which they are named."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional

from .._plugin import without_none
from .searcher import Points, Searcher


class Method(Searcher):
    """The base class of these searchers."""

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
        self.points: Points
        self.seed: Optional[int]
        self.concurrent: int
        self.points, self.seed, self.concurrent = points, seed, concurrent
        self.options: Dict[str, Any] = {"plugin": plugin, **without_none(options)}
        self.library: Optional[Searcher] = None

    def entry(self) -> Dict[str, Any]:
        return self.library.entry() if self.library else self.options

    def served(self) -> Dict[str, Any]:
        return self.library.served() if self.library else {}

    def set_search_properties(self, metric: Any, mode: Any, config: Dict[str, Any], **spec: Any) -> bool:
        return self.library is not None and self.library.set_search_properties(metric, mode, config, **spec)
