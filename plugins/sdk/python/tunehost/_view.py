"""Reads experiments through the program's JSON."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Mapping, Optional

from . import _binary, _integers, _words

#: A parameter beside the user's: the number of a file with values that a searcher or an explore function of the user
#: has made, and that the space does not have. 0: there is none.
SUGGESTION = "_suggestion"


class ReadError(RuntimeError):
    """The experiment could not be read; the message is tunehost's."""


def lines(command: str, dir: str, *flags: str) -> List[Dict[str, Any]]:
    """The lines that `tunehost COMMAND DIR --json` prints."""
    import subprocess  # not for the process of trials, which only uses names of this module

    done = subprocess.run(
        [_binary.find(), command, dir, *flags, "--json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ReadError(_words.advised(done.stderr.strip().removeprefix("tunehost: ")))
    return [_integers.loads(line) for line in done.stdout.splitlines() if line]


def trial_dir(experiment: str, number: int) -> Optional[str]:
    """The directory of a trial, if it exists."""
    import glob

    found = glob.glob(os.path.join(glob.escape(experiment), "trials", f"{number:05d}_*"))
    return found[0] if found else None


def suggests(experiment: str) -> bool:
    """Whether this package has added SUGGESTION to an experiment. In any other one a parameter of that name is the
    user's."""
    return os.path.isdir(os.path.join(experiment, "tune", "suggestions"))


def own(params: Mapping[str, Any], suggested: bool = False) -> Dict[str, Any]:
    """Parameters as the space has them: without SUGGESTION if this package has added it, and with a value of a choice that
    contains parameters in the place of its label. These are in a group of their own: the third value of `model` in
    `model_2/it`."""
    found = {k: _own(v) for k, v in params.items() if not suggested or k != SUGGESTION}
    for name, value in list(found.items()):
        if isinstance(value, dict) and list(value) == ["it"]:
            choice, _, number = name.rstrip("_").rpartition("_")
            if choice in found and number.isdigit():
                found[choice] = value["it"]
                del found[name]
    return found


def _own(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_own(one) for one in value)
    return own(value) if isinstance(value, dict) else value
