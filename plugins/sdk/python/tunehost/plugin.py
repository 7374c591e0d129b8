"""The classes and decorators with which plugins are written."""

from __future__ import annotations

import functools
import inspect
import json
import operator
import re
from typing import (TYPE_CHECKING, Any, Callable, ClassVar, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence,
                    Type, TypeVar, Union, cast)

from . import _answers
from .errors import Refused
if TYPE_CHECKING:
    from .events import Answer, Command, Decision, Event, Problem, ReporterEvent, Request, Suggestion
    from .finite import Seen
    from .run import Run
    from .space import Point, Space

__all__ = ["Option", "Plugin", "Reporter", "Scheduler", "Searcher", "Trainable", "option", "scheduler", "searcher", "trainable"]

T = TypeVar("T")
_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
_CHECKS: Dict[str, Any] = {"boolean": bool, "integer": int, "number": (int, float), "string": str, "array": list, "object": dict}


class Option:
    """One option of a plugin, which users can set."""

    def __init__(self, default: Any, description: str, schema: Mapping[str, Any]) -> None:
        self.name: str = ""
        self.default = default
        kind = _TYPES.get(type(default))
        self.schema: Dict[str, Any] = {**({"type": kind} if kind else {}), "description": description, "default": default, **schema}

    def bind(self, name: str, annotation: Any) -> None:
        """Stores the name; an integer may be the default of a float."""
        self.name = name
        if annotation in (float, "float") and self.schema.get("type") == "integer":
            self.schema["type"] = "number"

    def __set_name__(self, owner: type, name: str) -> None:
        hidden = next((c for c in owner.__mro__[1:] if name in vars(c)), None)
        if hidden and not isinstance(vars(hidden)[name], Option):
            raise TypeError(f"the option {name!r} would hide {hidden.__name__}.{name}: give it another name")
        self.bind(name, owner.__dict__.get("__annotations__", {}).get(name))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else self.default

    def read(self, value: Any) -> Any:
        """Checks the type; the host has already checked the rest of the schema. Refused: it has another type."""
        kind = self.schema.get("type")
        if kind == "integer" and isinstance(value, float) and value.is_integer():
            return int(value)
        wrong = isinstance(value, bool) and kind != "boolean" or not isinstance(value, _CHECKS.get(kind or "", object))
        if wrong:
            raise Refused(f"option {self.name!r} is {json.dumps(value)}; expected {kind}")
        return float(value) if kind == "number" else value


def option(default: T, description: str, **schema: Any) -> T:
    """Declares an option in a plugin's class, or as the default of a decorated function's
    parameter:

        start: int = tunehost.option(10, "random points at first", minimum=1)

    Its type is that of the default. schema holds further keywords of JSON Schema.
    """
    return cast(T, Option(default, description, schema))


class Plugin:
    """The base class of all plugins.

    kind: searcher, scheduler, trainable, reporter or executor; the base classes set it.
    name: the name that users write; by default the name of the class in lower case with dashes.
    version: the version of the plugin.
    summary: one sentence; by default the first line of the docstring.
    """

    kind: ClassVar[str] = ""
    name: ClassVar[str] = ""
    version: ClassVar[str] = "0.0.0"
    summary: ClassVar[str] = ""

    def open(self) -> None:
        """Called once, after the options are set and before any other method. Check the problem:
        the message of a Refused or ValueError is what the user sees."""

    @classmethod
    def options(cls) -> Dict[str, Option]:
        """The options that the class declares."""
        found = {name: o for c in reversed(cls.__mro__) for name, o in vars(c).items() if isinstance(o, Option)}
        return {name: o for name, o in found.items() if inspect.getattr_static(cls, name) is o}

    @classmethod
    def schema(cls) -> Dict[str, Any]:
        """The JSON Schema of the options."""
        properties = {name: o.schema for name, o in cls.options().items()}
        return {"type": "object", "additionalProperties": False, "properties": properties}

    def configure(self, options: Mapping[str, Any]) -> None:
        """Sets the options; raises Refused for one that is unknown or has the wrong type."""
        known = self.options()
        for name, value in options.items():
            if name not in known:
                from difflib import get_close_matches

                near = get_close_matches(name, known, 1, 0)
                raise Refused(f"option {name!r} is unknown" + (f"; nearest: {near[0]!r}" if near else ""))
            setattr(self, name, known[name].read(value))

    @classmethod
    def title(cls) -> str:
        """The name; by default it is made from the name of the class."""
        return cls.name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", "-", cls.__name__).lower()

    @classmethod
    def sentence(cls) -> str:
        """The summary, or the docstring's first line."""
        return cls.summary or (inspect.getdoc(cls) or "").partition("\n")[0].strip()


