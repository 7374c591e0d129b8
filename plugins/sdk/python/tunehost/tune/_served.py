"""The processes that run schedulers, searchers and stoppers of a user: plugins of tunehost, which the host starts by
serve.py in folders of the experiment's directory."""

from __future__ import annotations

import json
import math
import os
import pickle
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence

import tunehost
from tunehost.space import Rand, TooTight
from tunehost._view import SUGGESTION
from tunehost.events import EXHAUSTED, WAIT, Decision, Event, EventKind, Objective, Request

from . import _encode, _moved, _nested, _payload, _points, _values
from ._controller import Controller
from .error import TuneError
from .resources import computed, requested
from .result import kept_checkpoints
from .schedulers.trial_scheduler import TrialScheduler
from .trial import Trial, id_of

STATE = "state"  #: the folder of files that change: those of a plugin must not
_SEEDS = 2**32
_LEAVE_EVERY_S = 1.0
_TRIES = 100  #: how often another config is asked for if one breaks a constraint


def overrides(served: Any, method: str, base: type) -> bool:
    """Whether the user's class has a method of its own."""
    return getattr(type(served), method, None) is not getattr(base, method, None)


class World:
    """What an object is told of: the trials, as Ray has them."""

    def __init__(self, folder: Path, problem: Any) -> None:
        self.folder = folder  #: EXPERIMENT/tune
        facts = _payload.load(folder / "facts.pkl")
        self.name: str = facts["name"]
        self.plan = _payload.read_plan(folder)
        self.controller = Controller(problem.trials, problem.capacity)
        self.controller._request = facts["request"]  # type: ignore[attr-defined]
        self._seed: Optional[int] = None  # the experiment's
        self._values = _values.Reader()
        self._begun: Dict[int, float] = {}  # the time of each trial's last result

    def move(self, folder: Path) -> None:
        """Has a state of this experiment from before it was moved or copied."""
        if folder == self.folder:
            return
        self.folder = folder
        if self.plan.suggestions is not None:
            self.plan.suggestions = str(folder / "suggestions")
        for trial in self.controller._trials.values():
            _moved.place(trial, folder.parent)

    def id(self, number: int) -> str:
        """The id of a trial."""
        if self._seed is None:  # the file is written once all plugins have accepted the experiment
            self._seed = int(json.loads((self.folder.parent / "run.json").read_text(encoding="utf-8"))["seed"])
        return id_of(self._seed, number)

    def trial(self, event: Event) -> Trial:
        """The trial of an event."""
        return self.controller._trials[event.trial]

    def config(self, event: Event) -> Dict[str, Any]:
        """The config of a trial that is added."""
        return _encode.decode(self.plan, nested(event.params))

    def add(self, event: Event) -> Trial:
        """A new trial."""
        trial = Trial(event.trial, self.id(event.trial), self.config(event), self.name)
        trial.placement_group_factory = requested(self.controller._request)  # type: ignore[attr-defined]
        self.controller._trials[event.trial] = trial
        return trial

    def locate(self, trial: Trial) -> None:
        """Gives a trial its directory, once it exists."""
        trial.path = trial.path or _values.path(self.folder, trial.number, trial.trial_id)

    def result(self, event: Event, nested: bool = False) -> Dict[str, Any]:
        """A result with Ray's names; if it is not to be nested, with metrics of dicts as PARENT/NAME."""
        reported = self._values.of(self.folder, event.trial, (event.attempt, event.iteration)) or {}
        values: Mapping[str, Any] = event.metrics
        if reported:
            own = {name for name, _ in _nested.flat(reported)}
            values = {**{k: v for k, v in event.metrics.items() if k not in own}, **reported}
        values = values if nested else dict(_nested.flat(values))
        before = self._begun.get(event.trial, 0.0)
        self._begun[event.trial] = event.seconds
        trial = self.controller._trials.get(event.trial)
        return {
            "training_iteration": event.iteration,
            "time_total_s": event.seconds,
            "time_this_iter_s": max(0.0, event.seconds - before),
            "trial_id": self.id(event.trial),
            "done": False,
            "config": trial.config if trial else {},
            **values,
        }


