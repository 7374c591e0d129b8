"""Hands objects of the user to the processes that run them: schedulers, searchers and stoppers."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any, List, Mapping

from . import _payload, _values
from ._plugin import SERVED
from ._yaml import to_yaml

EVENTS = "events.jsonl"  #: what a reporter writes for callbacks: a line for each event

_KINDS = {"scheduler": "scheduler", "stopper": "scheduler", "searcher": "searcher"}

SERVE = """# Starts {what}, with the sys.path of the script that began the experiment.
import sys

if __name__ == "__main__":
    with open({path}, encoding="utf-8") as f:
        paths = f.read().splitlines()
    sys.path[:] = [*paths, *(p for p in sys.path[1:] if p not in paths)]

    from tunehost.tune.{module} import main

    main(sys.argv[1:])
"""

#: A process that multiprocessing spawns from a trial imports the program, too. It finds functions and classes of the script
#: in the place of the script.
SPAWNED = """

def __getattr__(name):
    from tunehost.tune._payload import of_script

    return of_script(name)
"""


def trainer() -> str:
    """The program that trains."""
    return SERVE.format(what="the process that trains", path='sys.argv[1] + "/path.txt"', module="_worker") + SPAWNED


def environment() -> List[str]:
    """The variables that a plugin gets: the whole environment, as the script's own process has it."""
    return sorted(
        {
            n
            for n in (*os.environ, "PYTHONPATH")
            if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", n) and not n.startswith(("TUNEHOST_", "PLUGIN_"))
        }
    )


def write(folder: Path, objects: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    """Writes a folder for each object into the folder `tune` of the experiment."""
    if not objects:
        return
    _values.prepare(folder)
    _payload.dump(folder / "facts.pkl", dict(facts), "the request of the trials")
    for name, value in objects.items():
        place = folder / name
        place.mkdir(0o700, exist_ok=True)
        _payload.dump(place / "object.pkl", value, f"the {name} {type(value).__name__}")
        what = f"the user's {name}"
        text = SERVE.format(what=what, path='sys.argv[1] + "/../path.txt"', module="_served")
        _payload.replace(place / "serve.py", text.encode())
        manifest = {
            "kind": _KINDS[name],
            "name": f"python-{name}",
            "version": "1.0.0",
            "command": [sys.executable, "serve.py", str(place)],
            "env": environment(),
        }
        _payload.replace(place / "plugin.yaml", to_yaml(manifest).encode())


def write_feed(folder: Path) -> None:
    """Writes the folder of the reporter that feeds callbacks."""
    place = folder / "callbacks"
    place.mkdir(0o700, exist_ok=True)
    (folder / "state").mkdir(0o700, exist_ok=True)
    text = SERVE.format(
        what="the reporter that feeds callbacks", path='sys.argv[1] + "/../path.txt"', module="_feed"
    )
    _payload.replace(place / "serve.py", text.encode())
    manifest = {
        "kind": "reporter",
        "name": "python-callbacks",
        "version": "1.0.0",
        "command": [sys.executable, "serve.py", str(place)],
        "env": environment(),
    }
    _payload.replace(place / "plugin.yaml", to_yaml(manifest).encode())


def placed(value: Any, folder: str) -> Any:
    """Keys of an experiment file with the paths of the folders."""
    if isinstance(value, str) and value.startswith(SERVED):
        return os.path.join(folder, value[len(SERVED) :])
    if isinstance(value, dict):
        return {k: placed(v, folder) for k, v in value.items()}
    if isinstance(value, list):
        return [placed(v, folder) for v in value]
    return value


def take_back(folder: Path, objects: Mapping[str, Any]) -> List[str]:
    """Gives the user's objects the state that they had at the end. Returns a line for each that does not have it."""
    lines = [line for name, value in objects.items() for line in _take_back(folder, name, value)]
    if getattr(objects.get("searcher"), "tells_late", False):
        lines += _take_late(folder, objects["searcher"])
    return lines


def _take_back(folder: Path, name: str, value: Any) -> List[str]:
    """Gives one object the newest state that its process has left."""
    from ._served import ended, final

    file, end = final(folder, name), ended(folder, name)
    why = end.read_text(encoding="utf-8") if end.exists() else "its process ended before it had written it"
    try:
        came = file.exists() and _take(_payload.load(file), value)
    except Exception as e:  # the results are there, whatever becomes of the object
        came, why = False, why or f"{type(e).__name__}: {' '.join(str(e).split())}"
    if not why:
        return []
    then = "it has the one of a moment before" if came else "it is as it was before fit"
    return [f"the {name} {type(value).__name__} lacks its state at the end of the experiment ({why}): {then}"]


def _take(found: Any, value: Any) -> bool:
    """Gives an object the state of the one that came back."""
    if type(found).__name__ != type(value).__name__:
        raise TypeError(f"it came back as a {type(found).__name__}")
    getattr(value, "take_back", vars(value).update)(vars(found))
    return True


def _take_late(folder: Path, searcher: Any) -> List[str]:
    from ._late import tell
    from ._served import untold

    try:
        if untold(folder).exists():
            tell(folder.parent, searcher, _payload.load(untold(folder)))
    except Exception as e:  # the results are there, whatever the searcher makes of them
        return [f"the searcher fails with the last results: {type(e).__name__}: {e}"]
    return []


def without_effect(folder: Path) -> str:
    """What the scheduler warned of: that it decides nothing."""
    from ._served import final

    file = final(folder, "scheduler")
    return getattr(_payload.load(file), "without_effect", "") if file.exists() else ""
