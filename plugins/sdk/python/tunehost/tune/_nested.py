"""Nested metrics. The record has their names joined with "/"; which of them were dicts is kept beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Collection, Dict, FrozenSet, Iterator, Tuple

from . import _trust

_FILE = "nested.json"  #: in the directory of a trial


def flat(values: Mapping[Any, Any], prefix: str = "") -> Iterator[Tuple[str, Any]]:
    """The members of a dict, nested names joined with "/"."""
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from flat(value, f"{prefix}{key}/")
        else:
            yield f"{prefix}{key}", value


def nested(values: Mapping[str, Any], groups: Collection[str]) -> Dict[str, Any]:
    """The opposite, for the names of dicts in groups."""
    if not groups:
        return dict(values)
    found: Dict[str, Any] = {}
    for name, value in values.items():
        place, rest = _place(found, name, groups)
        place[rest] = value
    return found


def _place(found: Dict[str, Any], name: str, groups: Collection[str]) -> Tuple[Dict[str, Any], str]:
    """The dict that has the value of a name, and its key there."""
    begin = 0
    for end, letter in enumerate(name):
        if letter == "/" and name[:end] in groups:
            found = found.setdefault(name[begin:end], {})
            begin = end + 1
    return found, name[begin:]


def dicts(values: Mapping[Any, Any], prefix: str = "") -> Iterator[str]:
    """The joined names of all dicts in a dict."""
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield f"{prefix}{key}"
            yield from dicts(value, f"{prefix}{key}/")


def groups(dir: Any) -> FrozenSet[str]:
    """Which metrics of a trial were dicts."""
    try:
        with _trust.opened(os.path.join(dir or "", _FILE)) as f:
            return frozenset(json.load(f))
    except (FileNotFoundError, NotADirectoryError):
        return frozenset()


def remember(dir: Any, more: Collection[str]) -> None:
    """Keeps that metrics of a trial are dicts, before they are reported."""
    new = f"{os.path.join(dir, _FILE)}.new"
    with open(new, "w", encoding="utf-8") as f:
        json.dump(sorted({*groups(dir), *more}), f)
    os.replace(new, os.path.join(dir, _FILE))
