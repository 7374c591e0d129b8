"""What authors write, without a host: options, decorated functions, the history."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest

import tunehost
from tunehost import _wire, events
from tunehost._attempt import attempt
from tunehost._proto import common_pb2
from tunehost.plugin import chosen
from tunehost.run import CONTINUE, ENDED, EXPORTED, KILL, LOG, RESULT, SAVE, SAVED, STOP, Order, Run, Told, Trial
from tunehost.space import Kind, Param, Space


class Mine(tunehost.Searcher):
    """Says something.

    And more.
    """

    size: float = tunehost.option(3, "how large", minimum=0)
    fast: bool = tunehost.option(False, "whether")


def test_description() -> None:
    assert (Mine.title(), Mine.sentence()) == ("mine", "Says something.")
    assert Mine.schema() == {"type": "object", "additionalProperties": False, "properties": {
        "size": {"type": "number", "description": "how large", "default": 3, "minimum": 0},
        "fast": {"type": "boolean", "description": "whether", "default": False}}}

    class HillClimber2(Mine):
        fast = True

    assert HillClimber2.title() == "hill-climber2" and list(HillClimber2.options()) == ["size"]


def test_options() -> None:
    mine = Mine()
    assert (mine.size, mine.fast) == (3, False)
    mine.configure({"size": 4})
    assert (mine.size, type(mine.size)) == (4.0, float)
    for options, says in (({"sise": 1}, "option 'sise' is unknown; nearest: 'size'"), ({"size": True}, "option 'size' is true; expected number"),
                          ({"fast": 1}, "option 'fast' is 1; expected boolean")):
        with pytest.raises(tunehost.Refused) as e:
            mine.configure(options)
        assert str(e.value) == says


def test_options_hide_nothing() -> None:
    with pytest.raises((TypeError, RuntimeError)) as e:  # Python before 3.12 wraps it

        class Bad(tunehost.Searcher):
            requires = tunehost.option("", "…")

    assert "the option 'requires' would hide _Learner.requires" in str(e.value) + str(e.value.__cause__)


def test_serve_takes_plugins_only() -> None:
    for bad in ((), (Mine, Mine), (Mine(),), (tunehost.Plugin,), (int,)):
        with pytest.raises(TypeError):
            chosen(bad)  # type: ignore[arg-type]


def test_decorated_functions() -> None:
    @tunehost.searcher(version="2")
    def twice_best(request: tunehost.Request, history: tunehost.History, by: int = tunehost.option(2, "factor")) -> Dict[str, Any]:
        """Doubles."""
        return {"n": by}

    assert (twice_best.title(), twice_best.version, twice_best.sentence()) == ("twice-best", "2", "Doubles.")
    s = twice_best()
    s.open()
    s.configure({"by": 5})
    assert s.suggest(tunehost.Request(0, 1)) == {"n": 5}
    with pytest.raises(TypeError, match="the parameter by has no tunehost.option"):
        tunehost.searcher()(lambda request, history, by=2: {})


def test_history() -> None:
    h = tunehost.History()
    told = [
        (1, events.EventKind.TRIAL_ADDED, 0, ()), (2, events.EventKind.TRIAL_ADDED, 1, ()), (3, events.EventKind.RESULT_REPORTED, 0, (2.0,)),
        (4, events.EventKind.RESULT_REPORTED, 1, (1.0,)), (5, events.EventKind.TRIAL_FAILED, 1, ()), (6, events.EventKind.TRIAL_COMPLETED, 0, ()),
        (7, 99, 0, ()), (8, events.EventKind.EXPERIMENT_ENDED, 0, ()),
    ]
    assert h.best is None
    for number, kind, trial, losses in told:
        h.observe(tunehost.Event(number, kind, trial, iteration=1, point=[0.5] if number < 3 else None, losses=losses))
    assert h.best is h.trials[0] and h.best.loss == 2 and h.losses_at(1) == {0: 2.0, 1: 1.0} and h.ended == [h.trials[0]]
    for kind in events.EventKind.TRIAL_STARTED, events.EventKind.RESULT_REPORTED, events.EventKind.TRIAL_COMPLETED:  # it is retried
        assert h.trials[1] not in h.ended
        h.observe(tunehost.Event(9, kind, 1, iteration=1, losses=(1.0,)))
    assert h.best is h.trials[1] and h.ended == list(h.trials.values())


class Link:
    """A host that answers from a list: each report waits for the next orders."""

    def __init__(self, *orders: List[Order]) -> None:
        self.orders = list(orders)
        self.told: List[Told] = []

    def send(self, told: Told) -> None:
        self.told.append(told)

    def poll(self) -> List[Order]:
        return []

    def wait(self) -> List[Order]:
        return self.orders.pop(0)


def trained(train: Any, *orders: List[Order], **trial: Any) -> List[Any]:
    link = Link(*orders)
    link.send(attempt(tunehost.trainable(saves=True)(train)(), Run(Trial(params={}, **trial), link, True)))
    return [(t["kind"], t.get("iteration", t.get("error", "").partition("\n")[0])) for t in link.told]


GO: Order = {"kind": CONTINUE, "credits": 1}


def stop(dir: str = "", paused: bool = False) -> Order:
    return {"kind": STOP, "dir": dir, "paused": paused}


def test_a_returned_dict_is_the_only_result_or_is_said_to_be_dropped() -> None:
    def only(run: Run) -> Any:
        return {"loss": 0.5}

    def after(run: Run) -> Any:
        run.report(loss=1.0)
        return {"loss": 0.5}

    link = Link()
    attempt(tunehost.trainable()(only)(), Run(Trial(params={}), link, False))
    assert [(t["metrics"], t["done"]) for t in link.told if t["kind"] == RESULT] == [([("loss", 0.5)], True)]
    link = Link([{"kind": CONTINUE, "credits": 1}])
    ended = attempt(tunehost.trainable()(after)(), Run(Trial(params={}), link, False))
    assert [t["metrics"] for t in link.told if t["kind"] == RESULT] == [[("loss", 1.0)]] and "error" not in ended
    assert ["it returned a dict after it had reported" in t["text"] for t in link.told if t["kind"] == LOG] == [True]


def test_what_train_returns_and_nobody_reads_is_said_to_be_dropped() -> None:
    def text(run: Run) -> Any:
        run.report(loss=1.0)
        return "x"

    link = Link([{"kind": CONTINUE, "credits": 1}])
    assert "error" not in attempt(tunehost.trainable()(text)(), Run(Trial(params={}), link, False))
    assert [t["text"] for t in link.told if t["kind"] == LOG] == [
        "it returned a value of type str, which is dropped: report results with run.report, or return a dict if there is only one"]


def test_a_generator_is_told_of_its_stop() -> None:
    seen = []

    def train(run: Run) -> Iterator[Dict[str, float]]:
        try:
            while True:
                yield {"loss": 1.0}
        except tunehost.Paused:
            seen.append("paused")

    assert trained(train, [GO], [stop(paused=True)]) == [(RESULT, 0), (RESULT, 0), (ENDED, "")]
    assert seen == ["paused"]


def test_save_of_just_the_result_that_is_due(tmp_path: Path) -> None:
    def train(run: Run) -> None:
        for i in range(3):
            run.report(loss=i, save=lambda dir: (dir / "x").write_text(str(i)), done=i == 2)

    save: Order = {"kind": SAVE, "dir": str(tmp_path)}
    # The first result is saved before it is answered; the last is not answered.
    assert trained(train, [save], [GO], [GO], iteration=6, checkpoint_every=7) == [
        (RESULT, 0), (SAVED, 7), (RESULT, 0), (RESULT, 0), (ENDED, "")]
    assert (tmp_path / "x").read_text() == "0"
    assert trained(train, [GO], [GO], [save], checkpoint_at_end=True)[-2:] == [(SAVED, 3), (ENDED, "")]


def test_export(tmp_path: Path) -> None:
    def train(run: Run) -> None:
        run.export_with(export)
        run.report(loss=1.0)

    def export(format: str, dir: Path) -> None:
        if format != "json":
            raise tunehost.UnknownFormat
        (dir / "model.json").write_text("[1]")

    wanted: Dict[str, Any] = {"export": ["json", "onnx"], "export_dir": str(tmp_path)}
    assert trained(train, [GO], **wanted) == [
        (RESULT, 0), (EXPORTED, ""), (EXPORTED, "the trainable does not know this format"), (ENDED, "")]
    assert (tmp_path / "json" / "model.json").read_text() == "[1]"
    assert len(trained(train, [stop()], **wanted)) == 4
    assert len(trained(train, [stop(paused=True)], **wanted)) == 2  # it goes on later


def test_export_behind_a_link(tmp_path: Path) -> None:
    """If the trial's directory is replaced by a link while it runs, nothing behind the link is touched."""
    home, others = tmp_path / "home", tmp_path / "others"
    home.mkdir()
    (others / "json").mkdir(parents=True)
    (others / "json" / "precious").touch()

    def train(run: Run) -> None:
        run.export_with(lambda format, dir: None)
        run.report(loss=1.0)
        home.rmdir()
        home.symlink_to(others)

    told = trained(train, [GO], export=["json"], export_dir=str(home))
    assert "links are not followed" in told[1][1]
    assert [p.name for p in (others / "json").iterdir()] == ["precious"]


