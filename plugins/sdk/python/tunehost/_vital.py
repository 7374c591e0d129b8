"""Work without which the process is of no use to the host."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import traceback
from typing import Any, Callable


def vital(work: Callable[..., None]) -> Callable[..., None]:
    """Ends the process when the work raises, with the traceback as its last words. Otherwise
    the process would live on without it, and the host would wait for ever."""

    def run(*args: Any) -> None:
        try:
            work(*args)
        except BaseException:
            traceback.print_exc()
            die()

    return run


def start(work: Callable[..., None], *args: Any) -> None:
    """Does vital work in a thread of its own."""
    threading.Thread(target=vital(work), args=args, daemon=True).start()


def die(why: str = "") -> None:
    """Ends the process at once, and says why."""
    if why:
        print(why, file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(1)
