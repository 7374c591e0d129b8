"""Writes experiment files and manifests of plugins."""

from __future__ import annotations

import json
from typing import Any, Dict, Mapping

from .._plain import plain
from .error import TuneError


def to_yaml(keys: Mapping[str, Any]) -> str:
    """YAML with a line for each key, and for each parameter of the space."""
    lines = []
    for key, value in keys.items():
        if key in ("space", "points") and value:
            lines.append(f"{key}:")
            entries = value.items() if isinstance(value, dict) else None
            lines += (
                [f"  {_scalar(k)}: {_scalar(v)}" for k, v in entries]
                if entries
                else [f"  - {_scalar(v)}" for v in value]
            )
        else:
            lines.append(f"{key}: {_scalar(value)}")
    return "\n".join(lines) + "\n"


def parts(text: str) -> Dict[str, str]:
    """The lines of each key of such a file."""
    found: Dict[str, str] = {}
    key = ""
    for line in text.split("\n"):
        key = line.partition(":")[0] if line[:1].isalpha() else key
        found[key] = f"{found.get(key, '')}{line}\n"
    return found


def _scalar(value: Any) -> str:
    """A value in one line. Names without quotes where YAML reads them as text."""
    return json.dumps(value, ensure_ascii=False, default=plain(TuneError))
