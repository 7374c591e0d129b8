"""What the record of an experiment says that tunehost.tune has begun."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Dict, Optional, Tuple


def objective(dir: str) -> Tuple[Optional[str], Optional[str]]:
    """The metric and mode of an experiment; (None, None) if the user gave none, or several."""
    file = Path(dir, "tune", "experiment.yaml")
    for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
        if line.startswith("objective: "):
            found: Dict[str, str] = json.loads(line[len("objective: ") :])
            return (None, None) if found["metric"] == "training_iteration" else (found["metric"], found["mode"])
    return None, None
