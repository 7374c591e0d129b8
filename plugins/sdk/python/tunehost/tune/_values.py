"""Results as they were reported, for schedulers, searchers and stoppers of the user: events have only their numbers.
Each trial writes its own into a file, before it reports them."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Tuple

from . import _payload

_FOLDER = Path("state", "values")  #: in the folder `tune` of the experiment

Place = Tuple[int, int]
"""The attempt and the iteration of a result."""


def prepare(folder: Path) -> None:
    """Makes the place for the results of an experiment."""
    (folder / _FOLDER).mkdir(parents=True, exist_ok=True)


def keep(folder: Path, trial: int, place: Place, metrics: Mapping[str, Any]) -> None:
    """Writes a result, if somebody wants to know, that has more than floats, which is what events have, or is of a further
    attempt: there are no events of the iterations that were known before."""
    if place[0] == 1 and all(type(v) is float for v in metrics.values()) or not (folder / _FOLDER).is_dir():
        return
    record = _payload.pickled((place, dict(metrics)), "a result")
    with open(folder / _FOLDER / f"{trial}.pkl", "ab") as f:
        f.write(len(record).to_bytes(8, "little") + record)
        f.flush()


class Reader:
    """Reads what the trials have written. It can be pickled."""

    def __init__(self) -> None:
        self._at: Dict[int, int] = {}  # bytes of the file of a trial that were read
        self._known: Dict[Tuple[int, Place], bytes] = {}

    def of(self, folder: Path, trial: int, place: Place) -> Optional[Dict[str, Any]]:
        """A result as it was reported; None if it had only floats. Earlier ones of the trial are forgotten."""
        self._read(folder / _FOLDER / f"{trial}.pkl", trial)
        found = self._known.get((trial, place))
        for key in [k for k in self._known if k[0] == trial and k[1] < place]:
            del self._known[key]
        return None if found is None else dict(_payload.loads(found)[1])

    def _read(self, file: Path, trial: int) -> None:
        try:
            with open(file, "rb") as f:
                f.seek(self._at.get(trial, 0))
                while True:
                    size = int.from_bytes(f.read(8), "little")
                    record = f.read(size)
                    if not size or len(record) < size:
                        return
                    self._at[trial] = f.tell()
                    self._known[trial, pickle.loads(record)[0]] = record
        except FileNotFoundError:
            pass


def path(folder: Path, number: int, id: str) -> Optional[str]:
    """The directory of a trial; None if it does not exist yet."""
    trials = folder.parent / "trials"
    start = f"{number:05d}_{id}"
    try:
        names = [n for n in os.listdir(trials) if n == start or n.startswith(f"{start}_")]
    except FileNotFoundError:
        return None
    return str(trials / names[0]) if names else None
