"""Trials that do not go on when an experiment is restored: they end as soon as they start."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Collection, Set

from .. import _view

_FILE = Path("state", "skip.json")  #: in the folder `tune` of the experiment


def unfinished(folder: Path) -> None:
    """Skips all trials that have not ended."""
    left = [t["number"] for t in _view.lines("trials", str(folder.parent)) if t["state"] not in ("TERMINATED", "ERROR")]
    write(folder, left)


def write(folder: Path, numbers: Collection[int]) -> None:
    """Skips trials by their numbers, and no others."""
    if numbers or (folder / _FILE).exists():
        (folder / _FILE).parent.mkdir(exist_ok=True)
        (folder / _FILE).write_text(json.dumps(sorted(numbers)), encoding="utf-8")


def read(folder: Path) -> Set[int]:
    """The numbers of the trials that are skipped."""
    try:
        return set(json.loads((folder / _FILE).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return set()
