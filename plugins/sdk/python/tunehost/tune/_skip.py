"""Which trials of an experiment go on when it is restored. One that does not ends as soon as it starts. One that begins
again is a new trial with the same parameters, as in Ray; the old one stays in the record, and is none of the results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Collection, List, NamedTuple, Set

from .. import _view

_FILE = Path("state", "skip.json")  #: in the folder `tune` of the experiment
_REPLACED = Path("state", "replaced.json")
RESUME, RESTART, SKIP = "resume", "restart", "skip"


class GoesOn(NamedTuple):
    """What becomes of the trials of an experiment that continues: RESUME, RESTART or SKIP."""

    finished: str = SKIP
    unfinished: str = RESUME
    failed: str = SKIP


def prepare(folder: Path, wanted: GoesOn) -> List[str]:
    """Prepares what becomes of trials, and returns the flags of the program for it."""
    finished, unfinished, failed = wanted
    dir = str(folder.parent)
    old = replaced(dir)
    trials = [t for t in _view.lines("trials", dir) if t["number"] not in old]
    over = [t for t in trials if t["state"] == "TERMINATED"]
    left = [t for t in trials if t["state"] not in ("TERMINATED", "ERROR")]
    begun = [t for t in left if t.get("iteration")]  # the others begin anyway
    again = [*(over if finished == RESTART else ()), *(begun if unfinished == RESTART else ())]
    onward = over if finished == RESUME else []
    write(folder, [t["number"] for t in (left if unfinished == SKIP else begun if unfinished == RESTART else ())])
    _save(folder / _REPLACED, old | {t["number"] for t in [*again, *onward]})
    flags = ["--errored"] if failed == RESTART else []
    for trial in trials if failed == RESUME else ():
        flags += ["--retry", str(trial["number"])] if trial["state"] == "ERROR" else []
    for trial in again:
        flags += ["--copy", str(trial["number"])]
    for trial in onward:
        flags += ["--clone" if trial.get("checkpoint") else "--copy", str(trial["number"])]
    return flags


def replaced(dir: str) -> Set[int]:
    """The numbers of the trials that new ones have replaced."""
    return _read(Path(dir, "tune") / _REPLACED)


def write(folder: Path, numbers: Collection[int]) -> None:
    """Skips trials by their numbers, and no others."""
    _save(folder / _FILE, numbers)


def read(folder: Path) -> Set[int]:
    """The numbers of the trials that are skipped."""
    return _read(folder / _FILE)


def _save(file: Path, numbers: Collection[int]) -> None:
    if numbers or file.exists():
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(sorted(numbers)), encoding="utf-8")


def _read(file: Path) -> Set[int]:
    try:
        return set(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return set()
