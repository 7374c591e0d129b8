"""Ask and tell for asyncio."""

from __future__ import annotations

import asyncio
import time
from typing import Any, AsyncIterator, List, Optional, Set, Union

from ._asked import AskError, Asked, TellFirst, id_of
from ._asktell import AskTell, Metrics
from ._hands import Hands, task

__all__ = ["AsyncAskTell"]


class AsyncAskTell:
    """AskTell for asyncio: ask, report, tell, fail and close are coroutines.

        async with tunehost.AsyncAskTell(space, metric="loss", mode="min", trials=30) as experiment:
            async for trial in experiment:
                await experiment.tell(trial, {"loss": await train(trial.params)})

    The arguments are those of AskTell. Any number of tasks may use it; ask waits until there is a trial, or until
    the experiment is finished. experiment.reading is the Experiment, which answers questions about it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._make = lambda: AskTell(*args, **kwargs)
        self._sync: Optional[AskTell] = None
        self._told: asyncio.Future[None]  # done when something is told; the next one then takes its place
        self._left: List[Asked] = []  # the trials that nobody has: who asked for them was cancelled
        self._hands = Hands(task)
        self._asking: Set[Any] = set()  # the tasks that wait for a trial

    @property
    def reading(self) -> AskTell:
        """The experiment, for its best, trials, curves and so on. AskError: it has not begun."""
        if self._sync is None:
            raise AskError("the experiment has not begun: write  async with tunehost.AsyncAskTell(…) as experiment")
        return self._sync

    async def ask(self, wait: Union[bool, float] = True) -> Optional[Asked]:
        """The next trial, or None when the experiment is finished. Waits while a result must be told first: for so many
        seconds, or, with True, as long as another task has one of the trials that were handed out (has asked for it, or
        read its params), and ten seconds where none has. TellFirst: nobody has told one. A task that is cancelled takes no
        trial."""
        me, end = self._hands.me(), None if isinstance(wait, bool) else time.monotonic() + wait
        self._asking.add(me)
        try:
            while True:
                told = self._told
                try:
                    return self._handed(await self._next())
                except TellFirst:
                    if wait is False:
                        raise
                # the host may end meanwhile, or somebody else may change what the experiment waits for
                if not (await asyncio.wait([told], timeout=self.reading._patience(end)))[0]:
                    self._check_waiting(end)
        finally:
            self._asking.discard(me)

    def _handed(self, trial: Optional[Asked]) -> Optional[Asked]:
        """The trial, which this task has now."""
        if trial:
            object.__setattr__(trial, "_hands", self._hands)
            self._hands.take(trial.id)
        return trial

    def _check_waiting(self, end: Optional[float]) -> None:
        """Says for which trials this waits. TellFirst: it is too late, or no task is known that could tell a result."""
        out = self.reading._out
        if end is None and out and not self._hands.others(out, self._asking):
            raise out.nobody("task")
        if end is not None and time.monotonic() >= end:
            raise out.late()
        out.say()

    async def report(self, trial: Union[Asked, str], metrics: Metrics, iteration: Optional[int] = None) -> str:
        """See AskTell.report."""
        decision: str = await self._run(self.reading.report, trial, metrics, iteration)
        if decision != "continue":
            self._hands.give(id_of(trial))
            self._tell()
        return decision

    async def tell(self, trial: Union[Asked, str], metrics: Metrics) -> Optional[str]:
        """See AskTell.tell."""
        return await self._ended(trial, self.reading.tell, metrics)

    async def fail(self, trial: Union[Asked, str], why: Union[str, BaseException] = "failed") -> Optional[str]:
        """See AskTell.fail."""
        return await self._ended(trial, self.reading.fail, why)

    async def close(self) -> None:
        """See AskTell.close."""
        await self._run(self.reading.close)
        self._left.clear()
        self._tell()

    async def __aenter__(self) -> AsyncAskTell:
        self._told = asyncio.get_running_loop().create_future()
        self._sync = await self._run(self._make)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def __aiter__(self) -> AsyncIterator[Asked]:
        """Asks until the experiment is finished."""
        while True:
            trial = await self.ask()
            if trial is None:
                return
            yield trial

    async def _next(self) -> Optional[Asked]:
        """A trial that was left, or what AskTell.ask returns."""
        if self._left:
            return self._left.pop(0)
        asks = asyncio.get_running_loop().run_in_executor(None, self.reading.ask)
        try:
            await asyncio.wait([asks])
        except asyncio.CancelledError:
            asks.add_done_callback(self._leave)
            raise
        return asks.result()

    def _leave(self, asks: asyncio.Future[Optional[Asked]]) -> None:
        """Keeps a trial for the next task that asks."""
        trial = None if asks.cancelled() or asks.exception() else asks.result()
        if trial:
            self._left.append(trial)
            self._tell()

    async def _ended(self, trial: Union[Asked, str], f: Any, *args: Any) -> Optional[str]:
        try:
            self._hands.tells(id_of(trial))
            ignored: Optional[str] = await self._run(f, trial, *args)
            self._hands.give(id_of(trial))
            return ignored
        finally:  # also where the host is gone, which those who wait find out when they ask again
            self._tell()

    async def _run(self, f: Any, *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(None, f, *args)

    def _tell(self) -> None:
        """Wakes those who wait for a trial."""
        told, self._told = self._told, asyncio.get_running_loop().create_future()
        told.set_result(None)
