"""An experiment whose directory was renamed, moved or copied since it began. Its files name the place where it began,
and stay as they are, as it may move again: who reads them gets the paths as they are now."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Dict, List, Mapping, Optional, Tuple

from . import _payload
from ._yaml import parts
from .trial import Trial

_COMMAND = "command: "  #: the line of a plugin.yaml with the interpreter, the program and the place
_PLUGINS = ("trainable", "searcher", "scheduler", "stop", "reporters")  #: keys with paths in the folder `tune`


def begun(folder: Path) -> Path:
    """Where the folder `tune` of an experiment was when the experiment began; the same one if that is not known."""
    try:
        return Path(_command(folder / "plugin" / "plugin.yaml")[2])
    except (OSError, ValueError, IndexError, TypeError):
        return folder


def has_moved(folder: Path) -> bool:
    """Whether the folder is not where it was."""
    there = begun(folder)
    return not (there.exists() and there.samefile(folder))


def file(folder: Path) -> str:
    """The experiment file with the paths as they are now."""
    text, there = (folder / "experiment.yaml").read_text(encoding="utf-8"), begun(folder)
    if not has_moved(folder):
        return text
    was, now = (json.dumps(f"{dir}{os.sep}", ensure_ascii=False)[:-1] for dir in (there, folder))
    place = {"name": folder.parent.name, "storage": str(folder.parent.parent)}
    found = parts(text)
    for key in (key for key in _PLUGINS if key in found):
        found[key] = found[key].replace(was, now)
    for key in (key for key in place if key in found):
        found[key] = f"{key}: {json.dumps(place[key], ensure_ascii=False)}\n"
    return "".join(found.values()).rstrip("\n") + "\n"


def place(trial: Trial, experiment: Path) -> None:
    """Gives a trial the directory where it is now, with its checkpoint."""
    if trial.path is None:
        return
    now = str(experiment / "trials" / os.path.basename(trial.path))
    if trial.path == now or os.path.realpath(trial.path) == os.path.realpath(now):
        return
    if trial._checkpoint:
        trial._checkpoint = os.path.join(now, os.path.relpath(trial._checkpoint, trial.path))
    trial.path = now


def find_modules(folder: Path) -> None:
    """Has the modules of a project that was moved or copied as a whole, with its results, found where it is now."""
    there, here = _projects(folder)
    if there == here:
        return
    for at, path in reversed(list(enumerate(sys.path))):
        now = _within(path, there, here)
        if now and os.path.isdir(now) and now not in sys.path:
            sys.path.insert(at, now)


def _projects(folder: Path) -> Tuple[Path, Path]:
    """What was moved, and where it is: the folders above which all names differ."""
    there, here = begun(folder), folder
    while there.name == here.name != "":
        there, here = there.parent, here.parent
    return there, here


def _within(path: str, there: Path, here: Path) -> Optional[str]:
    try:
        return str(here / Path(path).relative_to(there))
    except ValueError:
        return None


def settle(folder: Path) -> List[str]:
    """Has an experiment run here that was moved or copied: by this interpreter, if its own is another one on this
    machine, or none. Returns the flags of the program."""
    if not has_moved(folder):
        return []
    _payload.add_path(folder)
    sums = _sums(folder.parent / "tunehost.lock")
    other = [_renewed(manifest) or _is_other(_command(manifest)[0], sums) for manifest in folder.glob("*/plugin.yaml")]
    return ["--accept-plugins"] if any(other) else []


def _renewed(manifest: Path) -> bool:
    """Replaces an interpreter that is not there."""
    command = _command(manifest)
    if os.access(command[0], os.X_OK):
        return False
    was, now = (json.dumps(path, ensure_ascii=False) for path in (command[0], sys.executable))
    _payload.replace(manifest, manifest.read_text(encoding="utf-8").replace(was, now, 1).encode())
    return True


def _is_other(interpreter: str, sums: Mapping[str, str]) -> bool:
    """Whether the interpreter is that of this process, and has changed since the experiment began."""
    if interpreter not in sums or not os.path.samefile(interpreter, sys.executable):
        return False
    return hashlib.sha256(Path(interpreter).read_bytes()).hexdigest() != sums[interpreter]


def _sums(lock: Path) -> Dict[str, str]:
    """The checksums of the files that the plugins of an experiment began with, where it says them."""
    try:
        plugins = json.loads(lock.read_bytes())["plugins"]
        return {name: sum for plugin in plugins for name, sum in plugin.get("files", {}).items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}  # the program says so


def _command(manifest: Path) -> List[str]:
    for line in manifest.read_text(encoding="utf-8").splitlines():
        if line.startswith(_COMMAND):
            found: List[str] = json.loads(line[len(_COMMAND) :])
            return found
    raise ValueError(f"{manifest} has no command")