def test_run_ahead() -> None:
    def train(run: Run) -> None:
        for i in range(4):
            run.report(loss=i)

    assert len(trained(train, [GO], [GO, GO], run_ahead=1)) == 5


KILLED: Order = {"kind": KILL}


@pytest.mark.parametrize("orders, told", [([KILLED], "Killed"), ([stop(), KILLED], "Stopped"), ([KILLED, stop()], "Stopped"),
                                          ([stop(paused=True), KILLED], "Paused")])
def test_a_kill_is_no_decision(tmp_path: Path, orders: List[Order], told: str) -> None:
    """B-150: where nobody has decided to stop the trial, its code gets no Stopped, and exports no model."""
    seen = []

    def train(run: Run) -> None:
        run.export_with(lambda format, dir: None)
        try:
            run.report(loss=1)
        except tunehost.Stopped as e:
            seen.append(type(e).__name__)
            raise
        except tunehost.Killed as e:
            seen.append(type(e).__name__)
            raise

    assert trained(train, orders, export=["json"], export_dir=str(tmp_path)) == [(RESULT, 0), (ENDED, "")]
    assert seen == [told]


CONFIRMED: Order = {"kind": STOP, "dir": "", "paused": True, "credits": 1}


@pytest.mark.parametrize("orders, told", [
    ([[CONFIRMED]], "Paused"), ([[stop(paused=True)], [GO]], "Paused"), ([[stop(paused=True)], [KILLED]], "Killed"),
    ([[CONFIRMED, KILLED]], "Paused"), ([[stop()], [KILLED]], "Killed"),
])
def test_the_answer_follows_the_record(orders: List[List[Order]], told: str) -> None:
    """B-080: a stop that a result meets answers it when it is recorded; if the host ends before, there is no answer."""
    seen = []

    def train(run: Run) -> None:
        try:
            run.report(loss=1)
        except SystemExit as e:
            seen.append(type(e).__name__)
            raise

    assert trained(train, *orders, confirms=True) == [(RESULT, 0), (ENDED, "")]
    assert seen == [told]


