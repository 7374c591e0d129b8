"""Converts between the protocol's messages and the types that authors see. No other module uses
messages of searchers and schedulers."""

from __future__ import annotations

import collections.abc
import json
from typing import Any, Iterable, List, Mapping, Sequence, Type

from ._answers import WrongAnswer, counts
from ._answers import called as _called
from ._answers import shown as _shown
from ._proto import common_pb2 as pb
from ._proto import reporter_pb2, scheduler_pb2, searcher_pb2
from .events import (Command, CommandKind, Decision, Event, EventKind, Objective, Problem, ReportedKind, ReporterEvent,
                     Request, Status, Verdict)
from .plugin import Plugin, Scheduler, Searcher, overrides
from .space import Expr, Kind, Param, Point, Rand, Space


def info(plugin: Type[Plugin]) -> pb.Info:
    return pb.Info(kind=plugin.kind, name=plugin.title(), version=plugin.version, summary=plugin.sentence(),
                   options_schema=json.dumps(plugin.schema()).encode())


def problem(m: pb.Problem) -> Problem:
    objectives = tuple(Objective(o.metric, o.maximize) for o in m.objectives)
    return Problem(_space(m.space), objectives, m.seed, m.trials, m.concurrency,
                   json.loads(m.request or b"{}"), json.loads(m.capacity or b"{}"))


def _space(m: pb.Space) -> Space:
    return Space([_param(p) for p in m.params], [_expr(c) for c in m.constraints], m.opaque)


def _param(m: pb.Param) -> Param:
    if m.kind not in Kind._value2member_map_:
        raise ValueError(f"parameter {m.name!r} has the unknown kind {m.kind}")
    return Param(m.name, Kind(m.kind), m.low, m.high, m.log, m.step, m.mean, m.sd, tuple(json.loads(c) for c in m.choices),
                 m.grid, _expr(m.when) if m.HasField("when") else None)


def _expr(m: pb.Expr) -> Expr:
    if not 1 <= m.op <= 20:
        raise ValueError(f"unknown operation {m.op}")
    args = []
    for arg in m.args:
        args.append(_expr(arg))
    return Expr(m.op, m.param, m.number, tuple(m.set), tuple(args))


def events(messages: Iterable[pb.Event], space: Space) -> List[Event]:
    return [_event(m, space) for m in messages]


def _event(m: pb.Event, space: Space) -> Event:
    kind = EventKind(m.kind) if m.kind in EventKind._value2member_map_ else m.kind
    point = list(m.point.values) if m.HasField("point") else None
    return Event(m.number, kind, m.trial, m.attempt, m.iteration, point, tuple(m.losses),
                 {x.name: x.value for x in m.metrics}, m.seconds, m.reason, space,
                 m.seconds_told, m.again)


def reported(m: reporter_pb2.ReporterEvent) -> ReporterEvent:
    """An event for a reporter."""
    kind = ReportedKind(m.kind) if m.kind in ReportedKind._value2member_map_ else m.kind
    trial, result = {}, {}
    if m.HasField("trial"):
        trial = {name: getattr(m.trial, name) for name in ("number", "id", "dir", "state", "attempt", "error")}
        trial["params"] = json.loads(m.trial.params or b"{}")
    if m.HasField("result"):
        result = {name: getattr(m.result, name) for name in _RESULT}
        result["metrics"] = {x.name: x.value for x in m.result.metrics}
        result["totals"] = {x.name: x.value for x in m.result.totals}
        result["values"] = json.loads(m.result.values or b"{}")
    return ReporterEvent(m.number, kind, m.time_ns / 1e9, trial, result, m.iteration, m.restored, m.resumed, m.reason)


_RESULT = ("iteration", "done", "time_total_s", "time_this_iter_s", "pid", "host", "restored", "iterations_since_restore",
           "time_since_restore", "again")


def requests(messages: Iterable[searcher_pb2.SuggestRequest.Request], space: Space) -> List[Request]:
    return [Request(m.trial, m.seed, list(m.given.values) if m.HasField("given") else None, space) for m in messages]


def searcher_traits(s: Searcher) -> pb.Traits:
    return pb.Traits(independent=s.independent, metrics=s.metrics, requires=list(s.requires), combines_grid=s.combines_grid, again=s.again,
                     snapshots=overrides(s, "snapshot"))


def scheduler_traits(s: Scheduler) -> pb.Traits:
    return pb.Traits(quiet=s.quiet, run_ahead=max(0, s.run_ahead), metrics=s.metrics, saves=s.saves, requires=list(s.requires), again=s.again,
                     snapshots=overrides(s, "snapshot"))


class Outside(WrongAnswer):
    """Params that are outside of the space, as the host finds of the numbers of a point."""


def suggestions(space: Space, asked: Sequence[Request], answer: Sequence[Any], by: Any = None) -> searcher_pb2.SuggestResponse:
    """Checks an answer of the method by and sets the given coordinates in it."""
    if isinstance(answer, (*_UNORDERED, Mapping)) or not isinstance(answer, collections.abc.Iterable):
        raise WrongAnswer(f"{_called(by)} returned {_shown(answer)}; expected a list with an answer for each request")
    points, status = list(answer), Status.READY
    if points and isinstance(points[-1], Status):
        status = points.pop()
    if len(points) > len(asked):
        raise WrongAnswer(f"{_called(by)} returned more points ({len(points)}) than requests ({len(asked)})")
    if len(points) < len(asked) and status == Status.READY:
        raise WrongAnswer(f"{_called(by)} returned fewer points ({len(points)}) than requests ({len(asked)}) without a reason (WAIT or "
                          "EXHAUSTED)")
    m = searcher_pb2.SuggestResponse(status=int(status))  # type: ignore[arg-type]
    for request, suggestion in zip(asked, points):
        try:
            m.points.add(values=_suggestion(space, request, suggestion))
        except WrongAnswer as e:
            raise type(e)(_placed(by, str(e))) from e
    return m


