"""What a searcher or a scheduler answers wrongly is said in one line, without a traceback."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import grpc
import pytest

import tunehost
from tunehost import _answers, _server, _wire
from tunehost._proto import common_pb2, reporter_pb2, scheduler_pb2, searcher_pb2, trainable_pb2
from tunehost.events import Event, Request
from tunehost.space import Kind, Param, Space

_SPACE = Space([Param("x", Kind.REAL, 0.0, 1.0), Param("c", Kind.CHOICE, choices=("a", "b"))])


def suggest(request: Any) -> None:
    """Stands for the author's method."""


def placed(error: Exception) -> str:
    return re.sub(r"\([^()]*test_answers\.py:[0-9]+\)", "(test_answers.py:LINE)", str(error))


@pytest.mark.parametrize("answer", [5, None, "hello", {"x": 1.0}, {1, 2}, b"ab"])
def test_a_batch_is_a_list(answer: Any) -> None:
    with pytest.raises(_answers.WrongAnswer, match=r"^suggest \(.*:[0-9]+\) returned .*; expected a list with an answer"):
        _wire.suggestions(_SPACE, [Request(2, 0)], answer, suggest)


@pytest.mark.parametrize("answer, says", [
    (["a", 0.0], "suggest (test_answers.py:LINE): its point for trial 2: parameter 'x' is 'a'; expected a number"),
    ([0.5, None], "its point for trial 2: parameter 'c' is None; expected a number"),
    ([10**400, 0.0], "its point for trial 2: parameter 'x' is larger than a number can be"),
    ([0.5, 1.0, "z"], "its point for trial 2: value 3 is 'z'; expected a number"),
    ({"x": 0.5, "c": 1.0}, """parameter 'c' is 1.0; allowed: "a", "b"; a dict has values, a list has the numbers of a point"""),
    ({"x": 7.0}, "suggest (test_answers.py:LINE): its params for trial 2: parameter 'x' is 7.0; allowed: numbers from 0 to 1"),
    ([0.5], "suggest (test_answers.py:LINE): its point for trial 2 has length 1; expected 2, one for each parameter"),
    (5, "suggest (test_answers.py:LINE) answered 5 for trial 2; expected params (a dict), a point, WAIT or EXHAUSTED"),
    ({0.25, 0.5}, "suggest (test_answers.py:LINE) answered {0.25, 0.5} for trial 2; expected"),
    (frozenset(), "suggest (test_answers.py:LINE) answered frozenset() for trial 2; expected"),
    (b"\x00\x01", r"suggest (test_answers.py:LINE) answered b'\x00\x01' for trial 2; expected"),
    (bytearray(2), "suggest (test_answers.py:LINE) answered bytearray(b'\\x00\\x00') for trial 2; expected"),
    (None, "suggest (test_answers.py:LINE) answered None for trial 2; expected"),
    ("hello", "suggest (test_answers.py:LINE) answered 'hello' for trial 2; expected"),
])
def test_wrong_answers(answer: Any, says: str, caplog: pytest.LogCaptureFixture) -> None:
    asked = [Request(2, 0)]
    with pytest.raises(_server.Failure) as failed:
        _server.guarded("suggest", lambda: _wire.suggestions(_SPACE, asked, [answer], suggest))
    assert says in placed(failed.value) and "ValueError" not in str(failed.value)
    assert (failed.value.code == grpc.StatusCode.OUT_OF_RANGE) == isinstance(answer, dict)  # not asked again
    assert not caplog.records  # the host says it


class Wrong(tunehost.Scheduler):
    def on_result(self, event: Event) -> Any:
        return "STOP"


class WrongReason(tunehost.Scheduler):
    def on_result(self, event: Event) -> Any:
        return event.stop(3.5)  # type: ignore[arg-type]


class WrongIteration(tunehost.Scheduler):
    def on_result(self, event: Event) -> Any:
        return event.until("9")  # type: ignore[arg-type]


class Backwards(tunehost.Scheduler):
    def on_result(self, event: Event) -> Any:
        return event.until(-3)


class WrongBatch(tunehost.Scheduler):
    def decide(self, events: Any) -> Any:
        return True


@tunehost.scheduler()
def wrongly(event: Event, history: Any) -> Any:
    return True