def nested(params: Mapping[str, Any]) -> Dict[str, Any]:
    """Parameters of groups as dicts."""
    found: Dict[str, Any] = {}
    for name, value in params.items():
        *groups, last = name.split("/")
        place = found
        for group in groups:
            place = place.setdefault(group, {})
        place[last] = value
    return found


def seeded(*parts: int) -> None:
    """Seeds the generators of the process that a user's code may draw from."""
    seed = hash(parts) % _SEEDS
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed)


class _Served:
    """What the three kinds have in common."""

    version = "1.0.0"
    metrics = True
    again = True
    folder = Path()  #: of this plugin
    base: type = object
    problem: Any
    opened: Optional[_Served] = None

    def open(self) -> None:
        from . import _code  # noqa: F401 - imported before the end, when there is little time

        ended(self.folder.parent, self.folder.name).unlink(missing_ok=True)  # of an earlier process
        self.world = World(self.folder.parent, self.problem)
        self.object: Any = _payload.load(self.folder / "object.pkl")
        type(self).opened = self
        seeded(self.problem.seed)

    def snapshot(self) -> bytes:
        """The whole state, or that which the user's save wrote."""
        state: Dict[str, Any] = {"world": self.world, "mine": self.mine()}
        if overrides(self.object, "save", self.base) and overrides(self.object, "restore", self.base):
            state["saved"] = _through_file(self.object.save)
        else:
            state["object"] = self.object
        return _payload.pickled(state, f"the state of {type(self.object).__name__}")

    def restore(self, snapshot: bytes) -> None:
        state = pickle.loads(snapshot)
        self.world = state["world"]
        self.world.move(self.folder.parent)
        if "saved" in state:
            with tempfile.TemporaryDirectory() as dir:
                Path(dir, "state").write_bytes(state["saved"])
                self.object.restore(os.path.join(dir, "state"))
        else:
            self.object = state["object"]
        self.take(state["mine"])

    def mine(self) -> Any:
        """What else belongs to the state."""
        return None

    def take(self, mine: Any) -> None:
        """Takes what mine returned."""

    def at_end(self, event: Event, last: Optional[Dict[str, Any]]) -> Dict[str, Any]:
        """The result with which a trial has completed: the last that the object was told, or a later one, as that of a
        new attempt whose iterations it knew already; of a suggestion that ran several times, the means of its
        objectives."""
        losses = zip(self.problem.objectives, event.losses)
        ended = {o.metric: -loss if o.maximize else loss for o, loss in losses}
        if not last:
            return ended
        if all(last.get(metric) == value or not math.isfinite(value) for metric, value in ended.items()):
            return last
        return {**last, **self.world.result(event), **ended}

    def leave(self) -> str:
        """Leaves the object for the script that has begun the experiment, and returns why that is impossible, or ""."""
        try:
            _payload.dump(final(self.folder.parent, self.folder.name), self.object, "it")
        except Exception as e:
            print(f"the state of {type(self.object).__name__} cannot be handed back: {e}", file=sys.stderr)
            return str(e) or type(e).__name__
        return ""

    def end(self) -> None:
        """Leaves the object as it is at the end, and that it is."""
        why = self.leave()
        _payload.replace(ended(self.folder.parent, self.folder.name), why.encode("utf-8", "replace"))


def final(folder: Path, name: str) -> Path:
    """The file with the object at the end of the experiment, whose state the user's own takes over."""
    return folder / STATE / f"{name}.pkl"


def ended(folder: Path, name: str) -> Path:
    """The file that says that the object was left at the end: empty, or why it could not be."""
    return folder / STATE / f"{name}.ended"


def untold(folder: Path) -> Path:
    """The file with the suggestions of whose end a searcher was not told: an Untold."""
    return folder / STATE / "untold.pkl"


def _through_file(save: Callable[[str], Any]) -> bytes:
    with tempfile.TemporaryDirectory() as dir:
        path = Path(dir, "state")
        save(str(path))
        return path.read_bytes() if path.exists() else b""


