"""SIGTERM, which stops a trial, as an exception in the main thread.

The host sends it to a program that it stops between reports, and gives it stop_grace to end.
"""

from __future__ import annotations

import atexit
import os
import signal
import threading
from typing import Any, Callable

from .errors import Stopped

_OWNER = "TUNEHOST_SDK_PID"
TERMINATED = 128 + signal.SIGTERM  #: the exit status of what SIGTERM has ended

_over = False  # the script was told of its stop, or ends: nothing may disturb what it does now


def watch() -> None:
    """Makes SIGTERM a Stopped in the script of a trial. Does nothing outside of one, in processes
    that the script starts, and where somebody else handles the signal."""
    if "TUNEHOST_TRIAL_ID" not in os.environ:
        return
    own = str(os.getpid())
    if os.environ.setdefault(_OWNER, own) == own and install(_raise):
        atexit.register(told)


def install(handler: Callable[[int, Any], None]) -> bool:
    """Handles SIGTERM, unless somebody else does or this is not the main thread."""
    if threading.current_thread() is not threading.main_thread():
        return False
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        return False
    signal.signal(signal.SIGTERM, handler)
    os.register_at_fork(after_in_child=lambda: _restore(handler))
    return True


def _restore(handler: Callable[[int, Any], None]) -> None:
    """Gives a fork the default again: it is not the one that cleans up."""
    if signal.getsignal(signal.SIGTERM) is handler:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def told() -> None:
    """Notes that the script knows of its stop: from now on SIGTERM is ignored, so that it can
    clean up. The host kills what takes longer than stop_grace."""
    global _over
    _over = True


def _raise(signum: int, frame: Any) -> None:
    if not _over:
        told()
        raise Stopped(TERMINATED)
