"""The values of choices that the record has as texts, since one of them is no value of JSON; the constants that it does
not have, for the same reason; and the lists of a space, which it has as groups. A file of the experiment has them with
their types, for who reads it and runs nothing of the script."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Tuple

if TYPE_CHECKING:
    from .tune._encode import Group, Node

__all__ = ["of", "read", "typed", "write"]

_FILE = ".values.json"
_MOST_BYTES = 1 << 20

# No parameters' names:
_LISTS = ""  #: has the whole names of lists, which are "list" or "tuple", and how many members these have
_CONSTANTS = "/"  #: has the whole names of constants that the record does not have

Values = Dict[str, Dict[str, Any]]  # of the parameters by their whole names, by their texts


def write(dir: "str | os.PathLike[str]", plan: Group) -> None:
    """Writes the file of an experiment into its directory, or its folder of tunehost.tune, if it needs one."""
    found = _file_of(plan)
    if len(json.dumps(found)) > _MOST_BYTES:
        found.pop(_CONSTANTS, None)
    text = json.dumps(found)
    if text != "{}" and len(text) <= _MOST_BYTES:
        Path(dir, _FILE).write_text(text, encoding="utf-8")


def of(plan: Group) -> Values:
    """The values of a plan, as read returns them."""
    return _read(_file_of(plan))


def _file_of(plan: Group) -> Dict[str, Dict[str, Any]]:
    """What the file has of a plan."""
    found = {"/".join(path): {text: value for text, value in pairs} for path, pairs in _texts(plan)}
    found[_LISTS] = {"/".join(path): {"is": kind} for path, kind in _lists(plan)}
    found[_CONSTANTS] = {"/".join(path): value for path, value in _constants(plan)}
    return {name: values for name, values in found.items() if values}


def read(dir: str) -> Values:
    """The values of an experiment; none if it has no file."""
    try:
        return _read(json.loads(_file(dir).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        return {}


def _read(found: Mapping[str, Mapping[str, Any]]) -> Values:
    return {name: {text: _decoded(value) for text, value in values.items()} for name, values in found.items()}


def _file(dir: str) -> Path:
    """The file of tunehost.tune is in its folder, that of ask and tell is not."""
    of_tune = Path(dir, "tune", _FILE)
    return of_tune if of_tune.exists() else Path(dir, _FILE)


def typed(params: Mapping[str, Any], values: Values, prefix: str = "") -> Dict[str, Any]:
    """Parameters of the record with the values that they stand for, and with the constants that it does not have."""
    found = {name[len(prefix) :]: v for name, v in values.get(_CONSTANTS, {}).items() if _is_in(name, prefix)}
    for key, value in params.items():
        name = prefix + key
        if isinstance(value, dict):
            found[key] = _as(values.get(_LISTS, {}).get(name), typed(value, values, name + "/"))
        else:
            found[key] = values[name].get(value, value) if isinstance(value, str) and name in values else value
    return found


def _is_in(name: str, prefix: str) -> bool:
    """Whether a whole name is that of a member of a group, and not of one in another group there."""
    return name.startswith(prefix) and "/" not in name[len(prefix) :]


def _as(listed_as: Any, members: Dict[str, Any]) -> Any:
    """The members of a group as a list or tuple, if they are one and none is missing."""
    if listed_as is None:
        return members
    kind, size = (listed_as, len(members)) if isinstance(listed_as, str) else listed_as  # earlier files have no size
    places = [str(i) for i in range(size)]
    if set(members) != set(places):
        return members
    listed = [members[place] for place in places]
    return tuple(listed) if kind == "tuple" else listed


def _constants(plan: Group) -> Iterator[Tuple[Tuple[str, ...], Any]]:
    """The constants that the record does not have; none where a function of the user may change them."""
    from .tune._encode import Constant, all_of

    for node in all_of(plan) if plan.suggestions is None else ():
        if isinstance(node, Constant) and node.beside:
            yield node.beside, _encoded(node.value) or _parts(node.value)


def _parts(value: Any) -> Dict[str, Any]:
    """A value for the file, with texts of the objects in it."""
    from .tune._encode import label_of

    if type(value) in (list, tuple):
        return {type(value).__name__: [_encoded(part) or _parts(part) for part in value]}
    if type(value) is dict:
        return {"dict": [[_encoded(key) or _parts(key), _encoded(one) or _parts(one)] for key, one in value.items()]}
    try:
        return {"is": label_of(value)}
    except Exception:  # its own __str__ fails
        return {"is": type(value).__name__}


def _lists(plan: Group) -> Iterator[Tuple[Tuple[str, ...], Tuple[str, int]]]:
    """The lists and tuples that contain parameters."""
    from .tune._encode import Listed, all_of

    for node in all_of(plan):
        path = _path(node) if isinstance(node, Listed) else None
        if path is not None and isinstance(node, Listed):
            yield path, ("tuple" if issubclass(node.kind, tuple) else "list", len(node.members))


def _path(node: Node) -> Optional[Tuple[str, ...]]:
    """Where a node is in the record; None if the record has nothing of it."""
    path = getattr(node, "path", None)
    if path:
        return tuple(path)
    inner = next((found for found in map(_path, node.children()) if found), None)
    return inner[:-1] if inner else None


def _texts(plan: Group) -> Iterator[Tuple[Tuple[str, ...], List[Tuple[str, Any]]]]:
    """The choices whose values are texts in the record, with those that JSON can tell."""
    from .tune._encode import Choice, Constant, all_of, same

    for node in all_of(plan):
        if isinstance(node, Choice):
            options = [(label, option.value) for label, option in node.pairs() if isinstance(option, Constant)]
            encoded = [(label, _encoded(value)) for label, value in options if not same(label, value)]
            yield node.path, [(label, value) for label, value in encoded if value is not None]


def _encoded(value: Any) -> Optional[Dict[str, Any]]:
    """A value for the file: one that JSON has, or lists, tuples and dicts of such; None for any other."""
    from .tune._encode import plain
    from .tune._native import native

    value = native(value)
    if plain(value):
        return {"is": value}
    if type(value) is float:
        return {"float": repr(value)}
    if type(value) in (list, tuple):
        parts = [_encoded(part) for part in value]
        return None if None in parts else {type(value).__name__: parts}
    return None


def _decoded(value: Dict[str, Any]) -> Any:
    (kind, content), = value.items()
    if kind in ("list", "tuple"):
        parts = [_decoded(part) for part in content]
        return tuple(parts) if kind == "tuple" else parts
    if kind == "dict":
        return {_decoded(key): _decoded(one) for key, one in content}
    return float(content) if kind == "float" else content
