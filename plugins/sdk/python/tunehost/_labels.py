"""What the record has in another form than Python: values of choices as texts, since one of them is no value of JSON, and
lists of parameters as groups. Files of the experiment have them, for who reads it and runs nothing of the script."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple

if TYPE_CHECKING:
    from .tune._encode import Group

__all__ = ["read", "typed", "write"]

_FILE = ".values.json"
_LISTS = ".lists.json"
_MOST_BYTES = 1 << 20


class Values(NamedTuple):
    """The files of an experiment; both are by the whole names of parameters and groups."""

    texts: Dict[str, Dict[str, Any]] = {}  #: the values that texts stand for
    lists: Dict[str, Any] = {}  #: the kinds and lengths of lists


def write(dir: "str | os.PathLike[str]", plan: Group) -> None:
    """Writes the files of an experiment into its directory, or its folder of tunehost.tune, if it needs them."""
    texts = {"/".join(path): {text: value for text, value in pairs} for path, pairs in _texts(plan)}
    _write(Path(dir, _FILE), {name: values for name, values in texts.items() if values})
    _write(Path(dir, _LISTS), dict(_lists(plan)))


def _write(file: Path, content: Dict[str, Any]) -> None:
    text = json.dumps(content)
    if content and len(text) <= _MOST_BYTES:
        file.write_text(text, encoding="utf-8")


def read(dir: str) -> Values:
    """The values of an experiment; none if it has no files."""
    texts, lists = _read(dir, _FILE), _read(dir, _LISTS)
    try:
        decoded = {name: {text: _decoded(value) for text, value in values.items()} for name, values in texts.items()}
    except (ValueError, TypeError, AttributeError, KeyError):
        decoded = {}
    return Values(decoded, lists)


def _read(dir: str, name: str) -> Dict[str, Any]:
    """The files of tunehost.tune are in its folder, those of ask and tell are not."""
    of_tune = Path(dir, "tune", name)
    try:
        found = json.loads((of_tune if of_tune.exists() else Path(dir, name)).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def typed(params: Mapping[str, Any], values: Values, prefix: str = "") -> Dict[str, Any]:
    """Parameters of the record with the values that they stand for."""
    found: Dict[str, Any] = {}
    for key, value in params.items():
        name = prefix + key
        if isinstance(value, dict):
            found[key] = _listed(typed(value, values, name + "/"), values.lists.get(name))
        elif isinstance(value, str) and name in values.texts:
            found[key] = values.texts[name].get(value, value)
        else:
            found[key] = value
    return found


def _listed(group: Dict[str, Any], form: Any) -> Any:
    """A group as the list or tuple that it stands for. One with a member that JSON does not have stays as it is."""
    if not isinstance(form, list) or form[1:] != [len(group)] or any(str(i) not in group for i in range(len(group))):
        return group
    members = [group[str(i)] for i in range(len(group))]
    return tuple(members) if form[0] == "tuple" else members


def _lists(plan: Group) -> Iterator[Tuple[str, Any]]:
    """The lists and tuples that contain parameters."""
    from .tune._encode import Listed, all_of

    for node in all_of(plan):
        if isinstance(node, Listed):
            yield "/".join(node.path), [node.kind.__name__, len(node.members)]


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
