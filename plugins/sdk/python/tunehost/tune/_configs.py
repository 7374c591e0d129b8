"""The configs with which the results of a trial were made. A scheduler may let a trial continue with other parameters:
each of its attempts has its own."""

from __future__ import annotations

import pickle
from functools import cached_property
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Tuple

from .. import _view
from . import _payload

_LAST = "params.pkl"  #: the config of the newest attempt, in the directory of a trial
_EARLIER = "configs.pkl"  #: those before it: pairs of an attempt and the config of the attempts before that one


class Record:
    """The parameters in the record of an experiment. It is read when somebody asks, and once."""

    def __init__(self, experiment: str) -> None:
        self._experiment = experiment

    @cached_property
    def _stretches(self) -> Dict[int, List[Dict[str, Any]]]:
        """The stretches of each trial in which its parameters were the same, in their order."""
        found: Dict[int, List[Dict[str, Any]]] = {}
        for stretch in _view.lines("lineage", self._experiment):
            found.setdefault(stretch["number"], []).append(stretch)
        return found

    def params(self, trial: int, iteration: int) -> Optional[Mapping[str, Any]]:
        """The parameters of a result; None if the record had none of it when it was read."""
        for stretch in reversed(self._stretches.get(trial, [])):
            if stretch["from"] < iteration <= stretch["to"]:
                found: Mapping[str, Any] = stretch["params"]
                return found
        return None


def keep(dir: Path, config: Mapping[str, Any], attempt: int) -> None:
    """Keeps a config that cannot be derived from the record, and the one before it."""
    new, last = _payload.pickled(config, "the config"), dir / _LAST
    before = last.read_bytes() if last.exists() else new
    if before != new:
        _payload.replace(dir / _EARLIER, pickle.dumps([*_earlier(dir), (attempt, before)]))
    _payload.replace(last, new)


def keeps(dir: Path) -> bool:
    """Whether keep has kept a config."""
    return (dir / _LAST).exists()


def kept(dir: Path, attempt: Optional[int] = None) -> Optional[Dict[str, Any]]:
    """The config of an attempt, by default the newest one, as keep has kept it; None if it has kept none. It is
    unpickled."""
    if not keeps(dir):
        return None
    earlier = (content for end, content in _earlier(dir) if attempt is not None and attempt < end)
    found: Dict[str, Any] = pickle.loads(next(earlier, None) or (dir / _LAST).read_bytes())
    return found


def _earlier(dir: Path) -> List[Tuple[int, bytes]]:
    file = dir / _EARLIER
    found: List[Tuple[int, bytes]] = pickle.loads(file.read_bytes()) if file.exists() else []
    return found
