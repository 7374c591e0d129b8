"""Translates configs, and parts of them, into parameters of an experiment file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Dict, Iterable, Optional, Tuple

from ._encode import Choice, Computed, Constant, Group, Listed, Node, Parameter, Path, equal, looks, plain, said, same
from ._native import native
from .error import TuneError


def encode_point(plan: Group, point: Mapping[str, Any]) -> Dict[str, Any]:
    """The parameters of a point that the user wants to run, as an experiment file has them."""
    try:
        return _encode_point(plan, point)
    except _Inside as e:
        raise TuneError(str(e)) from None


def _encode_point(plan: Group, point: Mapping[str, Any]) -> Dict[str, Any]:
    found: Dict[str, Any] = {}
    for key, value in point.items():
        node = plan.members.get(key)
        if node is None:
            raise TuneError(f"points_to_evaluate: {key!r} is no parameter of the space; it has {_list(plan.members)}")
        _point(node, value, found)
    return found


def encode_points(plan: Group, points: Any) -> Any:
    """The points of a user. One that is no point of a param_space, and that JSON has, is left to the host: it may have
    the names and labels of the record, and the host says what it expects. TuneError: JSON does not have it."""
    if not isinstance(points, (list, tuple)) or not all(isinstance(point, Mapping) for point in points):
        return points
    return [_given_point(plan, point) for point in points]


def _given_point(plan: Group, point: Mapping[str, Any]) -> Dict[str, Any]:
    try:
        return _encode_point(plan, point)
    except _Inside as e:
        raise TuneError(str(e)) from None
    except TuneError:
        given: Dict[str, Any] = native(dict(point))
        if plain(given):
            return given
        raise


def record(plan: Group, config: Mapping[Any, Any]) -> Tuple[Dict[str, Any], Dict[Any, Any]]:
    """The parameters of a config by their whole names, and the rest of it, which the record does not have. TuneError: the
    record would have another value."""
    found = _Flat()
    try:
        rest = _record(plan, config, found)
    except _Inside as e:
        raise TuneError(str(e)) from None
    return dict(found), {} if rest is _NOTHING else rest


class _Inside(TuneError):
    """A dict or list of a choice has a wrong value inside. The host cannot say which: it has texts for such values."""


_NOTHING: Any = object()


class _Flat(Dict[str, Any]):
    """Parameters by their whole names."""

    whole = False  #: nothing may be missing or unknown
    inside = False  #: numbers must be within their bounds


def _record(node: Node, value: Any, found: _Flat) -> Any:
    """Adds the parameters of a value, and returns the part of it that the record does not have."""
    if isinstance(node, Group) and isinstance(value, Mapping):
        return _record_group(node, value, found)
    if isinstance(node, Listed) and isinstance(value, (list, tuple)) and len(value) == len(node.members):
        rests = [_record(member, v, found) for member, v in zip(node.members, value)]
        return _NOTHING if all(rest is _NOTHING for rest in rests) else value
    if isinstance(node, Parameter):
        found["/".join(node.path)] = _number(node, value, found.inside)
        return _NOTHING
    if isinstance(node, Choice):
        return _record_choice(node, value, found)
    if isinstance(node, Constant) and (same(node.value, value) or equal(node.value, value)):
        return _NOTHING
    if isinstance(node, Computed) or isinstance(node, Constant) and not node.path:
        if not found.whole or isinstance(node, Computed) or looks(node.value, value):
            return value
    raise TuneError(_refusal(node, value))


def _record_group(node: Group, value: Mapping[Any, Any], found: _Flat) -> Any:
    if found.whole and set(value) != set(node.members):
        raise TuneError(_other_keys(node, value))
    rest = {}
    for key, member in value.items():
        left = _record(node.members[key], member, found) if key in node.members else member
        if left is not _NOTHING:
            rest[key] = left
    return rest or _NOTHING


def _record_choice(node: Choice, value: Any, found: _Flat) -> Any:
    """A value of a choice: the first one that can have the parameters that it contains, or one without parameters."""
    for inside in (True,) if found.inside else (True, False):
        for label in node.labels:
            inner = _Flat()
            inner.whole, inner.inside = True, inside
            try:
                rest = _record_option(node.of(label), value, inner)
            except TuneError:
                continue
            found.update({**inner, "/".join(node.path): label})
            return _NOTHING if rest is _NOTHING else value
    label = _label(node, value, found.inside)
    found["/".join(node.path)] = label
    chosen = node.of(label)
    assert isinstance(chosen, Constant)
    return _NOTHING if same(chosen.value, value) or equal(chosen.value, value) else value


def _label(node: Choice, value: Any, inside: bool) -> Any:
    """The label of a value without parameters. TuneError: it is none, or one with parameters that is wrong inside."""
    try:
        return node.label(value)
    except TuneError:
        meant = _meant(node, value)
        if meant is None:
            raise
    inner = _Flat()
    inner.whole, inner.inside = True, inside
    try:
        return _record_option(meant, value, inner)  # raises: all were tried before
    except TuneError as e:
        raise _Inside(f"{said(node.path)}: {e}") from None


def _meant(node: Choice, value: Any) -> Optional[Node]:
    """The dict or list of a choice that a value is like: it has the same constants, and the most keys in common. None:
    it is like none, or like several."""
    shared = [(_shared(option, value), option) for option in node.children()]
    most = max((count for count, _ in shared), default=0)
    found = [option for count, option in shared if count == most]
    return found[0] if most and len(found) == 1 else None


def _shared(option: Node, value: Any) -> int:
    """How many members a value has in common with a dict or list that has parameters; 0: it is another one."""
    members: Dict[Any, Any] = {}
    given: Dict[Any, Any] = {}
    if isinstance(option, Group) and isinstance(value, Mapping):
        members, given = option.members, dict(value)
    elif isinstance(option, Listed) and isinstance(value, (list, tuple)) and len(value) == len(option.members):
        members, given = dict(enumerate(option.members)), dict(enumerate(value))
    both = [(members[key], given[key]) for key in members if key in given]
    other = any(isinstance(m, Constant) and not (same(m.value, v) or equal(m.value, v)) for m, v in both)
    return 0 if other else len(both)


def _other_keys(node: Group, value: Mapping[Any, Any]) -> str:
    lacks = [key for key in node.members if key not in value]
    more = [key for key in value if key not in node.members]
    found = [f"lacks {_list(lacks)}"] * bool(lacks) + [f"has {_list(more)}, which is no parameter of it"] * bool(more)
    return f"the dict {' and '.join(found)}"


def _record_option(option: Node, value: Any, found: _Flat) -> Any:
    if isinstance(option, Constant):
        raise TuneError("it has no parameters")
    return _record(option, value, found)


def _number(node: Parameter, value: Any, inside: bool) -> Any:
    """The value of a number in the record. inside: it must be within the bounds."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, (bool, str)) or not math.isfinite(number) or node.cast(number) != number:
        raise TuneError(_refusal(node, value))
    low, high = _bounds(node)
    if not low <= number <= high and (inside or not node.form.get("open")):
        raise TuneError(_refusal(node, value))
    return node.cast(number)


