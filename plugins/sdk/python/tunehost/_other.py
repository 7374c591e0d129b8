"""Detects another project: tunehost on PyPI has a package and a command of the same name. This
project is tunehost-hpo on PyPI."""

from __future__ import annotations

import os
import sys
from typing import Iterator

_OURS = "Report to tunehost from Python scripts"  # summary of earlier versions of this project
_ENDS = (".dist-info", ".egg-info")


def refuse() -> None:
    """Raises ImportError if the other project is installed: one package has overwritten files of
    the other."""
    for found in _installed():
        if _theirs(found):
            pip = f"{sys.executable} -m pip"
            raise ImportError(
                f'another project named "tunehost" is installed ({found}) and conflicts with tunehost-hpo: '
                f"run  {pip} uninstall tunehost tunehost-hpo && {pip} install tunehost-hpo")


def _installed() -> Iterator[str]:
    """Finds installed distributions of that name. importlib.metadata would take ten times as long."""
    for dir in sys.path:
        try:
            names = os.listdir(dir or ".")
        except OSError:
            continue
        for name in names:
            if name.startswith(("tunehost-", "tunehost.")) and name.endswith(_ENDS):
                yield os.path.join(dir, name)


def _theirs(path: str) -> bool:
    for file in (os.path.join(path, "METADATA"), os.path.join(path, "PKG-INFO")):
        try:
            with open(file, encoding="utf-8", errors="replace") as f:
                text = f.read()
                return "\nName: tunehost\n" in text and f"\nSummary: {_OURS}" not in text
        except OSError:
            pass
    return False  # without metadata it is not an installed project
