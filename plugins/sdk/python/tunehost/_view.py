"""Reads experiments through the program's JSON."""

from __future__ import annotations

import json
import subprocess
from typing import Any, Dict, List

from . import _binary


class ReadError(RuntimeError):
    """The experiment could not be read; the message is tunehost's."""


def lines(command: str, dir: str, *flags: str) -> List[Dict[str, Any]]:
    """The lines that `tunehost COMMAND DIR --json` prints."""
    done = subprocess.run(
        [_binary.find(), command, dir, *flags, "--json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        message = done.stderr.strip()
        raise ReadError(message[len("tunehost: ") :] if message.startswith("tunehost: ") else message)
    return [json.loads(line) for line in done.stdout.splitlines() if line]


_NUMBERS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def number(value: Any) -> Any:
    """A value as the program writes it: numbers that JSON lacks are texts."""
    return _NUMBERS.get(value, value) if isinstance(value, str) else value
