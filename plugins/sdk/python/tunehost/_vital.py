"""Functions that must not fail: if one of them raises, the process ends."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import traceback
from typing import Any, Callable


def vital(work: Callable[..., None]) -> Callable[..., None]:
    """Ends the process when work raises, after printing the traceback. Otherwise the process would
    continue without it, and the host would wait for ever."""

    def run(*args: Any) -> None:
        try:
            work(*args)
        except BaseException:
            traceback.print_exc()
            die()

    return run


def start(work: Callable[..., None], *args: Any) -> None:
    """Runs vital work in a new thread."""
    threading.Thread(target=vital(work), args=args, daemon=True).start()


def die(why: str = "") -> None:
    """Ends the process immediately, after printing the reason."""
    if why:
        print(why, file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(1)