class _Learner(Plugin):
    """The base class of searchers and schedulers. Their answers must depend only on the
    problem, the options, the events and the requests' seeds, so that they can be restarted.

    problem: what the experiment is about; set before open.
    space: the problem's space; set before open.
    metrics: True: event.metrics has all metrics of a result. Without it, events have only the losses.
    requires: names of metrics that each result must have beside those of the objectives: a trial that reports
        without one fails, with a message that says who needs it.
    again: True: it is told the results of a restarted trial also for iterations that the trial had reported before, and a
        scheduler decides on them; event.again says so of each. Without it, it is told each iteration once.
    """

    problem: Problem
    space: Space
    metrics: bool = False
    requires: Sequence[str] = ()
    again: bool = False

    def observe(self, event: Event) -> None:
        """Called with each event, in order."""

    def snapshot(self) -> bytes:
        """The state after the events observed so far, as bytes. Optional: without it, a restarted plugin
        receives the whole history again. tunehost calls it after 2,000 events, and then each time the history
        has grown by a tenth, and by 2,000 events at least."""
        raise NotImplementedError

    def restore(self, snapshot: bytes) -> None:
        """Restores a snapshot, after open and before any other call."""
        raise NotImplementedError


class Searcher(_Learner):
    """The base class of searchers, which suggest the parameters of trials.

    independent: True: suggestions do not depend on results. tunehost may then ask for them before there is a place
        to run them, and does not tell the searcher of RESULT_REPORTED.
    combines_grid: True: it combines the grid axes of the space itself, each combination once before it repeats one;
        requests do not fix them then.
    problem, space, metrics, requires: as of each searcher and scheduler; see observe, snapshot and restore, too.
    """

    kind = "searcher"
    independent: bool = False
    combines_grid: bool = False

    def suggest(self, request: Request) -> Suggestion:
        """Answers one request: with params (a dict; missing ones are drawn at random),
        a point, WAIT or EXHAUSTED."""
        raise NotImplementedError

    def observe_all(self, events: Sequence[Event]) -> None:
        """Called with the events since the last call. Override it to handle events in batches."""
        for event in events:
            self.observe(event)

    def suggest_all(self, requests: Sequence[Request]) -> Answer:
        """Answers requests in order and ends with the first WAIT or EXHAUSTED. Override it to answer
        them in batches."""
        from .events import Status  # where it is used: a trainable, which each trial forks, has no events

        answer: Answer = []
        for request in requests:
            answer.append(self.suggest(request))
            if isinstance(answer[-1], Status):
                break
        return answer


class Scheduler(_Learner):
    """The base class of schedulers, which decide which trials continue.

    quiet: True: it never decides anything. tunehost then neither tells it of events nor asks it.
    run_ahead: not 0: a trial may continue while the decision on its last result takes long; its next result waits
        for that decision. 0: a trial waits for the decision on each result.
    saves: True: it works on checkpoints: it pauses trials, or makes them continue from another's checkpoint.
    problem, space, metrics, requires: as of each searcher and scheduler; see observe, snapshot and restore, too.
    """

    kind = "scheduler"
    quiet: bool = False
    run_ahead: int = 0
    saves: bool = False

    def on_result(self, event: Event) -> Optional[Decision]:
        """Decides on one result, which was observed already: with event.stop(reason),
        event.pause(reason) or event.until(iteration); with None the trial continues."""
        return None

    def decide(self, events: Sequence[Event]) -> List[Decision]:
        """Called with the events since the last call; returns at most one decision for each result
        among them. Override it to handle events in batches."""
        from .events import EventKind

        decisions = []
        for event in events:
            self.observe(event)
            if event.kind == EventKind.RESULT_REPORTED:
                decision = self.on_result(event)
                if decision is not None:
                    decisions.append(decision)
        return decisions

    def resume(self, trial: int, reason: str = "") -> None:
        """Resumes a paused trial, before new ones start."""
        self._order("RESUME", trial, reason=reason)

    def stop_trial(self, trial: int, reason: str) -> None:
        """Stops a trial. One that waits or is paused ends at once; one that runs is stopped as by a decision."""
        self._order("STOP_TRIAL", trial, reason=reason)

    def stop_all(self, reason: str) -> None:
        """Ends the whole experiment."""
        self._order("STOP_ALL", 0, reason=reason)

    def exploit(self, trial: int, donor: int, iteration: int, params: Union[Mapping[str, Any], Point, None] = None,
                reason: str = "") -> None:
        """Makes a trial continue from another's checkpoint, with other parameters if given."""
        donor = self._existing("exploit", donor)
        point = self.space.point(params) if isinstance(params, Mapping) else params
        self._order("EXPLOIT", trial, donor, iteration, point, reason=reason)

    def resize(self, trial: int, resources: Mapping[str, Any], reason: str = "") -> None:
        """Changes the resources of a paused trial; they are written as in the experiment file."""
        self._order("RESIZE", trial, resources=resources, reason=reason)

    def _order(self, kind: str, trial: int, *more: Any, **named: Any) -> None:
        from .events import Command, CommandKind

        if kind != "STOP_ALL":
            trial = self._existing(kind.lower(), trial)
        if not isinstance(named["reason"], str):
            raise TypeError(f"{kind.lower()}: the reason is {named['reason']!r:.60}; expected a text")
        self.__dict__.setdefault("_orders", []).append(Command(CommandKind[kind], trial, *more, **named))

    def _existing(self, method: str, trial: Any) -> int:
        """The number of a trial; ValueError if the scheduler was told of none with that number."""
        trials = self.__dict__.get("_known_trials")  # None: not known, as after a snapshot
        try:
            number = operator.index(trial)
        except TypeError:
            raise TypeError(f"{method}({trial!r}): expected the number of a trial, such as event.trial") from None
        if number < 0 or trials is not None and number >= trials:
            raise ValueError(f"{method}({number}): there is no such trial; take the number from an event, as event.trial")
        return number

    def take_orders(self) -> List[Command]:
        """The commands since the last call."""
        return cast("List[Command]", self.__dict__.pop("_orders", []))


