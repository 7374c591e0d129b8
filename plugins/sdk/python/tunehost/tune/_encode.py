"""Translates a param_space into the space of an experiment file, and a trial's parameters back into
the config that the trainable gets.

The file has only what can vary, and constants that JSON has. The plan keeps everything else: a tree
of the same shape as param_space, which is pickled beside the trainable.
"""

from __future__ import annotations

import inspect
import json
import math
import os
import pickle
import re
import sys
from collections.abc import Mapping
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple

from .._forms import FORMS, form_of, has_form
from .._view import SUGGESTION
from ._native import native
from .error import TuneError, Unsupported
from .sample import Categorical, Domain, Function, Integer

Path = Tuple[str, ...]

_MAX_NAME = 100


class Node:
    """A part of the plan."""

    def decode(self, params: Mapping[str, Any], config: Callable[[], Any]) -> Any:
        """The part of the config. config returns the whole one as far as it is known."""
        raise NotImplementedError

    def children(self) -> Iterable[Node]:
        return ()


class Constant(Node):
    """A value that is the same in all trials."""

    path: Optional[Path] = None  #: in the record; None: it is not there
    beside: Optional[Path] = None  #: where it would be in the record, which cannot have it

    def __init__(self, value: Any, path: Optional[Path] = None) -> None:
        self.value, self.path = value, path

    def decode(self, params: Mapping[str, Any], config: Callable[[], Any]) -> Any:
        return self.value


class Parameter(Node):
    """A number that the host has chosen."""

    form: Mapping[str, Any] = {}  #: as in the experiment file

    def __init__(self, path: Path, cast: Callable[[Any], Any], form: Mapping[str, Any]) -> None:
        self.path, self.cast, self.form = path, cast, form

    def decode(self, params: Mapping[str, Any], config: Callable[[], Any]) -> Any:
        return self.cast(_at(params, self.path))


class Choice(Node):
    """One of several values, which the host knows by labels."""

    def __init__(self, path: Path, labels: List[Any], options: List[Node]) -> None:
        self.path = path
        self.labels = labels
        self.options = {_key(label): option for label, option in zip(labels, options)}

    def decode(self, params: Mapping[str, Any], config: Callable[[], Any]) -> Any:
        return self.of(_at(params, self.path)).decode(params, config)

    def children(self) -> Iterable[Node]:
        return self.options.values()

    def pairs(self) -> Iterable[Tuple[Any, Node]]:
        """The labels with what they stand for."""
        return zip(self.labels, self.options.values())

    def of(self, label: Any) -> Node:
        """The value that a label stands for."""
        return self.options[_key(label)]

    def label(self, value: Any) -> Any:
        """The label of a value, or of a number that is equal; TuneError if there is none."""
        for alike in (same, equal, looks):
            for label in self.labels:
                option = self.of(label)
                if isinstance(option, Constant) and alike(option.value, value):
                    return label
        shown = ", ".join(map(str, self.labels))
        raise TuneError(f"{value!r:.60} is none of the values of the parameter {'/'.join(self.path)}: {shown:.200}")


class Computed(Node):
    """A sample_from."""

    def __init__(self, function: Function) -> None:
        self.function = function

    def decode(self, params: Mapping[str, Any], config: Callable[[], Any]) -> Any:
        if not self.function.pass_config:
            return self.function.func()
        known = config()
        try:
            return self.function.func(known)
        except (AttributeError, KeyError) as first:
            try:
                return self.function.func(Spec({"config": Spec(known)}))
            except (AttributeError, KeyError):
                raise first from None


class Group(Node):
    """A dict."""

    suggestions: Optional[str] = None  #: the folder of files that SUGGESTION numbers

    def __init__(self, members: Dict[Any, Node]) -> None:
        self.members = members

    def decode(self, params: Mapping[str, Any], config: Callable[[], Any]) -> Any:
        return {key: node.decode(params, config) for key, node in self.members.items()}

    def children(self) -> Iterable[Node]:
        return self.members.values()


class Listed(Node):
    """A list or tuple that contains parameters."""

    def __init__(self, kind: type, members: List[Node]) -> None:
        self.kind, self.members = kind, members

    def decode(self, params: Mapping[str, Any], config: Callable[[], Any]) -> Any:
        return self.kind(node.decode(params, config) for node in self.members)

    def children(self) -> Iterable[Node]:
        return self.members


class Spec(Dict[str, Any]):
    """A dict whose keys are attributes, too."""

    def __getattr__(self, name: str) -> Any:
        try:
            found = self[name]
        except KeyError:
            raise AttributeError(name) from None
        return Spec(found) if type(found) is dict else found


