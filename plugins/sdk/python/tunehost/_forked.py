"""The server's side of trials that train in forks of the zygote (see _zygote)."""

from __future__ import annotations

import contextlib
import itertools
import os
import selectors
import threading
from concurrent.futures import Future
from itertools import takewhile
from typing import Any, Callable, Dict, List, Mapping, Optional

from . import _frames, _system, _vital
from ._frames import Frames
from ._session import Session
from .run import ENDED, KILL, STARTED, STOP, Order, Told


_TAIL_BYTES, _TAIL_LINES = 4096, 20


class Refusal(Exception):
    """The author's code in the zygote raised an error."""


class Zygote:
    """Sends to the zygote, and receives from it and from the trials in one thread."""

    def __init__(self, control: Frames) -> None:
        self._control = control
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._calls: Dict[int, Future[Any]] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ)
        self.session: Optional[ForkedSession] = None
        _vital.start(self._listen)

    def call(self, name: str, *arguments: Any) -> Any:
        """Makes the zygote call the author's code; Refusal carries its error."""
        call: Future[Any] = Future()
        with self._lock:
            number = next(self._numbers)
            self._calls[number] = call
            self._control.send((name, number, *arguments))
        return call.result()

    def order(self, name: str, run: int, *fds: int) -> None:
        """Makes the zygote fork or kill a process."""
        with self._lock, contextlib.suppress(OSError):
            self._control.send((name, run), fds)

    def follow(self, frames: Frames, tell: Callable[[Told], None]) -> None:
        """Receives from a trial from now on. Only for the receiving thread."""
        self._selector.register(frames, selectors.EVENT_READ, tell)

    def forget(self, frames: Frames) -> None:
        """Stops receiving from a trial. Only for the receiving thread."""
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(frames)

    def _listen(self) -> None:
        while not self._control.ended:
            for key, _ in self._selector.select():
                frames: Any = key.fileobj
                if frames is self._control:
                    for message in frames.take():
                        self._hear(*message)
                elif not frames.closed:  # closed if the trial ended earlier in this loop
                    self._take(frames, key.data)
        _vital.die("the process that forks trials is gone")

    def _take(self, frames: Frames, tell: Callable[[Told], None]) -> None:
        for told in frames.take():
            tell(told)
        if frames.ended:
            self.forget(frames)

    def _hear(self, name: str, *arguments: Any) -> None:
        if name == "reply":
            number, ok, value = arguments
            call = self._calls.pop(number)
            call.set_result(value) if ok else call.set_exception(Refusal(value))
        elif self.session:
            getattr(self.session, name)(*arguments)


class _Child:
    """A trial's process."""

    def __init__(self, frames: Frames, dir: str) -> None:
        self.frames = frames
        self._sending = threading.Lock()
        self._stderr = os.path.join(dir, "stderr")
        self._from = self._size()
        self.pid = 0
        self.started = False
        self.killed = False
        self.ended: Optional[Told] = None

    def _size(self) -> int:
        try:
            return os.path.getsize(self._stderr)
        except OSError:
            return 0

    def send(self, value: Any) -> None:
        """Sends to the trial. If the trial has ended, nothing happens: the zygote reports it."""
        with self._sending, contextlib.suppress(OSError):
            self.frames.send(value)

    def close(self) -> None:
        """Closes the connection. Nothing may be sent meanwhile: the descriptor's number may
        belong to another file a moment later."""
        with self._sending:
            self.frames.close()

    def stderr_tail(self) -> str:
        """The last lines that this attempt wrote to stderr, for the error message."""
        size = self._size()
        if size <= self._from:
            return ""
        with open(self._stderr, "rb") as f:
            f.seek(max(self._from, size - _TAIL_BYTES))
            lines = f.read().decode("utf-8", "replace").strip().splitlines()
        lines = _innermost_last(lines)[-_TAIL_LINES:]
        return "\n".join([f"its stderr is in {self._stderr}; it ends:", *lines])


def _innermost_last(lines: List[str]) -> List[str]:
    """Puts the frames of the thread that has crashed at the end, the innermost last, as in a traceback of Python:
    faulthandler writes them the other way around, and a summary shows the last lines."""
    first = "(most recent call first):"
    begin = next((n for n, line in enumerate(lines) if line.startswith("Current thread") and line.endswith(first)), None)
    if begin is None:
        return lines
    frames = list(takewhile(lambda line: line.startswith("  File "), lines[begin + 1 :]))
    title = lines[begin].replace(first, "(most recent call last):")
    return [*lines[:begin], *lines[begin + 1 + len(frames) :], title, *reversed(frames)]


class ForkedSession(Session):
    """Trains each trial in a fork of the zygote."""

    def __init__(self, zygote: Zygote, traits: Mapping[str, bool]) -> None:
        super().__init__(traits)
        self._zygote = zygote
        zygote.session = self

    def start(self, run: int, trial: Dict[str, Any]) -> None:
        ours, theirs = _frames.pair()
        child = self.runs[run] = _Child(ours, trial["dir"])
        self._zygote.order("fork", run, theirs.fileno())
        theirs.close()
        child.send(trial)

    def order(self, run: int, order: Order) -> None:
        child = self.runs.get(run)
        if child is None:
            return  # it has ended before the order arrived
        if order["kind"] == KILL:
            child.killed = True
            self._zygote.order("kill", run)
            return
        child.send(order)
        if order["kind"] == STOP:  # the next report may be far away
            self._zygote.order("stop", run)

    # The zygote's messages, handled in the receiving thread. This thread never takes the
    # session's lock: the thread that holds the lock may wait for the zygote, and the zygote
    # for this thread.

    def forked(self, run: int, pid: int) -> None:
        """The trial's process was started."""
        child = self.runs[run]
        child.pid = pid
        self._zygote.follow(child.frames, lambda told: self._tell(run, child, told))
        if child.killed:  # the order may have come before the fork
            self._zygote.order("kill", run)

    def unforked(self, run: int, why: str) -> None:
        """The trial's process could not be started."""
        self._end(run, {"kind": ENDED, "error": why, "never_started": True})

    def exited(self, run: int, code: int) -> None:
        """The process and all processes that it started have ended."""
        child = self.runs[run]
        for told in child.frames.drain():
            self._tell(run, child, told)
        self._zygote.forget(child.frames)
        if not child.started:
            self.out.push(run, {"kind": STARTED, "pid": child.pid})
        if child.ended is None and child.killed:
            child.ended = {"kind": ENDED}
        self._end(run, child.ended or {"kind": ENDED, "error": f"{_death(code)}\n{child.stderr_tail()}".strip()})

    def _end(self, run: int, ended: Told) -> None:
        self.runs.pop(run).close()
        self.out.push(run, ended)

    def _tell(self, run: int, child: _Child, told: Told) -> None:
        if told["kind"] == ENDED:
            child.ended = told  # passed on when the process is gone and its resources are free
            return
        child.started = child.started or told["kind"] == STARTED
        self.out.push(run, _decoded(told))


def _decoded(told: Told) -> Told:
    """An event as a trial in this process has it: JSON has no bytes, and no numbers that are not finite."""
    if "metrics" in told:
        told["metrics"] = [(name, float(value)) for name, value in told["metrics"]]
    if "values" in told:
        told["values"] = told["values"].encode()
    return told


def _death(code: int) -> str:
    """How a process ended that did not report its end."""
    if code >= 0:
        return f"its process exited with status {code} before the trial had ended"
    return f"its process {_system.ended_by(code)}"
