"""What the log of an experiment has, for those who see nothing else of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import List

from .. import _metrics

_FILE = "host.log"
_WARNING = re.compile(r"\[WARN\]\s+tunehost: (.*)")
#: Settings that change nothing. Those of checkpoints that nobody makes the program says in any case.
_IGNORED = re.compile(
    r": the change of \S+ is ignored: |: (?!checkpoint\.(?:every|at_end) )\S+ has no effect: .*: leave it out$"
)


def size(dir: Path) -> int:
    """How long the log of an experiment is now."""
    file = dir / _FILE
    return file.stat().st_size if file.is_file() else 0


def warnings(dir: Path, begin: int) -> List[str]:
    """The warnings since then that nobody may miss: about settings that change nothing, and the first about values that
    were too long for a report."""
    file = dir / _FILE
    if not file.is_file():
        return []
    with open(file, encoding="utf-8", errors="replace") as f:
        f.seek(begin)
        said = [found[1] for found in map(_WARNING.search, f) if found]
    left_out = [text for text in said if _metrics.LEFT_OUT in text]
    return [text for text in said if _IGNORED.search(text)] + left_out[:1]