class Encoded:
    """A param_space in both forms."""

    def __init__(self, space: Dict[str, Any], plan: Group) -> None:
        self.space = space  #: as in an experiment file
        self.plan = plan


class _How(NamedTuple):
    """How values are translated."""

    grids: bool  #: a grid may be here
    written: Callable[[Any], Any]  #: makes values of JSON of those that are as good as these


def encode(param_space: Mapping[str, Any], scalars: bool = True) -> Encoded:
    """Translates a param_space. TuneError says which parameter cannot be translated. scalars=False: those of numpy are
    objects like any other, which the record has as texts. Experiments of earlier releases have them so."""
    _check_meant(param_space, ())
    space: Dict[str, Any] = {}
    members = _members(param_space, (), space, _How(True, native if scalars else _unchanged))
    return Encoded(space, Group(members))


def encode_as(param_space: Mapping[str, Any], begun: Optional[Mapping[str, Any]]) -> Encoded:
    """Translates a param_space as an experiment has it that began with a space, and may have been extended."""
    encoded = encode(param_space)
    if begun is None:
        return encoded
    old = encode(param_space, scalars=False)
    return old if begun_as(old.space, encoded.space, begun) else encoded


def begun_as(old: Mapping[str, Any], new: Mapping[str, Any], begun: Mapping[str, Any]) -> bool:
    """Whether an experiment has begun with the old form of a space: it has what differs in the new one."""
    differ = [name for name in new if new[name] != old.get(name)]
    return bool(differ) and all(old.get(name) == begun.get(name) for name in differ)


def _unchanged(value: Any) -> Any:
    return value


def computes(node: Node) -> bool:
    """Whether a config contains values of sample_from, which cannot be derived again."""
    return isinstance(node, Computed) or any(computes(child) for child in node.children())


def decode(plan: Group, params: Mapping[str, Any]) -> Dict[str, Any]:
    """The config of a trial. Values of sample_from are computed after all others, those that need each
    other in any order that works."""
    waiting: List[Tuple[Dict[Any, Any], Any, Computed]] = []
    config: Dict[str, Any] = _partly(plan, params, waiting)
    while waiting:
        later = []
        for place in waiting:
            into, key, node = place
            try:
                into[key] = node.decode(params, lambda: config)
            except (KeyError, AttributeError, _Waiting) as e:
                later.append((place, e))
        if len(later) == len(waiting):
            raise later[0][1]
        waiting = [place for place, _ in later]
    if plan.suggestions and params.get(SUGGESTION):
        _merge(config, _suggestion(plan.suggestions, params[SUGGESTION]), plan)
    return config


def _merge(config: Dict[Any, Any], more: Mapping[Any, Any], plan: Group) -> None:
    """Puts what a suggestion has beside the record into a config."""
    for key, value in more.items():
        node = plan.members.get(key)
        if isinstance(node, Group) and isinstance(value, Mapping) and isinstance(config.get(key), dict):
            _merge(config[key], value, node)
        else:
            config[key] = value


def accept_suggestions(encoded: Encoded, folder: str) -> None:
    """Adds the parameter SUGGESTION, whose files are in a folder of the experiment's directory. A point that is drawn, as
    the host does in place of one that breaks a constraint, has no file: 0."""
    if SUGGESTION in encoded.space:
        raise TuneError(
            f"the parameter {SUGGESTION} has a name that tunehost gives to what a searcher or scheduler of yours suggests: "
            "give it another name"
        )
    encoded.space[SUGGESTION] = {"int": [0, 0], "open": True}
    encoded.plan.suggestions = folder


def open_all(encoded: Encoded) -> None:
    """Lets the numbers of a space have values outside of their bounds, where a searcher or an explore function of the user
    chooses them: the record has them as they are."""
    for node in all_of(encoded.plan):
        if isinstance(node, Parameter) and "normal" not in node.form:
            node.form = {**node.form, "open": True}
            _at(encoded.space, node.path)["open"] = True


def forget_constants(encoded: Encoded) -> None:
    """Takes constants out of the record, where a function of the user may change them: the config alone has them then."""
    for node in all_of(encoded.plan):
        if isinstance(node, Constant):
            if node.path:
                del _at(encoded.space, node.path[:-1])[node.path[-1]]
            node.path = node.beside = None


def all_of(node: Node) -> Iterable[Node]:
    """A node and all that it contains."""
    yield node
    for child in node.children():
        yield from all_of(child)


def _suggestion(folder: str, number: int) -> Dict[str, Any]:
    with open(os.path.join(folder, f"{int(number)}.pkl"), "rb") as f:
        found: Dict[str, Any] = pickle.load(f)
    return found


