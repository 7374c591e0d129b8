"""What the log of an experiment has, for those who see nothing else of it."""

from __future__ import annotations

import re
from pathlib import Path

from .. import _metrics

_FILE = "host.log"
_LEFT_OUT = re.compile(rf"\[WARN\]\s+tunehost: (.*{re.escape(_metrics.LEFT_OUT)}.*)")


def size(dir: Path) -> int:
    """How long the log of an experiment is now."""
    file = dir / _FILE
    return file.stat().st_size if file.is_file() else 0


def left_out(dir: Path, begin: int) -> str:
    """The first warning since then about values that were too long for a report."""
    file = dir / _FILE
    if not file.is_file():
        return ""
    with open(file, encoding="utf-8", errors="replace") as f:
        f.seek(begin)
        return next((found[1] for found in map(_LEFT_OUT.search, f) if found), "")
