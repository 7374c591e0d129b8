"""Which threads may tell the results of trials that were handed out."""

from __future__ import annotations

import threading
from typing import Dict, Iterable, Set

__all__ = ["Hands"]


class Hands:
    """A thread has a trial if it has asked for it or read its parameters, and gives it back when its result is told. A
    thread that has told results of trials which it never had is told of them in another way, such as a queue of ids, and
    may tell any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._having: Dict[str, Set[threading.Thread]] = {}
        self._telling: Set[threading.Thread] = set()

    def take(self, trial: str) -> None:
        """This thread has asked for a trial."""
        with self._lock:
            self._having.setdefault(trial, set()).add(threading.current_thread())

    def read(self, trial: str) -> None:
        """This thread reads the parameters of a trial, whose result may be told already."""
        with self._lock:
            if trial in self._having:
                self._having[trial].add(threading.current_thread())

    def give(self, trial: str) -> None:
        """This thread has told the result of a trial."""
        me = threading.current_thread()
        with self._lock:
            if me not in self._having.pop(trial, {me}):
                self._telling.add(me)

    def others(self, trials: Iterable[str]) -> bool:
        """Whether another thread, which has not ended, may tell the result of one of these trials."""
        with self._lock:
            found = self._telling.union(*(self._having.get(trial, ()) for trial in trials))
        return any(thread.is_alive() for thread in found - {threading.current_thread()})
