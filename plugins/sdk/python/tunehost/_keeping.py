"""Keeps a checkpoint that a trial has reported until the host has taken it."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

_PREFIX = ".reported-"
_FULL = (errno.ENOSPC, errno.EDQUOT)


def is_full(error: OSError) -> bool:
    """Whether a disk is full. shutil's errors are lists of others, as texts."""
    return error.errno in _FULL or isinstance(error, shutil.Error) and any(f"[Errno {n}]" in str(error) for n in _FULL)


def keep(checkpoint: Any, dir: str) -> str:
    """The path under which the host finds a checkpoint, also if its directory is deleted as soon as it was reported:
    one in the trial's directory dir is moved, any other one is copied there."""
    path = str(Path(checkpoint).absolute())
    path.encode()  # a message can carry no other path; the author gets the error
    if os.path.basename(path).startswith(_PREFIX) or not (os.path.isdir(path) and os.path.isdir(dir)):
        return path  # kept already, or the host says what is wrong
    kept = tempfile.mkdtemp(prefix=_PREFIX, dir=dir)
    try:
        if Path(dir).resolve() in Path(path).resolve().parents:
            os.rename(path, kept)
        else:
            shutil.copytree(path, kept, symlinks=True, dirs_exist_ok=True)
    except BaseException:
        shutil.rmtree(kept, ignore_errors=True)
        raise
    return kept
