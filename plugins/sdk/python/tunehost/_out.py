"""The trials of ask and tell that are not told yet, and what is said of them to those who wait."""

from __future__ import annotations

import sys
from typing import Dict, Iterator, Optional

from ._asked import Asked, TellFirst

__all__ = ["Out"]

_TELL_EACH = "call tell or fail for each trial"


class Out:
    """The trials that were handed out and have not ended."""

    def __init__(self) -> None:
        self._numbers: Dict[str, Optional[int]] = {}  # by their ids
        self._said = ""

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        """The ids of those that there are now."""
        return iter(list(self._numbers))

    def add(self, trial: Asked) -> None:
        """It was handed out."""
        self._numbers[trial.id] = trial.number

    def remove(self, trial: str) -> None:
        """It has ended here."""
        self._numbers.pop(trial, None)

    def say(self) -> None:
        """Says for which trials somebody waits, once for the same ones."""
        waits = self._waits_for()
        if waits != self._said:
            self._said = waits
            print(f"tunehost: {waits}: {_TELL_EACH}", file=sys.stderr)

    def late(self, why: str = "") -> TellFirst:
        """The error of one who has waited as long as it wanted."""
        return TellFirst(f"{self._waits_for()}{why and f', and {why}'}: {_TELL_EACH}")

    def nobody(self, who: str, instead: str = "") -> TellFirst:
        """The error of one who waits although no other thread, or task, is known that may tell a result."""
        why = f"no other {who} that goes on has asked for it or read its params"
        return TellFirst(f"{self.late(why)}, or wait longer with ask(wait=SECONDS){instead}")

    def _waits_for(self) -> str:
        """For which trials a caller waits that gets no other."""
        trials = ", ".join(id if number is None else f"{number} ({id})" for id, number in list(self._numbers.items())[:5])
        return f"waiting for the result of trial {trials}, which was handed out and not told" if trials else "waiting"
