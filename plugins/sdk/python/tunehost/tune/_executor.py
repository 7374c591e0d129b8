"""Where trials run, as an experiment file names it."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Mapping

from .. import _places
from .error import TuneError, Unsupported

_EXPECTED = 'expected the name of an executor, such as "slurm", or a dict such as {"plugin": "slurm", "partition": "gpu"}'


def keys(executor: Any) -> Dict[str, Any]:
    """The keys of an experiment file for what the user gave; none for None. The program knows the executors and their
    options. TuneError: it is no name and no dict."""
    if executor is None:
        return {}
    if isinstance(executor, str):
        return {"executor": _named(executor)}
    if not isinstance(executor, Mapping) or not all(isinstance(key, str) for key in executor):
        raise TuneError(f"executor is {executor!r:.60}: {_EXPECTED}")
    if executor.get("upload"):
        raise Unsupported(
            f"executor={{'upload': {executor['upload']!r:.60}}} is not supported: the nodes need this Python, its packages "
            "and the experiment's directory at the same paths, in a directory that they share"
        )
    found = {key: _named(value) if key == "plugin" else value for key, value in executor.items()}
    try:
        json.dumps(found)
    except (TypeError, ValueError) as e:
        says = "its options are texts, numbers, booleans, lists and dicts"
        raise TuneError(f"executor is {executor!r:.200}: {says}: {e}") from None
    return {"executor": found}


def _named(plugin: Any) -> Any:
    """A plugin; a path begins in the working directory, and not beside the experiment file."""
    return _places.absolute(plugin) if isinstance(plugin, str) and os.sep in plugin else plugin
