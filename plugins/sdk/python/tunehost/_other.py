"""Another project on PyPI has the name tunehost, and a package and a command of that name. Ours is
tunehost-hpo there."""

from __future__ import annotations

import os
import sys
from typing import Iterator

_OURS = "Report to tunehost from Python scripts"  # earlier versions had the name
_ENDS = (".dist-info", ".egg-info")


def refuse() -> None:
    """Raises ImportError where the other project is installed: it has overwritten files of this
    package, or this one has overwritten its."""
    for found in _installed():
        if _theirs(found):
            pip = f"{sys.executable} -m pip"
            raise ImportError(
                f'another project named "tunehost" is installed ({found}) and mixed up with this one, tunehost-hpo: '
                f"run  {pip} uninstall tunehost tunehost-hpo && {pip} install tunehost-hpo")


def _installed() -> Iterator[str]:
    """What is installed under that name. importlib.metadata would take ten times as long."""
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
    return False  # what has no metadata is no installed project
