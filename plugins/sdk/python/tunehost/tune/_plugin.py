"""A searcher or scheduler of tunehost, as an experiment file names it."""

from __future__ import annotations

import inspect
import os
import sys
from typing import Any, Dict, Mapping, Optional, Sequence, Union

from .error import TuneError, Unsupported


SERVED = "@tune/"  #: a folder beside the experiment with a plugin that runs an object of the user


class Choice:
    """The base class of everything that becomes a searcher or a scheduler in the experiment file."""

    metric: Union[None, str, Any] = None
    mode: Union[None, str, Any] = None
    needs_metric = True  #: it must know what is good

    def keys(self) -> Dict[str, Any]:
        """Further keys of the experiment file."""
        return {}

    def entry(self) -> Dict[str, Any]:
        """The plugin and its options."""
        raise NotImplementedError

    def served(self) -> Dict[str, Any]:
        """The objects that a process of its own runs, by the names of their folders."""
        return {}


class Plugin(Choice):
    """A searcher or scheduler of tunehost by its name or path, with its options: Plugin("gp", startup=20).
    `tunehost plugins list` prints the names, `tunehost plugins describe NAME` the options."""

    def __init__(self, plugin: str, **options: Any) -> None:
        self.plugin: str
        self.options: Dict[str, Any]
        self.plugin, self.options = plugin, options

    def entry(self) -> Dict[str, Any]:
        path = os.path.abspath(self.plugin) if os.sep in self.plugin else self.plugin
        return {"plugin": path, **self.options}


def chosen(value: Any, kind: str) -> Choice:
    """What the user gave as a searcher or scheduler."""
    if isinstance(value, Choice):
        return value
    if isinstance(value, str):
        return Plugin(value)
    if isinstance(value, Mapping) and "plugin" in value:
        return Plugin(**value)
    if isinstance(value, type):
        raise TuneError(f"the {kind} is the class {value.__name__}: expected an object of it, as in {value.__name__}()")
    raise TuneError(
        f"the {kind} is {value!r:.60}: expected a class of tune.{'search' if kind == 'searcher' else 'schedulers'} "
        f"or the name of a {kind} of tunehost"
    )


def known(made: Any, name: str, given: Mapping[str, Any]) -> Dict[str, Any]:
    """The arguments that a class has. The others are named in a warning."""
    signature = inspect.signature(made)
    if any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
        return dict(given)
    unknown = [argument for argument in given if argument not in signature.parameters]
    if unknown:
        print(f"tunehost: {name} has no argument {', '.join(unknown)}, which is left out", file=sys.stderr)
    return {argument: value for argument, value in given.items() if argument not in unknown}


def refuse(where: str, defaults: Mapping[str, Any], given: Mapping[str, Any], instead: Mapping[str, str]) -> None:
    """Raises Unsupported for arguments that are not what works here."""
    for name, value in given.items():
        if name in defaults and value != defaults[name]:
            raise Unsupported(f"{where}({name}={value!r:.60}) is not supported: {instead[name]}")


def whole(where: str, name: str, value: Any, least: int = 1) -> int:
    """An argument that must be an integer here."""
    if isinstance(value, bool) or int(value) != value or value < least:
        raise Unsupported(f"{where}({name}={value!r}) is not supported: write an integer from {least}")
    return int(value)


def by_iteration(where: str, time_attr: str) -> None:
    """Schedulers count iterations."""
    if time_attr != "training_iteration":
        raise Unsupported(
            f"{where}(time_attr={time_attr!r}) is not supported: schedulers count iterations here; write "
            f'time_attr="training_iteration" and give periods as numbers of iterations'
        )


def without_none(options: Mapping[str, Optional[Any]]) -> Dict[str, Any]:
    """Options that have a value."""
    return {k: v for k, v in options.items() if v is not None}


class Seeded(Choice):
    """A searcher with a seed of the experiment."""

    def __init__(self, searcher: Any, seed: Optional[int], points: Sequence[Mapping[str, Any]] = ()) -> None:
        self.searcher, self.seed = chosen(searcher, "searcher"), seed
        self.points = points or getattr(self.searcher, "points", None)  #: those that are tried first
        self.metric, self.mode = self.searcher.metric, self.searcher.mode

    def keys(self) -> Dict[str, Any]:
        return {**self.searcher.keys(), **({} if self.seed is None else {"seed": self.seed})}

    def entry(self) -> Dict[str, Any]:
        return self.searcher.entry()

    def served(self) -> Dict[str, Any]:
        return self.searcher.served()

    def set_search_properties(self, metric: Any, mode: Any, config: Any) -> Any:
        """Tells a searcher of the user what is searched for."""
        return self.searcher.set_search_properties(metric, mode, config)  # type: ignore[attr-defined]
