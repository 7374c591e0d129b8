"""Redirects a trial's output to files in its directory."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import sys
from typing import Any, Iterator, List

from . import _log
from ._keeping import is_full
from .run import Logs, flush

_FDS = (1, 2)


class _Patient(io.FileIO):
    """A file that loses what a full disk has no room for: a program does not fail because of what it prints."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as e:
            if not is_full(e):
                raise
            return memoryview(data).nbytes


def be_patient() -> None:
    """Has what is printed from now on be lost on a full disk, without an error."""
    for fd, name in zip(_FDS, ("stdout", "stderr")):
        old = getattr(sys, name)
        if type(old) is io.TextIOWrapper and old.fileno() == fd:
            raw = io.BufferedWriter(_Patient(fd, "w", closefd=False))
            setattr(sys, name, io.TextIOWrapper(raw, old.encoding, old.errors, line_buffering=True))


def send_to(dir: str, logs: Logs) -> None:
    """Redirects all output from now on to the files of the directory."""
    opened = _open_all(dir, logs)
    flush()
    for fd, file in zip(_FDS, opened):
        os.dup2(file, fd)
        os.close(file)


@contextlib.contextmanager
def sent_to(dir: str, logs: Logs) -> Iterator[None]:
    """Redirects output to the files of the directory, and afterwards to where it went
    before. It applies to the whole process: for processes that train one trial at a time."""
    flush()
    before = [os.dup(fd) for fd in _FDS]
    try:
        send_to(dir, logs)
        _log.plain()
        yield
    finally:
        flush()
        _log.install()
        for fd, file in zip(_FDS, before):
            os.dup2(file, fd)
            os.close(file)


def _open_all(dir: str, logs: Logs) -> List[int]:
    opened: List[int] = []
    try:
        for name in (logs.stdout, logs.stderr):
            opened.append(_open_own(os.path.join(dir, name)) if name else os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC))
    except OSError:
        for file in opened:
            os.close(file)
        raise
    return opened


def _open_own(path: str) -> int:
    """Opens an output file of the trial. Anything else than a regular file is refused: a link
    could point to any file of the user, and opening a pipe would block."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    info = os.fstat(file)
    if not stat.S_ISREG(info.st_mode) or info.st_nlink > 1:
        os.close(file)
        raise OSError(f"{path} is not a regular file, or has other links: move it away")
    return file