class ServedScheduler(_Served, tunehost.Scheduler):
    """A TrialScheduler as a scheduler of tunehost."""

    name = "python-scheduler"
    base = TrialScheduler

    def open(self) -> None:
        super().open()
        self._paused: set[int] = set()  # by this scheduler
        self._changes = 0  # configs that it has made
        self._left = time.monotonic()
        self._warned = False  # that the object decides nothing
        self._events: Dict[int, Callable[[Event], None]] = {
            EventKind.TRIAL_ADDED: self._added,
            EventKind.TRIAL_STARTED: self._started,
            EventKind.TRIAL_PAUSED: self._was_paused,
            EventKind.TRIAL_COMPLETED: self._completed,
            EventKind.TRIAL_FAILED: self._failed,
            EventKind.TRIAL_REMOVED: self._removed,
            EventKind.TRIAL_REQUEUED: self._requeued,
            EventKind.CHECKPOINT_SAVED: self._saved,
            EventKind.SEARCH_ENDED: self._search_ended,
        }

    def mine(self) -> Any:
        return self._paused, self._changes

    def take(self, mine: Any) -> None:
        self._paused, self._changes = mine

    def observe(self, event: Event) -> None:
        hear = self._events.get(event.kind)
        if hear:
            hear(event)
            self._choose()

    def decide(self, events: Sequence[Event]) -> List[Decision]:
        decisions = super().decide(events)
        warns = not self._warned and bool(getattr(self.object, "without_effect", ""))
        live = len(self.world.controller.get_live_trials())
        if live <= 1 or warns or time.monotonic() - self._left > _LEAVE_EVERY_S:
            self._warned = self._warned or warns
            self._left = time.monotonic()
            self.leave()  # the host does not tell it of the end
        return decisions

    def on_result(self, event: Event) -> Optional[Decision]:
        """Asks the user's scheduler."""
        world, trial = self.world, self.world.trial(event)
        controller = world.controller
        result = world.result(event)
        wanted = controller._stops.pop(trial.number, None)
        decision = TrialScheduler.STOP if wanted else self.object.on_trial_result(controller, trial, result)
        trial.update_last_result(result)
        stopped, paused = controller._stops.pop(trial.number, wanted), controller._pauses.pop(trial.number, None)
        self._obey()
        if decision == TrialScheduler.STOP or stopped:
            return event.stop(stopped or self._why("stopped", event))
        if decision == TrialScheduler.PAUSE or paused:
            self._paused.add(trial.number)
            return event.pause(paused or self._why("paused", event))
        if decision not in (TrialScheduler.CONTINUE, TrialScheduler.NOOP, None):
            raise ValueError(f"on_trial_result returned {decision!r}: expected CONTINUE, PAUSE, STOP or NOOP")
        return None

    def _why(self, what: str, event: Event) -> str:
        reason = getattr(self.object, "_reason", None)
        return reason or f"{type(self.object).__name__} has {what} it at iteration {event.iteration}"

    def _obey(self) -> None:
        """Sends what was ordered about other trials."""
        controller = self.world.controller
        for number, why in list(controller._stops.items()):
            trial = controller._trials[number]
            if trial.is_finished():
                del controller._stops[number]
            elif trial.status != Trial.RUNNING:
                del controller._stops[number]
                self.stop_trial(number, why)
        if controller._ends:
            self.stop_all(controller._ends)
            controller._ends = ""

    def _choose(self) -> None:
        """Resumes the paused trials that the user's scheduler chooses."""
        controller = self.world.controller
        while self._paused and any(t.status == Trial.PAUSED for t in controller.get_trials()):
            chosen = self.object.choose_trial_to_run(controller)
            if chosen is None or chosen.status != Trial.PAUSED or chosen.number not in self._paused:
                break
            self._resume(chosen)
        self._obey()

    def _resume(self, trial: Trial) -> None:
        self._paused.discard(trial.number)
        trial.status = Trial.PENDING
        resized = vars(trial).pop("_resize", None)
        if resized is not None:
            self.resize(trial.number, computed(resized), f"it gets {resized.required_resources}")
        exploit = getattr(trial, "_exploit", None)
        if exploit is None:
            self.resume(trial.number, f"{type(self.object).__name__} has chosen it")
            return
        del trial._exploit  # type: ignore[attr-defined]
        donor, iteration, config, reason = exploit
        config, point = self._allowed(trial, self.world.controller._trials[donor], config)
        self.exploit(trial.number, donor, iteration, point, reason)
        trial.config = config

    def _allowed(self, trial: Trial, donor: Trial, config: Any) -> Any:
        """A config that breaks no constraint, and its point: at last the donor's own."""
        for _ in range(_TRIES):
            point = self._point(config)
            if self.space.holds(point):
                return config, point
            config = self.object.another(trial, donor)
        return dict(donor.config), self._point(donor.config)

    def _point(self, config: Mapping[str, Any]) -> List[float]:
        """The point of a config that a population has changed."""
        self._changes += 1
        point = encoded(self.world, self.space, config, 2 * self._changes + 1, type(self.object).__name__)
        others = self.space.draw(Rand(self._changes))  # for values that the space does not have: a file has them
        return self.space.prune([y if x != x else x for x, y in zip(point, others)])

    def _added(self, event: Event) -> None:
        self.object.on_trial_add(self.world.controller, self.world.add(event))

    def _started(self, event: Event) -> None:
        self.world.trial(event).status = Trial.RUNNING
        self.world.locate(self.world.trial(event))
        self._paused.discard(event.trial)

    def _was_paused(self, event: Event) -> None:
        self.world.trial(event).status = Trial.PAUSED

    def _requeued(self, event: Event) -> None:
        self.world.trial(event).status = Trial.PENDING

    def _saved(self, event: Event) -> None:
        trial = self.world.trial(event)
        trial._saved = event.iteration  # type: ignore[attr-defined]
        self.world.locate(trial)
        kept = dict(kept_checkpoints(trial.path))
        trial._checkpoint = kept.get(event.iteration, trial._checkpoint)

    def _completed(self, event: Event) -> None:
        trial = self.world.trial(event)
        trial.status = Trial.TERMINATED
        last = {**(self.at_end(event, trial.last_result) if trial.last_result else {}), "done": True}
        trial.last_result = last
        self.object.on_trial_complete(self.world.controller, trial, last)

    def _failed(self, event: Event) -> None:
        trial = self.world.trial(event)
        trial.status = Trial.ERROR
        trial.num_failures += 1
        trial._error = event.reason
        self.object.on_trial_error(self.world.controller, trial)

    def _removed(self, event: Event) -> None:
        trial = self.world.trial(event)
        self.object.on_trial_remove(self.world.controller, trial)
        trial.status = Trial.TERMINATED

    def _search_ended(self, event: Event) -> None:
        self.world.controller._all_added = True


