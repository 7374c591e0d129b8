"""What the record of an experiment says that tunehost.tune has begun."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, Optional, Tuple


def objective(dir: str) -> Tuple[Optional[str], Optional[str]]:
    """The metric and mode of an experiment; (None, None) if the user gave none, or several."""
    found: Optional[Dict[str, str]] = _key(dir, "objective")
    if found is None or found["metric"] == "training_iteration":
        return None, None
    return found["metric"], found["mode"]


def checkpoints(dir: str) -> Dict[str, Any]:
    """Which checkpoints an experiment keeps: keep, score and mode, as far as they are given."""
    return _key(dir, "checkpoint") or {}


def _key(dir: str, name: str) -> Any:
    """A key of the experiment file that has one line; None if it is not there."""
    file = Path(dir, "tune", "experiment.yaml")
    for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
        if line.startswith(f"{name}: "):
            return json.loads(line[len(name) + 2 :])
    return None
