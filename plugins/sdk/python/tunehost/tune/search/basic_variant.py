"""Random points and grids."""

from __future__ import annotations

import copy
from typing import Any, Dict, Mapping, Optional, Tuple

from ._translated import Method
from .searcher import Points

__all__ = ["BasicVariantGenerator"]


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
        self.random_state: Any
        self.constant_grid_search: bool
        self.random_state, self.constant_grid_search = copy.deepcopy(random_state), constant_grid_search
        seed = _seed(random_state)
        super().__init__(
            "random", {"repeats": True}, points=points_to_evaluate, seed=seed, concurrent=max_concurrent
        )
        if constant_grid_search:
            from ._variants import ConstantGrid

            self.library: Any = ConstantGrid(points_to_evaluate)
            self.points: Any = None
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
