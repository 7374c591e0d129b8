"""Which threads, or tasks of asyncio, may tell the results of trials that were handed out."""

from __future__ import annotations

import asyncio
import threading
import weakref
from typing import Any, Callable, Collection, Dict, Iterable, Set, Union

__all__ = ["Hands", "task"]

Holder = Union[threading.Thread, "asyncio.Task[Any]"]


def task() -> Holder:
    """The task of asyncio that runs this, or the thread if none does."""
    try:
        return asyncio.current_task() or threading.current_thread()
    except RuntimeError:
        return threading.current_thread()


class Hands:
    """A thread has a trial if it has asked for it or read its parameters, and gives it back when its result is told. A
    thread that has told results of trials which it never had is told of them in another way, such as a queue of ids, and
    may tell any. With me=task the same holds for tasks."""

    def __init__(self, me: Callable[[], Holder] = threading.current_thread) -> None:
        self.me = me
        self._lock = threading.Lock()
        self._having: Dict[str, Set[Holder]] = {}
        self._telling: weakref.WeakSet[Holder] = weakref.WeakSet()

    def take(self, trial: str) -> None:
        """This thread has asked for a trial."""
        with self._lock:
            self._having.setdefault(trial, set()).add(self.me())

    def read(self, trial: str) -> None:
        """This thread reads the parameters of a trial, whose result may be told already."""
        with self._lock:
            if trial in self._having:
                self._having[trial].add(self.me())

    def tells(self, trial: str) -> None:
        """This thread begins to tell the result of a trial. The program may take its time to answer."""
        with self._lock:
            self._tells(trial)

    def give(self, trial: str) -> None:
        """This thread has told the result of a trial."""
        with self._lock:
            self._tells(trial)
            self._having.pop(trial, None)

    def _tells(self, trial: str) -> None:
        me = self.me()
        if me not in self._having.get(trial, {me}):
            self._telling.add(me)

    def others(self, trials: Iterable[str], waiting: Collection[Holder] = ()) -> bool:
        """Whether another thread, which has not ended, may tell the result of one of these trials; none of those that wait."""
        with self._lock:
            found = set(self._telling).union(*(self._having.get(trial, ()) for trial in trials))
        return any(_lives(one) for one in found.difference(waiting, {self.me()}))


def _lives(holder: Holder) -> bool:
    return holder.is_alive() if isinstance(holder, threading.Thread) else not holder.done()