class Trainable(Plugin):
    """The base class of trainables. On Linux the program is started once and forked for each trial:
    its imports and what open has loaded are available at once. fork = False starts a process for
    each trial, or one for many trials, in sequence (reusable) or at the same time (shared).

    saves: True: report is given a save function whenever a checkpoint may be asked for.
    fork: whether the program forks for each trial; None: where that is safe.
    reusable: True: without fork, one process may run trial after trial.
    shared: True: without fork, one process may run many trials at a time, in threads.
    """

    kind = "trainable"
    saves: bool = False
    fork: Optional[bool] = None
    reusable: bool = False
    shared: bool = False

    @classmethod
    def _prepare(cls) -> None:
        """Called in a process that forks, while its server starts: what open needs, and no other plugin does."""

    def _rehearse(self, run: Run) -> None:
        """Reports without a trial: see _zygote."""
        run.report({"_metric": 0.5}, done=True)

    def train(self, run: Run) -> Union[Iterator[Mapping[str, Any]], Mapping[str, Any], None]:
        """Trains one trial. It calls run.report with each result, or yields them as dicts; one that has a single
        result may return it."""
        raise NotImplementedError

    def request(self, params: Dict[str, Any]) -> Mapping[str, Any]:
        """The resources of a trial with these parameters, written as in the experiment file:
        {"cpu": 2, "gpu": "0.5", "memory": "4GiB"}. Optional."""
        raise NotImplementedError


class Reporter(Plugin):
    """The base class of reporters, which are told what happens. No trial waits for them.

    problem: what the experiment is about; set before open, as the rest.
    experiment: the name of the experiment.
    dir: the directory of the experiment.
    told: the number of the last event that tunehost knows to be reported.
    """

    kind = "reporter"
    problem: Problem
    experiment: str = ""
    dir: str = ""
    told: int = 0

    def after(self) -> int:
        """The number of the last event that the reporter has; it is told the later ones. One that does not keep
        the number may be told some events twice after the host was killed."""
        return self.told

    def report(self, events: Sequence[ReporterEvent]) -> None:
        """Called with events, in order. When it returns, the reporter has them."""
        raise NotImplementedError


def overrides(plugin: Plugin, method: str) -> bool:
    """Whether the author has implemented that method."""
    base = next(c for c in (Searcher, Scheduler, Trainable) if isinstance(plugin, c))
    return getattr(type(plugin), method) is not getattr(base, method)


def requested(trainable: Trainable, params: Dict[str, Any]) -> Dict[str, Any]:
    """The resources of a trial with these parameters."""
    return _answers.resources(trainable.request(params), type(trainable).request)


def traits_of(trainable: Trainable, forked: bool) -> Dict[str, bool]:
    """The traits of an opened trainable: a program that forks serves any number of
    trials at a time."""
    return {"reusable": forked or trainable.reusable or trainable.shared, "shared": forked or trainable.shared,
            "saves": trainable.saves, "requests": overrides(trainable, "request")}


# Decorated functions.

_P = TypeVar("_P", bound=Plugin)