def test_a_result_that_meets_a_pause_counts() -> None:
    """B-080: it is sent, and answered when it is recorded; after that, results do not count."""
    def train(run: Run) -> None:
        for _ in range(2):
            with pytest.raises(tunehost.Paused):
                run.report(loss=1)

    class Pausing(Link):
        def poll(self) -> List[Order]:
            return [stop(paused=True)]

    link = Pausing([GO])
    attempt(tunehost.trainable()(train)(), Run(Trial(params={}, confirms=True), link, False))
    assert [t["kind"] for t in link.told] == [RESULT] and link.orders == []


def test_a_generator_is_told_that_it_was_killed() -> None:
    seen = []

    def train(run: Run) -> Iterator[Dict[str, float]]:
        try:
            yield {"loss": 1.0}
        except tunehost.Killed:
            seen.append("killed")

    assert trained(train, [KILLED]) == [(RESULT, 0), (ENDED, "")]
    assert seen == ["killed"]


def test_a_reported_checkpoint_may_be_deleted_at_once(tmp_path: Path) -> None:
    """What the host finds is whole, wherever the directory was."""
    trial = tmp_path / "trial"
    trial.mkdir()

    def train(run: Run) -> None:
        for place in (None, run.dir):
            with tempfile.TemporaryDirectory(dir=place) as dir:
                Path(dir, "state").write_text("all")
                os.symlink("state", os.path.join(dir, "link"))
                run.report(loss=1.5, checkpoint=dir)

    link = Link([GO], [GO])
    attempt(tunehost.trainable()(train)(), Run(Trial(params={}, dir=str(trial)), link, False))
    kept = [Path(t["checkpoint"]) for t in link.told if t["kind"] == RESULT]
    assert len(set(kept)) == 2 and all(k.parent == trial for k in kept) and set(trial.glob(".reported-*")) == set(kept)
    assert all((k / "state").read_text() == "all" and os.readlink(k / "link") == "state" for k in kept)


def copies(errors: List[OSError]) -> Any:
    """A copytree that fails so before it copies."""
    copy = shutil.copytree

    def copytree(*args: Any, **kwargs: Any) -> Any:
        if errors:
            raise errors.pop(0)
        return copy(*args, **kwargs)

    return copytree


FULL = [OSError(errno.ENOSPC, "full"), shutil.Error([("a", "b", str(OSError(errno.EDQUOT, "full")))])]