class _Waiting(Exception):
    """A value is not known yet."""


def _partly(node: Node, params: Mapping[str, Any], waiting: List[Tuple[Dict[Any, Any], Any, Computed]]) -> Any:
    """Decodes all but the computed members of dicts, and lists these."""
    if isinstance(node, Choice):
        return _partly(node.of(_at(params, node.path)), params, waiting)
    if not isinstance(node, Group):
        return node.decode(params, _unknown)
    config: Dict[Any, Any] = {}
    for key, child in node.members.items():
        if isinstance(child, Computed):
            waiting.append((config, key, child))
        else:
            config[key] = _partly(child, params, waiting)
    return config


def _unknown() -> Any:
    raise Unsupported("a sample_from inside of a list is not supported: make it a value of a dict")


def _at(params: Mapping[str, Any], path: Path) -> Any:
    value: Any = params
    for name in path:
        value = value[name]
    return value


def _key(label: Any) -> str:
    """Labels that are equal in Python may be different values in a file: 1, 1.0 and True."""
    return json.dumps(label, sort_keys=True)


def same(a: Any, b: Any) -> bool:
    """Whether two values are the same, of the same type."""
    if a is b:
        return True
    a, b = native(a), native(b)
    try:
        return type(a) is type(b) and bool(a == b)
    except Exception:  # arrays compare by element
        return False


def equal(a: Any, b: Any) -> bool:
    """Whether two numbers are the same, 2 and 2.0."""
    a, b = native(a), native(b)
    return {type(a), type(b)} == {int, float} and bool(a == b)


def looks(a: Any, b: Any) -> bool:
    """Whether two objects that JSON does not have are the same, although they are copies that cannot tell."""
    return type(a) is type(b) and not plain(a) and label_of(a) == label_of(b)


def _members(group: Mapping[Any, Any], path: Path, space: Dict[str, Any], how: _How) -> Dict[Any, Node]:
    return {key: _node(value, (*path, _name(key, space)), space, how) for key, value in group.items()}


def _name(key: Any, taken: Mapping[str, Any]) -> str:
    """A name that an experiment file can have."""
    name = re.sub(r"[/\x00-\x1f\x7f]", ".", _unicode(str(key)))[:_MAX_NAME] or "_"
    while name in FORMS or name in taken:
        name += "_"
    return name


def _node(value: Any, path: Path, space: Dict[str, Any], how: _How) -> Node:
    name = path[-1]
    if isinstance(value, Function):
        return Computed(value)
    if isinstance(value, Categorical):
        return _choice(value.kind, value.categories, path, space, how)
    if isinstance(value, Domain):
        space[name] = dict(value.form())
        return Parameter(path, int if isinstance(value, Integer) else float, value.form())
    if is_grid(value):
        if not how.grids:
            raise Unsupported(
                f"{'/'.join(path)}: a grid_search inside of a choice is not supported: put it beside the choice"
            )
        return _choice("grid", list(value["grid_search"]), path, space, how)
    if not varies(value):
        written = how.written(value)
        if not plain(written):
            hidden = Constant(value)
            hidden.beside = path
            return hidden
        if isinstance(value, dict) and has_form(written):  # the host would see a parameter: other names hide it
            inner: Dict[str, Any] = {}
            space[name] = inner
            return Group(_members(value, path, inner, how))
        space[name] = {"value": written} if isinstance(written, (dict, list)) else written
        return Constant(value, path)
    inner = space[name] = {}
    if isinstance(value, dict):
        return Group(_members(value, path, inner, how))
    return Listed(type(value), [_node(v, (*path, str(i)), inner, how) for i, v in enumerate(value)])


def _check_meant(value: Any, path: Path) -> None:
    """Finds functions that make a domain, and were not called. Other functions are constants, which the trainable gets as
    they are; a lambda is hardly meant so, nor is a parameter as an experiment file has it."""
    where = "/".join(path)
    if type(value) is dict:
        for key, member in value.items():
            _check_meant(member, (*path, str(key)))
        meant = _meant(value)
        if meant:
            print(
                f"tunehost: param_space: {where} is a constant, a dict, which the trainable gets as it is; a parameter is {meant}",
                file=sys.stderr,
            )
    if getattr(value, "__module__", "") == Domain.__module__ and inspect.isfunction(value):
        raise TuneError(f"param_space: {where} is the function tune.{value.__name__}: call it, as in {_example(value)}")
    if inspect.isfunction(value) and value.__name__ == "<lambda>":
        print(
            f"tunehost: param_space: {where} is a lambda, which the trainable gets as it is: write tune.sample_from(…) "
            "around one that computes the value",
            file=sys.stderr,
        )


