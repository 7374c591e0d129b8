"""Whether what an experiment's directory has may be unpickled, which runs its code, and read."""

from __future__ import annotations

import os
import stat
from typing import IO, Iterator

from .error import TuneError

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def check(experiment: str) -> None:
    """TuneError if others could have written what is unpickled of an experiment: it would run as this user."""
    dir = os.path.realpath(experiment)
    if not _check(dir):
        return
    for folder in ("tune", "trials"):
        for path in _below(os.path.join(dir, folder), 9 if folder == "tune" else 2):
            _refuse_special(path)


def _below(path: str, depth: int) -> Iterator[str]:
    """What is in a directory that others can enter, and in such directories in it."""
    if depth == 0 or not os.path.isdir(path) or os.path.islink(path) or not _check(path):
        return
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _below(entry.path, depth - 1)
            elif depth == 1 and entry.name != "params.pkl":
                continue  # of the files of a trial only this one is unpickled
            else:
                yield entry.path


def _refuse_special(path: str) -> None:
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise TuneError(f"{path} is no plain file: tunehost follows no links and opens no pipes inside an experiment")
    _check(path)


def _check(path: str) -> bool:
    """Refuses what others own or can write to, and returns whether others can reach what is in it."""
    found, me = os.lstat(path), os.geteuid()
    if found.st_uid != me:
        raise TuneError(
            f"{path} belongs to another user ({found.st_uid}; you are {me}), whose code would run as you: copy the "
            "experiment's directory, and look at the copy"
        )
    if found.st_mode & _OTHERS_WRITE:
        raise TuneError(
            f"{path} can be written to by others ({stat.filemode(found.st_mode)}), whose code would run as you: if you know "
            f"what is in it, run  chmod -R go-w {path}"
        )
    return found.st_mode & _OTHERS != 0


def opened(path: str) -> IO[str]:
    """Opens a text file of an experiment. It is no link and no pipe; FileNotFoundError if it is not there."""
    if os.path.islink(path):
        raise TuneError(f"{path} is a link: tunehost follows no links inside an experiment")
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise TuneError(f"{path} is no plain file: tunehost opens no pipes inside an experiment")
    return os.fdopen(fd, encoding="utf-8")