@pytest.mark.parametrize("scheduler, says", [
    (Wrong, "on_result (test_answers.py:LINE) returned 'STOP'; expected event.stop(reason), event.pause(reason), "
            "event.until(iteration) or, to continue, None"),
    (wrongly, "wrongly (test_answers.py:LINE) returned True; expected event.stop(reason)"),
    (WrongReason, "on_result (test_answers.py:LINE) gave the reason 3.5 on trial 4, iteration 7; expected a text"),
    (WrongIteration, "on_result (test_answers.py:LINE) answered until('9') on trial 4, iteration 7; expected an iteration"),
    (Backwards, "on_result (test_answers.py:LINE) answered until(-3) on trial 4, iteration 7; expected an iteration"),
    (WrongBatch, "decide (test_answers.py:LINE) returned True; expected a list of decisions"),
])
def test_wrong_decisions(scheduler: Any, says: str, caplog: pytest.LogCaptureFixture) -> None:
    main: Any = SimpleNamespace(call=lambda f: f())
    service = _server.SchedulerService(scheduler, main)
    service.open(scheduler_pb2.OpenSchedulerRequest())
    told = scheduler_pb2.DecideRequest(events=[
        common_pb2.Event(number=3, kind=common_pb2.Event.KIND_RESULT_REPORTED, trial=4, iteration=7)])
    with pytest.raises(_server.Failure) as failed:
        service.Decide(told)
    said = placed(failed.value)
    assert said.startswith(says) and "Error" not in said
    assert not caplog.records


@pytest.mark.parametrize("number", ["x", None, -1, 2.5, 2**64])
def test_a_reporter_that_does_not_know_what_it_has(number: Any, caplog: pytest.LogCaptureFixture) -> None:
    class Lost(tunehost.Reporter):
        def after(self) -> Any:
            return number

    main: Any = SimpleNamespace(call=lambda f: f())
    with pytest.raises(_server.Failure) as failed:
        _server.ReporterService(Lost, main).OpenReporter(reporter_pb2.OpenReporterRequest())
    assert placed(failed.value) == (f"after (test_answers.py:LINE) returned {number!r}; expected the number of the last event "
                                    "that it has, a whole number from 0 on")
    assert not caplog.records


@pytest.mark.parametrize("resources, says", [
    ("cpu", "returned 'cpu'; expected a dict"), (None, "returned None; expected a dict"),
    ({"cpu": {1}}, "returned {'cpu': {1}}, with something that is neither a number nor a text; expected a dict"),
])
def test_a_request_is_a_dict(resources: Any, says: str, caplog: pytest.LogCaptureFixture) -> None:
    class Greedy(tunehost.Trainable):
        def request(self, params: Any) -> Any:
            return resources

    main: Any = SimpleNamespace(call=lambda f: f())
    service = _server.LocalService(Greedy, main)
    service.OpenTrainable(trainable_pb2.OpenTrainableRequest())
    with pytest.raises(_server.Failure) as failed:
        service.RequestResources(trainable_pb2.RequestResourcesRequest())
    assert placed(failed.value).startswith(f"request (test_answers.py:LINE) {says}")
    assert not caplog.records


@pytest.mark.parametrize("order, says", [
    (lambda s: s.resume(9), "resume(9): there is no such trial; take the number from an event, as event.trial"),
    (lambda s: s.stop_trial(2, "slow"), "stop_trial(2): there is no such trial"),
    (lambda s: s.exploit(-1, 0, 1), "exploit(-1): there is no such trial"),
    (lambda s: s.resize("a", {"cpu": 1}), "resize('a'): expected the number of a trial, such as event.trial"),
    (lambda s: s.exploit(0, -1, 1), "exploit(-1): there is no such trial"),
    (lambda s: s.stop_all(3.5), "stop_all: the reason is 3.5; expected a text"),
    (lambda s: s.resume(1), ""),
    (lambda s: s.stop_all("enough"), ""),
])
def test_orders_for_trials_that_do_not_exist(order: Any, says: str) -> None:
    class Orders(tunehost.Scheduler):
        def on_result(self, event: Event) -> None:
            order(self)

    main: Any = SimpleNamespace(call=lambda f: f())
    service = _server.SchedulerService(Orders, main)
    service.open(scheduler_pb2.OpenSchedulerRequest())
    kinds = common_pb2.Event
    told = scheduler_pb2.DecideRequest(events=[
        common_pb2.Event(number=1, kind=kinds.KIND_TRIAL_ADDED, trial=0),
        common_pb2.Event(number=2, kind=kinds.KIND_TRIAL_ADDED, trial=1),
        common_pb2.Event(number=3, kind=kinds.KIND_RESULT_REPORTED, trial=0)])
    if not says:
        assert len(service.Decide(told).commands) == 1
        return
    with pytest.raises(_server.Failure) as failed:
        service.Decide(told)
    assert says in str(failed.value) and "test_answers.py:" in str(failed.value)


def test_a_snapshot_is_bytes() -> None:
    class Text(tunehost.Searcher):
        def snapshot(self) -> Any:
            return "state"

    main: Any = SimpleNamespace(call=lambda f: f())
    service = _server.SearcherService(Text, main)
    service.open(searcher_pb2.OpenSearcherRequest())
    with pytest.raises(_server.Failure) as failed:
        service.snapshot()
    assert placed(failed.value) == ("snapshot (test_answers.py:LINE) returned 'state'; "
                                    "expected bytes, such as text.encode()")
