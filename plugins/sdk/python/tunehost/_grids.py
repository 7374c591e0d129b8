"""How often the combinations of grids are tried, where the user says how many trials there are in all. An experiment file
and TuneConfig say the former."""

from __future__ import annotations

import json
import math
import re
import warnings
from pathlib import Path
from typing import Any, Optional

__all__ = ["rounds"]

_BEGUN = re.compile(r"^trials: (-?\d+)$", re.MULTILINE)


def rounds(trials: Optional[int], space: Any, otherwise: int, dir: str = "", filtered: bool = False, level: int = 3) -> int:
    """What trials is in the experiment file. None: each combination once if a space has only grids, else otherwise. An
    experiment that exists in dir keeps the number of a time when trials was how often each combination is tried.
    filtered: some combinations are not tried. Warns where there are not as many trials as the user says;
    level is that of the warning."""
    if trials is None and _only_grids(space):
        return 1
    trials, combinations = otherwise if trials is None else trials, _combinations(space)
    if trials < 0 or combinations == 1:
        return trials
    if trials == _begun(dir):
        found = trials
        why = f"the experiment has begun with as many for each of the {combinations} combinations of its grids"
    else:
        found = max(1, trials // combinations)
        why = f"the grids have {combinations} combinations"
    if found * combinations != trials and not filtered:
        often = "once" if found == 1 else f"{found} times"
        warnings.warn(
            f"trials={trials} makes {found * combinations} trials: {why}, and each is tried {often}", stacklevel=level
        )
    return found


def _combinations(space: Any) -> int:
    """How many combinations the grids of a space have; 1: it has none."""
    from .tune._encode import is_grid

    if is_grid(space):
        return len(space["grid_search"])
    return math.prod(_combinations(part) for part in _parts(space))


def _only_grids(space: Any) -> bool:
    return _has_grid(space) and not _others(space)


def _has_grid(space: Any) -> bool:
    from .tune._encode import is_grid

    return is_grid(space) or any(map(_has_grid, _parts(space)))


def _others(space: Any) -> bool:
    """Whether something else than a grid varies in a space."""
    from .tune._encode import is_grid, varies
    from .tune.sample import Function

    if is_grid(space):
        return any(varies(value) for value in space["grid_search"])
    parts = _parts(space)
    return any(map(_others, parts)) if parts else isinstance(space, Function) or varies(space)


def _parts(space: Any) -> Any:
    if isinstance(space, dict):
        return list(space.values())
    return space if isinstance(space, (list, tuple)) else ()


def _begun(dir: str) -> Optional[int]:
    """The number in the file of an experiment that exists. None: there is none, or it is damaged, which the program says."""
    try:
        text = Path(dir, "experiment.yaml").read_text(encoding="utf-8")
        begun: Optional[int] = json.loads(text).get("trials") if text.startswith("{") else _written(text)
        return begun
    except (OSError, ValueError, RecursionError):
        return None


def _written(text: str) -> Optional[int]:
    """The number in a file of lines."""
    found = _BEGUN.search(text)
    return int(found[1]) if found else None
