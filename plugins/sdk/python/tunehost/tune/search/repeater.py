"""Several trials with the same parameters."""

from __future__ import annotations

from typing import Any, Optional

from .._plugin import whole
from ._around import Around

__all__ = ["Repeater"]


class Repeater(Around):
    """A searcher each of whose points runs several times, with other seeds; it learns the mean. num_samples counts
    trials: those that are left over, when it is no multiple of repeat, do not run, which a warning says. set_index puts the index of the run
    into the config, as "__trial_index__"."""

    def __init__(self, searcher: Any, repeat: int = 1, set_index: bool = True) -> None:
        super().__init__(searcher)
        self.repeats: int = whole("Repeater", "repeat", repeat)
        self.set_index = set_index


def repeater_of(searcher: Any) -> Optional[Repeater]:
    """The Repeater among searchers that are around each other."""
    while searcher is not None and not isinstance(searcher, Repeater):
        searcher = getattr(searcher, "searcher", None)
    return searcher