_FUNCTIONS = {"choice": "choice", "ordinal": "choice", "grid": "grid_search", "uniform": "uniform", "loguniform": "loguniform"}


def _meant(value: Dict[Any, Any]) -> str:
    """What a dict with a parameter as in an experiment file would be here; "" if it is none."""
    form = form_of(value)
    if form is None or len(value) > 1 or not isinstance(value[form], list):
        return ""
    if form in ("choice", "ordinal", "grid"):
        return f"tune.{_FUNCTIONS[form]}({value[form]!r:.60})"
    if form in _FUNCTIONS and len(value[form]) == 2:
        return f"tune.{_FUNCTIONS[form]}({value[form][0]!r:.30}, {value[form][1]!r:.30})"
    return "tune.randint(low, high + 1)" if form == "int" else ""


def _example(function: Callable[..., Any]) -> str:
    needed = [p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    return f"tune.{function.__name__}({', '.join(needed)})"


def _choice(form: str, values: List[Any], path: Path, space: Dict[str, Any], how: _How) -> Node:
    """A choice or a grid. The parameters that a value contains are a group of their own, which exists
    only where the value is chosen."""
    name = path[-1]
    labels = _labels([how.written(value) for value in values])
    space[name] = {form: labels}
    options: List[Node] = []
    for i, (value, label) in enumerate(zip(values, labels)):
        if not varies(value):
            options.append(Constant(value))
            continue
        if not all(re.fullmatch(r"[A-Za-z_]\w*", part) for part in path):
            raise TuneError(
                f"{'/'.join(path)}: the name of a choice whose values contain parameters must consist of "
                "letters, digits and _"
            )
        inner = _name(f"{name}_{i}", space)
        group: Dict[str, Any] = {"when": f"{'.'.join(path)} == {json.dumps(label)}"}
        space[inner] = group
        options.append(_node(value, (*path[:-1], inner, "it"), group, how._replace(grids=False)))
    return Choice(path, labels, options)


def _labels(values: List[Any]) -> List[Any]:
    """What the host calls the values: the values themselves if JSON has them, otherwise texts."""
    if all(plain(v) for v in values) and len({_told_apart(v) for v in values}) == len(values):
        return list(values)
    labels: List[Any] = []
    for value in values:
        text = label = label_of(value)
        n = 2
        while label in labels:
            label, n = f"{text} ({n})", n + 1
        labels.append(label)
    return labels


def _told_apart(value: Any) -> str:
    """A text that differs where the host tells values apart: 0 and 0.0, but not 0.0 and -0.0."""
    return _key(json.loads(_key(value), parse_float=lambda digits: float(digits) or 0.0))


def _unicode(text: str) -> str:
    """The text without lone surrogates, which files cannot have."""
    return text.encode("utf-8", "replace").decode()


def label_of(value: Any) -> str:
    """What the record calls a value that JSON does not have."""
    if isinstance(value, dict) and varies(value):
        value = {k: v for k, v in value.items() if not varies(v)} or "dict"
    text = getattr(value, "__name__", None) or str(value)
    return re.sub(r"0x[0-9a-f]+|[\x00-\x1f\x7f]", "", _unicode(str(text)))[:60] or "empty"


def is_grid(value: Any) -> bool:
    """Whether a value is what grid_search returns."""
    return isinstance(value, dict) and len(value) == 1 and "grid_search" in value


def varies(value: Any) -> bool:
    """Whether a value contains parameters."""
    if isinstance(value, Domain) or is_grid(value):
        return True
    if isinstance(value, dict):
        return any(varies(v) for v in value.values())
    return type(value) in (list, tuple) and any(varies(v) for v in value)


def plain(value: Any) -> bool:
    """Whether JSON has exactly this value."""
    if value is None or type(value) is bool:
        return True
    if type(value) is str:
        return _unicode(value) == value
    if type(value) is int:
        return abs(value) < 2**53
    if type(value) is float:
        return math.isfinite(value)
    if type(value) is list:
        return all(plain(v) for v in value)
    return type(value) is dict and all(type(k) is str and plain(k) and plain(v) for k, v in value.items())


def said(path: Path) -> str:
    """The name of a parameter as users have it: model/C for model_0/it/C of the record."""
    names: List[str] = []
    for name in path:
        choice = re.fullmatch(r"(.+)_\d+_*", names[-1]) if names and name == "it" else None
        names[-1:] = [choice[1]] if choice else [*names[-1:], name]
    return "/".join(names)


def path_of(plan: Group, name: str) -> Optional[Path]:
    """The path of a parameter of the top level; None if it is none."""
    node = plan.members.get(name)
    return node.path if isinstance(node, (Parameter, Choice)) else None