# What can be iterated over, but is no list of numbers in the order of the parameters.
_UNORDERED = (str, bytes, bytearray, memoryview, collections.abc.Set, Status)


def _suggestion(space: Space, request: Request, answer: Any) -> Point:
    if isinstance(answer, Mapping):
        return _completed(space, request, _point(space, request, answer))
    if isinstance(answer, _UNORDERED) or not isinstance(answer, collections.abc.Iterable):
        raise WrongAnswer(f"it answered {_shown(answer)} for trial {request.trial}; expected params (a dict), a point, WAIT or "
                          "EXHAUSTED")
    point = [_number(space, request, i, x) for i, x in enumerate(answer)]
    if len(point) != len(space):
        raise WrongAnswer(f"its point for trial {request.trial} has length {len(point)}; expected {len(space)}, one for each parameter")
    for i, x in enumerate(request.point or ()):
        if x == x:
            point[i] = x
    return point


def _point(space: Space, request: Request, params: Mapping[str, Any]) -> Point:
    try:
        return space.point(params)
    except ValueError as e:
        drawn = any(name in space.index and space.parameters[space.index[name]].is_choice and isinstance(x, float)
                    for name, x in params.items())
        raise Outside(f"its params for trial {request.trial}: {e}"
                      + ("; a dict has values, a list has the numbers of a point" if drawn else "")) from e


def _number(space: Space, request: Request, i: int, x: Any) -> float:
    try:
        return float(x)
    except (TypeError, ValueError, OverflowError) as e:
        name = f"parameter {space.names[i]!r}" if i < len(space) else f"value {i + 1}"
        if isinstance(e, OverflowError):
            raise WrongAnswer(f"its point for trial {request.trial}: {name} is larger than a number can be") from None
        raise WrongAnswer(f"its point for trial {request.trial}: {name} is {x!r}; expected a number, as in a point; "
                          "values, such as choices, are in a dict of params") from None


_DRAWS = 100


def _completed(space: Space, request: Request, point: Point) -> Point:
    """Draws missing parameters, with random numbers that are independent of the author's."""
    whole = space.complete(request.point, point)
    if all(x == x or not space.active(whole, i) for i, x in enumerate(whole)):
        return whole
    rng = Rand(~request.seed)
    for _ in range(_DRAWS):
        whole = space.complete(request.point, point, space.draw(rng))
        if space.holds(whole):
            break
    return whole  # the host says what is wrong with it, and asks again


def _placed(method: Any, said: str) -> str:
    """Names the author's function in a sentence about its answer."""
    name = _called(method)
    return said if name == "it" else f"{name}: {said}" if said.startswith("its ") else name + said[len("it"):]


def decisions(space: Space, told: Sequence[Event], decided: Sequence[Decision], orders: Sequence[Command],
              by: Any = None) -> scheduler_pb2.DecideResponse:
    """Checks an answer of the method by: at most one decision on each result."""
    if isinstance(decided, str) or not isinstance(decided, collections.abc.Iterable):
        raise WrongAnswer(f"{_called(by)} returned {decided!r}; expected a list of decisions, such as [event.stop(reason)]")
    decided = list(decided)
    for d in decided:
        if not isinstance(d, Decision):
            raise WrongAnswer(f"{_called(by)} returned {d!r}; expected event.stop(reason), event.pause(reason), "
                              "event.until(iteration) or, to continue, None")
    undecided = {e.number for e in told if e.kind == EventKind.RESULT_REPORTED}
    m = scheduler_pb2.DecideResponse()
    for d in decided:
        if not isinstance(d.reason, str):
            raise WrongAnswer(f"{_called(by)} gave the reason {_shown(d.reason)} on {_result(told, d.event)}; expected a text")
        if not counts(d.until):
            raise WrongAnswer(f"{_called(by)} answered until({_shown(d.until)}) on {_result(told, d.event)}; expected an iteration, "
                              "a whole number from 1 on")
        if d.event not in undecided:
            raise WrongAnswer(f"{_called(by)} decided on event {d.event}, which is not a result of this call or was decided already")
        undecided.remove(d.event)
        m.decisions.add(event=d.event, verdict=int(Verdict(d.verdict)), until=d.until, reason=text(d.reason))
    for c in orders:
        if c.point is not None and len(c.point) != len(space):
            raise WrongAnswer(_placed(by, f"its point for trial {c.trial} has length {len(c.point)}; expected {len(space)}, one "
                                          "for each parameter"))
        order = m.commands.add(kind=int(CommandKind(c.kind)), trial=c.trial, donor=c.donor, iteration=c.iteration, reason=text(c.reason))
        if c.point is not None:
            order.point.values.extend(c.point)
        if c.resources is not None:
            order.resources = json.dumps(c.resources).encode()
    return m


def snapshot(state: Any, by: Any) -> bytes:
    """Checks a state that the method by returned."""
    if not isinstance(state, (bytes, bytearray, memoryview)):
        raise WrongAnswer(f"{_called(by)} returned {_shown(state)}; expected bytes, such as text.encode()")
    return bytes(state)


def _result(told: Sequence[Event], number: int) -> str:
    """The result of an event, for people."""
    event = next((e for e in told if e.number == number), None)
    return f"trial {event.trial}, iteration {event.iteration}" if event else f"event {number}"


def text(s: str) -> str:
    """A string that a message can carry."""
    return s.encode("utf-8", "replace").decode()
