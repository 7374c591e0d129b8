"""Turns SIGTERM, which stops a trial, into an exception in the main thread.

The host sends SIGTERM to a program that it stops between reports; the program then has
stop_grace to end.
"""

from __future__ import annotations

import atexit
import mmap
import os
import signal
import sys
import threading
from typing import Any, Callable, Iterable, List

from .errors import Stopped

_OWNER = "TUNEHOST_SDK_PID"
TERMINATED = 128 + signal.SIGTERM  #: the exit status of a program that SIGTERM has ended

# The module signal without its conversion of numbers to enums, which costs each fork memory.
_plain: Any = sys.modules.get("_signal", signal)
mask: Callable[[int, Iterable[int]], Any] = getattr(_plain, "pthread_sigmask", None)  # type: ignore[assignment]
handle: Callable[[int, Any], Any] = _plain.signal
_handler: Callable[[int], Any] = _plain.getsignal

_over = False  # the script knows that it must stop, or is ending: SIGTERM is ignored


def watch() -> None:
    """Makes SIGTERM raise Stopped in the script of a trial. Does nothing outside of a trial, in
    processes that the script starts, or if the signal has another handler."""
    if "TUNEHOST_TRIAL_ID" not in os.environ:
        return
    own = str(os.getpid())
    if os.environ.setdefault(_OWNER, own) == own and install(_raise):
        atexit.register(ignore)


def leave_end_to_host() -> None:
    """Has a plugin's process live on when it gets SIGTERM. An engine sends that to all processes of a job that ends
    soon; the plugin is needed until trials have saved. The host, or its agent, ends it, and it ends when they are gone.
    The processes that it starts are not changed, and an author's handler replaces this one."""
    install(_live_on)


def _live_on(signum: int, frame: Any) -> None:  # not SIG_IGN, which other programs would inherit
    _to_all[0] = 1


_to_all = mmap.mmap(-1, 1)  # shared with trials: whether their parent got SIGTERM, too
_LATER_S = 1.0


def end_unless(
    look: Callable[[], None], stopped: Callable[[], bool], later_s: float = _LATER_S
) -> Callable[[int, Any], None]:
    """A handler for trials that ends one which SIGTERM was meant for alone, as Python does without a handler: neither the
    host has sent it, which stopped tells after look, nor an engine, which sends it to the trial's parent, too. later_s is how long either may take."""

    def decide(signum: int, frame: Any) -> None:
        if doomed:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)
        look()
        if not stopped():
            timer = threading.Timer(later_s, end)  # the parent may get it a moment later
            timer.daemon = True
            timer.start()

    def end() -> None:
        if not _to_all[0] and not stopped():
            doomed.append(True)
            os.kill(os.getpid(), signal.SIGTERM)  # the handler runs in the main thread, which may change what it does

    doomed: List[bool] = []
    return decide


def handled() -> bool:
    """Whether the author's code handles SIGTERM."""
    return _handler(signal.SIGTERM) not in (signal.SIG_DFL, _live_on)


def install(handler: Callable[[int, Any], None]) -> bool:
    """Handles SIGTERM, unless it has another handler or this is not the main thread."""
    if threading.current_thread() is not threading.main_thread() or handled():
        return False
    handle(signal.SIGTERM, handler)
    os.register_at_fork(after_in_child=lambda: _restore(handler))
    return True


def _restore(handler: Callable[[int, Any], None]) -> None:
    """Restores the default in a fork: only the script itself cleans up."""
    if _handler(signal.SIGTERM) is handler:
        handle(signal.SIGTERM, int(signal.SIG_DFL))


def ignore() -> None:
    """Ignores SIGTERM from now on: the script knows that it must stop, and cleans up. The host
    kills it after stop_grace."""
    global _over
    _over = True


def _raise(signum: int, frame: Any) -> None:
    if not _over:
        ignore()
        raise Stopped(TERMINATED)