def test_a_checkpoint_waits_for_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B-087: the user is told once, and nothing is left of what did not fit."""
    dir, made = tmp_path / "trial", tmp_path / "made"
    dir.mkdir()
    made.mkdir()

    def train(run: Run) -> None:
        run.report(loss=1.5, checkpoint=made)

    monkeypatch.setattr("tunehost.run._AGAIN_S", 0)
    monkeypatch.setattr(shutil, "copytree", copies(list(FULL)))
    link = Link([GO])
    attempt(tunehost.trainable()(train)(), Run(Trial(params={}, dir=str(dir)), link, False))
    assert [t["kind"] for t in link.told] == [LOG, RESULT]
    assert link.told[0]["hint"] and link.told[0]["text"].startswith("no space left on device")
    assert [str(p) for p in dir.glob(".reported-*")] == [link.told[1]["checkpoint"]]
    monkeypatch.setattr(shutil, "copytree", copies([OSError(errno.EIO, "broken")]))
    link = Link([GO])
    ended = attempt(tunehost.trainable()(train)(), Run(Trial(params={}, dir=str(dir)), link, False))
    assert "broken" in ended["error"] and link.told == []


def test_a_trial_that_waits_for_room_can_be_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def train(run: Run) -> None:
        with pytest.raises(tunehost.Stopped):
            run.report(loss=1, checkpoint=tmp_path)

    class Stopping(Link):
        def poll(self) -> List[Order]:
            return [stop()] if self.told else []

    monkeypatch.setattr("tunehost.run._AGAIN_S", 0)
    monkeypatch.setattr(shutil, "copytree", copies(FULL * 1000))
    dir = tmp_path / "trial"
    dir.mkdir()
    link = Stopping()
    attempt(tunehost.trainable()(train)(), Run(Trial(params={}, dir=str(dir)), link, False))
    assert [t["kind"] for t in link.told] == [LOG]


@pytest.mark.parametrize("order, taken", [(stop(), ["/final"]), (stop(paused=True), ["/final"]), ({"kind": KILL}, [])])
def test_a_checkpoint_after_a_stop_reaches_the_host(order: Order, taken: List[str]) -> None:
    """B-150: a result without one does not, and nothing does after a kill."""
    def train(run: Run) -> None:
        for checkpoint in ("", "/final"):
            with pytest.raises((tunehost.Stopped, tunehost.Killed)):
                run.report(loss=1, checkpoint=checkpoint)

    class Stopping(Link):
        def poll(self) -> List[Order]:
            return [order]

    link = Stopping()
    attempt(tunehost.trainable()(train)(), Run(Trial(params={}), link, False))
    assert [t["checkpoint"] for t in link.told if t["kind"] == RESULT] == taken


def test_resources_of_a_problem() -> None:
    m = common_pb2.Problem(request=b'{"cpu": "2"}', capacity=b'{"cpu": "16"}')
    p = _wire.problem(m)
    assert (p.request, p.capacity) == ({"cpu": "2"}, {"cpu": "16"})
    assert _wire.problem(common_pb2.Problem()).request == {}


def test_schema_is_json() -> None:
    json.dumps(Mine.schema())


def test_a_function_that_leaves_parameters_open_repeats_no_point() -> None:
    @tunehost.searcher()
    def anywhere(request: tunehost.Request, history: tunehost.History) -> Dict[str, Any]:
        """Random points."""
        return {"a": 2} if request.trial == 0 else {}

    s: Any = anywhere()
    s.space = Space([Param("a", Kind.INT, 1, 3), Param("b", Kind.INT, 0, 1)])
    s.open()
    s.observe(tunehost.Event(1, tunehost.EventKind.TRIAL_ADDED, 9, point=[3.0, 0.0]))
    answers = [s.suggest(tunehost.Request(trial, trial, None, s.space)) for trial in range(6)]
    assert answers[0][0] == 2 and answers[5] is tunehost.EXHAUSTED
    assert len({tuple(p) for p in answers[:5]} | {(3.0, 0.0)}) == 6


def test_orders_of_a_scheduler_are_kept_until_they_are_taken() -> None:
    class Bossy(tunehost.Scheduler):
        name = "bossy"

        def on_result(self, event: events.Event) -> None:
            self.stop_trial(event.trial, "slow")

    scheduler = Bossy()
    assert scheduler.decide([events.Event(1, events.EventKind.RESULT_REPORTED, trial=3)]) == []
    scheduler.resume(4)
    scheduler.exploit(5, 6, 2)
    scheduler.resize(7, {"cpu": 2})
    scheduler.stop_all("enough")
    kind = events.CommandKind
    assert [(c.kind, c.trial) for c in scheduler.take_orders()] == [
        (kind.STOP_TRIAL, 3), (kind.RESUME, 4), (kind.EXPLOIT, 5), (kind.RESIZE, 7), (kind.STOP_ALL, 0)]
    assert scheduler.take_orders() == []
