"""Random points whose values are the same over a whole grid."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional

from .._encode import is_grid
from ..sample import Categorical, Domain
from .searcher import Points, Searcher


def grid_points(space: Mapping[Any, Any]) -> int:
    """How many points the grids of a space have."""
    count = 1
    for value in space.values():
        if is_grid(value):
            count *= len(value["grid_search"])
        elif isinstance(value, Mapping):
            count *= grid_points(value)
    return count


class ConstantGrid(Searcher):
    """Draws the random values once for each walk over the grids."""

    def __init__(self, points: Points) -> None:
        super().__init__()
        self._given = [dict(p) for p in points or ()]
        self._drawn: Dict[str, Any] = {}
        self._suggested = 0

    def set_search_properties(self, metric: Any, mode: Any, config: Dict[str, Any], **spec: Any) -> bool:
        self._space = config
        return True

    def suggest(self, trial_id: str) -> Any:
        """The random values. Those of grids are the host's, which walks over all of them before the next sample."""
        if self._suggested % grid_points(self._space) == 0:
            self._drawn = drawn_values(self._space, self._given.pop(0) if self._given else {})
        self._suggested += 1
        return dict(self._drawn)

    def on_trial_complete(self, trial_id: str, result: Optional[Dict[str, Any]] = None, error: bool = False) -> None:
        pass


def drawn_values(space: Mapping[Any, Any], given: Mapping[Any, Any]) -> Dict[Any, Any]:
    """The random values of a space, and the given ones."""
    from ..schedulers._pbt import draw

    found: Dict[Any, Any] = {}
    for name, value in space.items():
        if isinstance(value, Mapping) and not is_grid(value):
            found[name] = drawn_values(value, given.get(name) or {})
        elif name in given:
            found[name] = given[name]
        elif isinstance(value, Domain) and (isinstance(value, Categorical) or _numeric(value)):
            found[name] = draw(value)
    return {k: v for k, v in found.items() if v != {}}


def _numeric(value: Domain) -> bool:
    try:
        return bool({"uniform", "loguniform", "int", "normal"} & set(value.form()))
    except NotImplementedError:
        return False
