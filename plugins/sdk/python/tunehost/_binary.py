"""Finds and starts the program tunehost, which a platform wheel contains."""

from __future__ import annotations

import os
import shutil
import site
import sys
import sysconfig
from typing import Iterator, List, NoReturn, Optional

_VARIABLE = "TUNEHOST_BINARY"
_NAME = "tunehost"


class NotFound(RuntimeError):
    """The program is not there; the message says what to do."""


def find() -> str:
    """The path of the program: that of TUNEHOST_BINARY, of this package's wheel, or on the PATH."""
    named = os.environ.get(_VARIABLE)
    if named:
        if not _runs(named):
            raise NotFound(f"{_VARIABLE} is {named}, which is no program: name the path of the program tunehost")
        return os.path.abspath(named)
    for path in _installed():
        if _runs(path):
            return path
    found = shutil.which(_NAME)
    if found and _is_binary(found):
        return os.path.abspath(found)
    raise NotFound(
        "the program tunehost is not installed: run  pip install tunehost-hpo  for a wheel that contains it, or "
        f"`go install ./cmd/tunehost` in a checkout, or set {_VARIABLE} to its path"
    )


def run(arguments: List[str]) -> NoReturn:
    """Becomes the program."""
    try:
        path = find()
    except NotFound as e:
        sys.exit(f"tunehost: {e}")
    os.execv(path, [_NAME, *arguments])


def _installed() -> Iterator[str]:
    """Where pip puts the program of the wheel: beside the package that is imported."""
    package = os.path.dirname(os.path.abspath(__file__))
    for dir in (
        _scripts_of(package),
        os.path.join(os.path.dirname(package), "bin"),
    ):  # the latter with pip install --target
        if dir:
            yield os.path.join(dir, _NAME)


def _scripts_of(package: str) -> Optional[str]:
    """The folder of programs that belongs to the folder of packages."""
    library = os.path.dirname(package)
    if library == sysconfig.get_path("purelib") or library == sysconfig.get_path("platlib"):
        return sysconfig.get_path("scripts")
    if library == site.getusersitepackages():
        return sysconfig.get_path("scripts", f"{os.name}_user")
    return None


def _runs(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK) and _is_binary(path)


def _is_binary(path: str) -> bool:
    """Whether a file is no script: another project's command of this name is one."""
    try:
        with open(path, "rb") as f:
            return f.read(2) != b"#!"
    except OSError:
        return False
