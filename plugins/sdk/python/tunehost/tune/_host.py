"""Runs the program tunehost as a child of this process."""

from __future__ import annotations

import collections
import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from typing import Any, Callable, Deque, Iterable, Iterator, List, Optional, Set

from .. import _binary, _system, _words
from .error import TuneError

INTERRUPTED = 130


class Killed(TuneError):
    """A signal has ended the program."""


_LOOK_EVERY_S = 0.05
_KEPT = 1000  # lines


def run(
    arguments: List[str], look: Optional[Callable[[], None]] = None, ready: Optional[threading.Event] = None
) -> int:
    """Runs the program until it ends, with its output where this process has its own. It ends with this process.
    Ctrl-C interrupts the experiment, and its state is saved. TuneError: the program refused, or failed.
    look is called again and again meanwhile; if it raises an exception, the experiment is interrupted; at once when ready
    is set."""
    me = os.getpid()
    _system.libc()
    command = [_binary.find(), *arguments]
    pipe = subprocess.PIPE if _in_notebook() else None
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=pipe,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: _system.die_with_parent(me),
    ) as child:
        errors: List[str] = []
        said: Deque[str] = collections.deque(maxlen=_KEPT)
        pumps = [_pump(child.stderr, lambda text: _say(sys.stderr, _without(text, errors, said)))]
        if pipe:
            pumps.append(_pump(child.stdout, lambda text: _say(sys.stdout, text)))
        status = _wait(child, look, ready)
        for pump in pumps:
            pump.join()
    if status not in (0, INTERRUPTED):
        raise Killed(f"tunehost {_system.ended_by(status)}") if status < 0 else TuneError(_message(errors, said, status))
    _say(sys.stderr, "".join(errors))
    return status


def _wait(
    child: subprocess.Popen[bytes], look: Optional[Callable[[], None]], ready: Optional[threading.Event]
) -> int:
    """Waits for the end. Ctrl-C reaches the child by itself, which then saves the experiment; in a notebook it
    reaches this process alone, and is passed on."""
    while True:
        try:
            return child.wait() if look is None else _look(child, look, ready)
        except KeyboardInterrupt:
            _pass_on(child)
            if not _in_foreground():
                child.terminate()


def _pass_on(child: subprocess.Popen[bytes]) -> None:
    """Has further Ctrl-C hurry the program alone: what it has recorded is read after it has ended. See as_before."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, lambda *_: None if _in_foreground() else child.terminate())


@contextlib.contextmanager
def as_before() -> Iterator[None]:
    """Afterwards Ctrl-C does again what it did before."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def _look(child: subprocess.Popen[bytes], look: Callable[[], None], ready: Optional[threading.Event]) -> int:
    while True:
        try:
            if ready:
                ready.wait(_LOOK_EVERY_S)
            return child.wait(0 if ready else _LOOK_EVERY_S)
        except subprocess.TimeoutExpired:
            pass
        try:
            look()
        except BaseException:
            child.terminate()
            child.wait()
            raise


def _in_foreground() -> bool:
    """Whether the terminal sends Ctrl-C to this process and its children."""
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


def _in_notebook() -> bool:
    return "ipykernel" in sys.modules


def _pump(stream: Any, take: Callable[[str], None]) -> threading.Thread:
    """Passes a stream on, as it comes."""

    def work() -> None:
        while True:
            part = stream.read1(65536)
            if not part:
                return
            take(part.decode("utf-8", "replace"))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def _say(stream: Any, text: str) -> None:
    """Writes where somebody reads: a stream may be None (the script began without one), closed, or without its reader."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        stream.write(text)
        stream.flush()


def warn(text: str) -> None:
    """Says a line on stderr."""
    _say(sys.stderr, f"{text}\n")


def _without(text: str, errors: List[str], said: Deque[str]) -> str:
    """The lines of the program but those that say why it ends, which an exception has: errors takes them."""
    lines = text.splitlines(keepends=True)
    said += lines
    errors += [line for line in lines if _words.is_error(line)]
    return "".join(_words.advised(line) for line in lines if not _words.is_error(line) and not _known(line))


_SHARED = re.compile(r"this machine has \S+ CPUs, and this experiment may use ")
_told: Set[str] = set()  # to this process


def _known(line: str) -> bool:
    """Whether a line says once more that experiments share the CPUs, as at each fit in each cell of a notebook."""
    found = _SHARED.search(line)
    if found is None:
        return False
    known = found[0] in _told
    _told.add(found[0])
    return known


def _message(errors: List[str], said: Iterable[str], status: int) -> str:
    """What the program wrote about its failure: a line for each mistake in an experiment, else one."""
    if not errors:
        return _words.unexplained("".join(said), status)
    mistakes = [line for line in errors if not line.startswith("tunehost: ")]
    return "".join(mistakes or errors[-1:]).rstrip("\n").removeprefix("tunehost: ")