def _bounds(node: Parameter) -> Tuple[float, float]:
    for form in ("uniform", "loguniform", "int"):
        if form in node.form:
            low, high = node.form[form]
            return low, high
    return -math.inf, math.inf


def _said(value: Any) -> str:
    if isinstance(value, int) and value.bit_length() > 10_000:  # Python may refuse to write it
        return "a whole number of thousands of digits"
    return f"{value!r:.60}"


def _refusal(node: Node, value: Any) -> str:
    path = getattr(node, "path", None)
    name = f" of {said(path)}" if path else ""
    if isinstance(node, Parameter):
        low, high = _bounds(node)
        what = "a whole number" if node.cast is int else "a number"
        return f"{_said(value)} is no value{name}: expected {what}" + (
            "" if math.isinf(low) or node.form.get("open") else f" from {low:g} to {high:g}"
        )
    if isinstance(node, Constant):
        return f"{_said(value)} is not the value{name}, which is the constant {node.value!r:.60} in param_space"
    return f"{_said(value)} is no value{name}: it has another form than in param_space"


def _point(node: Node, value: Any, found: Dict[str, Any]) -> None:
    if isinstance(node, Parameter):
        _set(found, node.path, native(value))
    elif isinstance(node, Choice):
        flat = _Flat()
        try:
            _record_choice(node, value, flat)
        except _Inside as e:
            raise _Inside(f"points_to_evaluate: {e}") from None
        for name, one in flat.items():
            _set(found, tuple(name.split("/")), one)
    elif isinstance(node, Group) and isinstance(value, Mapping):
        for key, member in value.items():
            if key not in node.members:
                raise TuneError(
                    f"points_to_evaluate: {key!r} is no parameter of the space; it has {_list(node.members)}"
                )
            _point(node.members[key], member, found)
    elif isinstance(node, Constant) and same(node.value, value):
        pass
    else:
        raise TuneError(
            f"points_to_evaluate: {value!r:.60} is the value of something that is no parameter of the space"
        )


def _set(found: Dict[str, Any], path: Path, value: Any) -> None:
    for name in path[:-1]:
        found = found.setdefault(name, {})
    found[path[-1]] = value


def _list(names: Iterable[Any]) -> str:
    return ", ".join(map(str, names)) or "none"
