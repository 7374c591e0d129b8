"""Hands objects of the user to the processes that run them: schedulers, searchers and stoppers."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any, List, Mapping

from . import _nested, _payload, _values
from ._plugin import SERVED
from ._yaml import to_yaml

EVENTS = "events.jsonl"  #: what a reporter writes for callbacks: a line for each event

_KINDS = {"scheduler": "scheduler", "stopper": "scheduler", "searcher": "searcher"}

SERVE = """# Starts {what}, with the sys.path of the script that began the experiment.
import sys

with open({path}, encoding="utf-8") as f:
    paths = f.read().splitlines()
sys.path[:] = [*paths, *(p for p in sys.path[1:] if p not in paths)]

from tunehost.tune.{module} import main

main(sys.argv[1:])
"""


def trainer() -> str:
    """The program that trains."""
    return SERVE.format(what="the process that trains", path='sys.argv[1] + "/path.txt"', module="_worker")


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
        _payload._replace(place / "serve.py", text.encode())
        manifest = {
            "kind": _KINDS[name],
            "name": f"python-{name}",
            "version": "1.0.0",
            "command": [sys.executable, "serve.py", str(place)],
            "env": environment(),
        }
        _payload._replace(place / "plugin.yaml", to_yaml(manifest).encode())


def write_feed(folder: Path) -> None:
    """Writes the folder of the reporter that feeds callbacks."""
    place = folder / "callbacks"
    place.mkdir(0o700, exist_ok=True)
    (folder / "state").mkdir(0o700, exist_ok=True)
    text = SERVE.format(
        what="the reporter that feeds callbacks", path='sys.argv[1] + "/../path.txt"', module="_feed"
    )
    _payload._replace(place / "serve.py", text.encode())
    manifest = {
        "kind": "reporter",
        "name": "python-callbacks",
        "version": "1.0.0",
        "command": [sys.executable, "serve.py", str(place)],
        "env": environment(),
    }
    _payload._replace(place / "plugin.yaml", to_yaml(manifest).encode())


def placed(value: Any, folder: str) -> Any:
    """Keys of an experiment file with the paths of the folders."""
    if isinstance(value, str) and value.startswith(SERVED):
        return os.path.join(folder, value[len(SERVED) :])
    if isinstance(value, dict):
        return {k: placed(v, folder) for k, v in value.items()}
    if isinstance(value, list):
        return [placed(v, folder) for v in value]
    return value


def take_back(folder: Path, objects: Mapping[str, Any]) -> None:
    """Gives the user's objects the state that they had at the end."""
    from ._served import final, late

    for name, value in objects.items():
        file = final(folder, name)
        if file.exists():
            found = _payload.load(file)
            if type(found).__name__ == type(value).__name__:
                getattr(value, "take_back", vars(value).update)(vars(found))
    if getattr(objects.get("searcher"), "tells_late", False) and late(folder).exists():
        try:
            _tell_late(folder.parent, objects["searcher"], _payload.load(late(folder)))
        except Exception as e:  # the results are there, whatever the searcher makes of them
            print(f"tunehost: the searcher fails with the last results: {type(e).__name__}: {e}", file=sys.stderr)


def without_effect(folder: Path) -> str:
    """What the scheduler warned of: that it decides nothing."""
    from ._served import final

    file = final(folder, "scheduler")
    return getattr(_payload.load(file), "without_effect", "") if file.exists() else ""


def _tell_late(dir: Path, searcher: Any, told: Mapping[int, int]) -> None:
    """Tells a searcher of results that came after its last suggestion: no more were asked of it."""
    from .result_grid import ResultGrid

    for result in ResultGrid(str(dir)):
        number, state = result._trial["number"], result._trial["state"]
        if number not in told or state not in ("TERMINATED", "ERROR"):
            continue
        results = [dict(_nested.flat({k: v for k, v in r.items() if k != "config"})) for r in result.results]
        for one in results:
            if one["training_iteration"] > told[number]:
                searcher.on_trial_result(result.trial_id, {**one, "config": result.config})
        failed = state == "ERROR"
        last = {**results[-1], "config": result.config, "done": True} if results and not failed else None
        searcher.on_trial_complete(result.trial_id, result=last, error=failed)