class ServedStopper(_Served, tunehost.Scheduler):
    """A Stopper as a scheduler that only stops."""

    name = "python-stopper"

    def observe(self, event: Event) -> None:
        if event.kind == EventKind.TRIAL_ADDED:
            self.world.add(event)

    def on_result(self, event: Event) -> Optional[Decision]:
        """Asks the stopper whether the trial, and whether the experiment ends."""
        stops = self.object(self.world.id(event.trial), self.world.result(event, nested=True))
        if self.object.stop_all():
            self.stop_all(f"{type(self.object).__name__} has ended the experiment")
        if stops:
            return event.stop(f"{type(self.object).__name__} has stopped it at iteration {event.iteration}")
        return None


class Untold(NamedTuple):
    """What a searcher must still be told once the experiment has ended: it was asked for nothing more."""

    told: Dict[int, _values.Place]  #: the suggestions that run, and the last result of each that it was told
    runs: int  #: of each suggestion
    objectives: Sequence[Objective]


class ServedSearcher(_Served, tunehost.Searcher):
    """A Searcher of Ray as a searcher of tunehost."""

    name = "python-searcher"

    def open(self) -> None:
        from .search import Searcher

        self.base = Searcher
        super().open()
        self._runs: int = _payload.load(self.folder.parent / "facts.pkl").get("repeat", 1)  # of each suggestion
        self._asked: set[int] = set()  # suggestions of this process, or of the one of the snapshot
        self._last: Dict[int, Dict[str, Any]] = {}
        self._ended: set[int] = set()
        self._at: Dict[int, _values.Place] = {}  # of the last results

    def mine(self) -> Any:
        return self._asked, self._last, self._ended, self._at

    def take(self, mine: Any) -> None:
        self._asked, self._last, self._ended, *more = mine  # earlier releases have written three
        self._at = more[0] if more else {n: (1, last["training_iteration"]) for n, last in self._last.items()}

    def leave(self) -> str:
        why = super().leave()
        told = {n: self._at.get(n, (0, 0)) for n in self._asked - self._ended}
        left = Untold(told, self._runs, self.problem.objectives)
        _payload.dump(untold(self.folder.parent), left, "what it was told")
        return why

    def _id(self, number: int) -> str:
        """The id of a suggestion: that of its first run."""
        return self.world.id(number * self._runs)

    def observe(self, event: Event) -> None:
        number, object = event.trial, self.object
        if event.kind == EventKind.TRIAL_ADDED:
            if number not in self._asked:
                self._suggest(number)  # an earlier process was asked: the object must know the trial
            self.world.add(event)
        if number not in self._asked:
            return
        if event.kind == EventKind.RESULT_REPORTED:
            self._last[number], self._at[number] = self.world.result(event), (event.attempt, event.iteration)
            object.on_trial_result(self._id(number), self._last[number])
        elif event.kind in (EventKind.TRIAL_COMPLETED, EventKind.TRIAL_REMOVED):
            self._ended.add(number)
            last = self.at_end(event, self._last.pop(number, None))
            object.on_trial_complete(self._id(number), result={**last, "done": True} if last else None)
        elif event.kind == EventKind.TRIAL_FAILED:
            self._ended.add(number)
            self._last.pop(number, None)
            object.on_trial_complete(self._id(number), result=None, error=True)

    def suggest(self, request: Request) -> Any:
        """Asks the user's searcher. What the space cannot express is kept in a file, whose number is the parameter
        `suggestion`."""
        config: Any = None
        for attempt in range(_TRIES):
            config = self._suggest(request.trial, attempt)
            if config is None:
                return WAIT
            if not isinstance(config, Mapping):
                return EXHAUSTED
            point = encoded(self.world, self.space, config, 2 * request.trial + 2, type(self.object).__name__)
            point = self.space.complete(request.point, point, self.space.draw(request.rng))
            if self.space.holds(point):
                return point
            self._refuse(request.trial)
        raise TooTight(
            f"{type(self.object).__name__}: {_TRIES} suggestions in a row break a constraint of the experiment, such as "
            f"{config!r:.200}: loosen the constraints, or narrow what it searches"
        )

    def _refuse(self, number: int) -> None:
        """Tells the user's searcher that its suggestion was not taken, as Ray tells it that a trial has failed."""
        self.object.on_trial_complete(self._id(number), result=None, error=True)
        self._asked.discard(number)

    def _suggest(self, number: int, attempt: int = 0) -> Any:
        from .search import Searcher

        seeded(self.problem.seed, number, *([attempt] if attempt else []))
        config = self.object.suggest(self._id(number))
        if isinstance(config, Mapping):
            self._asked.add(number)
        elif config is not None and not (isinstance(config, str) and config == Searcher.FINISHED):
            name = type(self.object).__name__
            raise TypeError(f"{name}.suggest returned {config!r:.60}: expected a dict, None or Searcher.FINISHED")
        return config


def encoded(world: World, space: Any, config: Mapping[str, Any], file: int, whose: str) -> List[float]:
    """The point of a config. What the record does not have goes into a file. ValueError: the record has a parameter that
    cannot have its value."""
    try:
        params, rest = _points.record(world.plan, config)
    except TuneError as e:
        raise ValueError(f"{whose}: {e}; param_space says what a parameter may be") from None
    if world.plan.suggestions is not None:
        if rest:
            _payload.write_suggestion(Path(world.plan.suggestions), file, rest)
        params[SUGGESTION] = file if rest else 0
    point = [float("nan")] * len(space)
    for name, value in params.items():
        if name in space.index:  # a choice of one value is none
            param = space[name]
            point[space.index[name]] = param.number(value) if param.is_choice else float(value)
    return point


KINDS = {"scheduler": ServedScheduler, "stopper": ServedStopper, "searcher": ServedSearcher}


def main(arguments: Sequence[str]) -> None:
    """Serves the object of a folder until the host ends the process."""
    folder = Path(arguments[0])
    plugin: Any = KINDS[folder.name]
    plugin.folder = folder
    _moved.find_modules(folder.parent)
    try:
        tunehost.serve(plugin)
    finally:
        if plugin.opened:
            plugin.opened.end()
