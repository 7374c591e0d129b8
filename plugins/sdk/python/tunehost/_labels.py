"""The values of choices that the record has as texts, since one of them is no value of JSON. A file of the experiment has
the others with their types, for who reads it and runs nothing of the script."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Tuple

if TYPE_CHECKING:
    from .tune._encode import Group

__all__ = ["read", "typed", "write"]

_FILE = ".values.json"
_MOST_BYTES = 1 << 20

Values = Dict[str, Dict[str, Any]]  # of the parameters by their whole names, by their texts


def write(dir: "str | os.PathLike[str]", plan: Group) -> None:
    """Writes the file of an experiment into its directory, or its folder of tunehost.tune, if it needs one."""
    found = {"/".join(path): {text: value for text, value in pairs} for path, pairs in _texts(plan)}
    text = json.dumps({name: values for name, values in found.items() if values})
    if text != "{}" and len(text) <= _MOST_BYTES:
        Path(dir, _FILE).write_text(text, encoding="utf-8")


def read(dir: str) -> Values:
    """The values of an experiment; none if it has no file."""
    try:
        found = json.loads(_file(dir).read_text(encoding="utf-8"))
        return {name: {text: _decoded(value) for text, value in values.items()} for name, values in found.items()}
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        return {}


def _file(dir: str) -> Path:
    """The file of tunehost.tune is in its folder, that of ask and tell is not."""
    of_tune = Path(dir, "tune", _FILE)
    return of_tune if of_tune.exists() else Path(dir, _FILE)


def typed(params: Mapping[str, Any], values: Values, prefix: str = "") -> Dict[str, Any]:
    """Parameters of the record with the values that they stand for."""
    found: Dict[str, Any] = {}
    for key, value in params.items():
        name = prefix + key
        if isinstance(value, dict):
            found[key] = typed(value, values, name + "/")
        else:
            found[key] = values[name].get(value, value) if isinstance(value, str) and name in values else value
    return found


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
    return float(content) if kind == "float" else content
