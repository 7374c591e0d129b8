"""Paths that a user gives."""

from __future__ import annotations

import errno
import os
from typing import Union

_GONE = "the working directory was deleted: change into another one, or give a path that begins with /"


def absolute(path: Union[str, "os.PathLike[str]"]) -> str:
    """A path from the root on. FileNotFoundError: it begins in the working directory, which is gone."""
    path = os.path.expanduser(os.fspath(path))
    try:
        return os.path.abspath(path)
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, _GONE, path) from None