def _class_of(base: Type[_P], function: Callable[..., Any], own: int, traits: Dict[str, Any], methods: Dict[str, Any]) -> Type[_P]:
    """A plugin class made from a function; the parameters after the first ones are options."""
    body: Dict[str, Any] = {"__doc__": function.__doc__, "__module__": function.__module__, **traits, **methods}
    for p in list(inspect.signature(function).parameters.values())[own:]:
        if not isinstance(p.default, Option):
            raise TypeError(f"{function.__name__}: the parameter {p.name} has no tunehost.option as its default")
        p.default.bind(p.name, p.annotation)
        body[p.name] = p.default
    return cast(Type[_P], type(function.__name__, (base,), body))


def _values(plugin: Plugin) -> Dict[str, Any]:
    return {name: getattr(plugin, name) for name in plugin.options()}


def _unseen(seen: Optional[Seen], request: Request, answer: Suggestion) -> Suggestion:
    """Draws the parameters that an answer omits, so that the point is a new one if the
    space is finite; EXHAUSTED if there is none."""
    from .events import EXHAUSTED
    from .space import Rand

    if seen is None or seen.size is None or not isinstance(answer, Mapping):
        return answer
    space, rng = seen.space, Rand(~request.seed)
    given = [x if x == x else y for x, y in zip(request.point or space.point({}), space.point(answer))]
    point = seen.pick(lambda attempt: space.draw(rng), rng, given)
    return EXHAUSTED if point is None else point


def searcher(**traits: Any) -> Callable[[Callable[..., Suggestion]], Type[Searcher]]:
    """Makes a searcher from a function of a Request and the History so far:

        @tunehost.searcher(version="1.0.0")
        def mine(request, history, size=tunehost.option(3, "…")):
            '''One sentence about it.'''
            return {"lr": 0.1}

    Parameters that it omits are drawn at random, so that no point of a finite space is
    suggested twice. traits are attributes of the class Searcher.
    """

    def decorate(function: Callable[..., Suggestion]) -> Type[Searcher]:
        def open(self: Any) -> None:
            from .finite import Seen
            from .history import History

            self.history = History()
            space = getattr(self, "space", None)  # an author's test may open it without one
            self.seen = None if space is None else Seen(space)

        def observe(self: Any, event: Event) -> None:
            self.history.observe(event)
            if self.seen and event.point is not None:
                self.seen.add(event.point)

        def suggest(self: Any, request: Request) -> Suggestion:
            return _unseen(self.seen, request, function(request, self.history, **_values(self)))

        return _class_of(Searcher, function, 2, traits, {"open": open, "observe": observe, "suggest": suggest})

    return decorate


def scheduler(**traits: Any) -> Callable[[Callable[..., Optional[Decision]]], Type[Scheduler]]:
    """Makes a scheduler from a function of a result's Event and the History so far, which
    returns event.stop(…), event.pause(…), event.until(…) or None."""

    def decorate(function: Callable[..., Optional[Decision]]) -> Type[Scheduler]:
        def open(self: Any) -> None:
            from .history import History

            self.history = History()

        def observe(self: Any, event: Event) -> None:
            self.history.observe(event)

        def on_result(self: Any, event: Event) -> Optional[Decision]:
            return function(event, self.history, **_values(self))

        functools.update_wrapper(on_result, function)
        return _class_of(Scheduler, function, 2, traits, {"open": open, "observe": observe, "on_result": on_result})

    return decorate


def trainable(**traits: Any) -> Callable[[Callable[..., Any]], Type[Trainable]]:
    """Makes a trainable from a function of a Run, which reports or yields its results, or returns the
    only one."""

    def decorate(function: Callable[..., Any]) -> Type[Trainable]:
        def train(self: Any, run: Run) -> Any:
            return function(run, **_values(self))

        return _class_of(Trainable, function, 1, traits, {"train": train})

    return decorate


def chosen(plugins: Iterable[Type[Plugin]]) -> Dict[str, Type[Plugin]]:
    """The plugins by kind: at most one of each."""
    table: Dict[str, Type[Plugin]] = {}
    for plugin in plugins:
        if not (isinstance(plugin, type) and issubclass(plugin, Plugin) and plugin.kind):
            raise TypeError(f"{plugin!r} is not a plugin: serve takes classes, and functions decorated by "
                            "tunehost.searcher, tunehost.scheduler or tunehost.trainable")
        if plugin.kind in table:
            raise TypeError(f"there are two plugins of the kind {plugin.kind}: a program serves one of each")
        table[plugin.kind] = plugin
    if not table:
        raise TypeError("there is nothing to serve: give tunehost.serve a plugin")
    return table
