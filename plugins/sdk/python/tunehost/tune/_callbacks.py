"""Calls the callbacks and progress reporters of the user, in the process that has called fit. What happens is read
from the file that a reporter writes (see _feed), so that nothing is lost when this process dies."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Deque, Dict, List, Mapping, Optional, Sequence

from .. import _integers
from . import _configs, _encode, _heard, _moved, _nested, _payload
from ._names import SHOULD_CHECKPOINT
from ._serving import EVENTS
from .callback import Callback
from .error import TuneError
from .logger import LoggerCallback
from .progress_reporter import ProgressReporter
from .result import kept_checkpoints
from .trial import Trial

if TYPE_CHECKING:
    from ._listening import Ask, Listener

_ONE_AT_A_TIME = threading.RLock()  #: experiments that run at the same time may have the same callbacks
FOLDER = "state"  #: beside the plugin, whose files must not change
_STATE = "callbacks.pkl"
_KEEP_EVERY_S = 1.0


class Settings:
    """What callbacks are told at the beginning, and how trials are named."""

    def __init__(
        self,
        callbacks: Sequence[Callback],
        reporter: Optional[ProgressReporter],
        info: Mapping[str, Any],
        name: str,
        names: Optional[Callable[[Trial], str]] = None,
        dirs: Optional[Callable[[Trial], str]] = None,
    ) -> None:
        self.callbacks, self.reporter, self.info = list(callbacks), reporter, dict(info)
        self.name = name  #: of the trainable
        self.names, self.dirs = names, dirs

    def needed(self) -> bool:
        """Whether anybody wants to hear of trials."""
        return bool(self.callbacks or self.reporter or self.names or self.dirs)


class Caller:
    """Follows one experiment."""

    def __init__(self, dir: str, settings: Settings) -> None:
        self._dir, self._settings = dir, settings
        self._folder = Path(dir, "tune", FOLDER)
        self._trials: Dict[int, Trial] = {}
        self._iteration = 0
        self._at = 0  # bytes of the file that the callbacks have heard
        self._unheard: Deque[bytes] = collections.deque()  # lines after them that were read
        self._due = False  # the callbacks have heard more than is kept
        self._kept = time.monotonic()
        self._plan = _payload.read_plan(Path(dir, "tune"))
        self._begun = time.time()
        self._awaited = [c for c in settings.callbacks if _is_awaited(c)]
        self._listener: Optional[Listener] = None
        self._waiting: List[Ask] = []
        self._heard: set[_heard.Place] = set()  # results that the callbacks were asked about
        self._started: Dict[int, int] = {}  # the attempts of the trials

    @property
    def ready(self) -> Optional[threading.Event]:
        """Set when look should be called at once."""
        return self._listener.ready if self._listener else None

    def begin(self) -> None:
        """Sets the callbacks up, with the state that they had."""
        if self._awaited:
            from ._listening import Listener

            self._listener = Listener(self._folder.parent)
        for callback in self._settings.callbacks:
            callback.setup(**self._settings.info)
        self._restore()
        reporter = self._settings.reporter
        if reporter:
            info = self._settings.info
            reporter.setup(
                start_time=self._begun,
                total_samples=info.get("total_num_samples"),
                metric=info.get("metric"),
                mode=info.get("mode"),
            )

    def look(self) -> None:
        """Calls the callbacks with what has happened. If Ctrl-C interrupts one, the next look has the next event."""
        self._unheard += self._read()
        if self._unheard:
            self._hear_all()
        self._listen()
        if self._due and time.monotonic() - self._kept > _KEEP_EVERY_S:
            self._keep()
        self._progress(False)

    def _hear_all(self) -> None:
        self._due = False  # what a callback fails with is not kept, and comes again
        with _ONE_AT_A_TIME:
            while self._unheard:
                line = self._unheard.popleft()
                self._at += len(line)
                self._hear(json.loads(line))
        self._due = True

    def end(self) -> None:
        """The host has ended."""
        self._stop_listening()
        self.look()
        self._keep()
        self._progress(True)

    def close(self) -> None:
        """From now on no trial waits for callbacks. Where the host has failed, they do not hear again what they have
        heard."""
        self._stop_listening()
        if self._due:
            with contextlib.suppress(TuneError):  # why the host has failed says more
                self._keep()

    def _stop_listening(self) -> None:
        if self._listener:
            self._listener.close()
            self._listener = None

    def _listen(self) -> None:
        """Answers the trials that wait, once the callbacks know that they have started."""
        self._waiting += self._listener.asks() if self._listener else []
        for ask in [a for a in self._waiting if self._started.get(a.place[0], 0) >= a.place[1]]:
            self._waiting.remove(ask)
            with _ONE_AT_A_TIME:
                self._answer(ask)
            self._due = True

    def _answer(self, ask: Ask) -> None:
        trial = self._trials[ask.place[0]]
        result = _expected(ask, trial)
        before, inner = dict(result), _inner(result)
        about: Dict[str, Any] = {"iteration": self._iteration, "trials": list(self._trials.values()), "trial": trial}
        for callback in self._awaited:
            callback.on_trial_result(**about, result=result)
        self._heard.add(ask.place)
        trial.update_last_result(result)
        now = _inner(result)
        changed = [k for k in result if k not in before or before[k] is not result[k] or inner.get(k) != now.get(k)]
        ask.answer({k: result[k] for k in changed if k not in _FACTS})

    def _read(self) -> List[bytes]:
        try:
            with open(self._folder / EVENTS, "rb") as f:
                f.seek(self._at + sum(map(len, self._unheard)))
                read = f.read()
        except FileNotFoundError:
            return []
        return read[: read.rfind(b"\n") + 1].splitlines(keepends=True)

    def _progress(self, done: bool) -> None:
        reporter = self._settings.reporter
        trials = list(self._trials.values())
        if reporter and reporter.should_report(trials, done=done):
            reporter.report(trials, done, f"{time.time() - self._begun:.0f}s in {self._dir}")

    # State.

    def _keep(self) -> None:
        """Writes how far the callbacks are."""
        self._kept, self._due = time.monotonic(), False
        states = [c.get_state() for c in self._settings.callbacks]
        state = {"at": self._at, "iteration": self._iteration, "trials": self._trials, "states": states}
        state.update(heard=self._heard, started=self._started)
        _payload.dump(self._folder / _STATE, state, "the state of the callbacks")

    def _restore(self) -> None:
        file = self._folder / _STATE
        if not file.exists():
            return
        state = _payload.load(file)
        self._at, self._iteration, self._trials = state["at"], state["iteration"], state["trials"]
        self._heard, self._started = state.get("heard", set()), state.get("started", {})
        for trial in self._trials.values():
            _moved.place(trial, Path(self._dir))
        if len(state["states"]) != len(self._settings.callbacks):
            raise TuneError(
                f"the experiment had {len(state['states'])} callbacks, and now has {len(self._settings.callbacks)}: "
                "give the same ones"
            )
        for callback, known in zip(self._settings.callbacks, state["states"]):
            if known is not None:
                callback.set_state(known)

    # Events.

    def _hear(self, event: Dict[str, Any]) -> None:
        kind = event["kind"]
        trial = self._trial(event["trial"], event) if "trial" in event else None
        trials = list(self._trials.values())
        common = {"iteration": self._iteration, "trials": trials}
        self._call("on_step_begin", **common)
        if trial is not None:
            about = {**common, "trial": trial}
            hear = getattr(self, f"_{kind.lower()}", None)
            if hear:
                hear(event, trial, about)
        elif kind == "EXPERIMENT_ENDED":
            self._call("on_experiment_end", trials=trials)
        self._iteration += 1
        self._call("on_step_end", iteration=self._iteration, trials=trials)

    def _call(self, hook: str, **arguments: Any) -> None:
        for callback in self._settings.callbacks:
            getattr(callback, hook)(**arguments)

    def _trial(self, subject: Mapping[str, Any], event: Mapping[str, Any]) -> Trial:
        """The trial of an event, as it is after it."""
        number = subject.get("number", 0)
        trial = self._trials.get(number)
        if trial is None:
            trial = self._trials[number] = Trial(number, subject["id"], {}, self._settings.name)
            trial.path = subject["dir"]
            _moved.place(trial, Path(self._dir))
        if not trial.config or event["kind"] in ("TRIAL_ADDED", "TRIAL_STARTED"):
            trial.set_config(self._config(trial, subject.get("params", {})))
        trial.status = subject.get("state", trial.status)
        if event["kind"] == "TRIAL_ADDED":
            self._name(trial)
        return trial

    def _config(self, trial: Trial, params: Mapping[str, Any]) -> Dict[str, Any]:
        kept = _configs.kept(Path(trial.path or ""))
        return _encode.decode(self._plan, params) if kept is None else kept

    def _name(self, trial: Trial) -> None:
        if self._settings.names:
            trial.custom_trial_name = str(self._settings.names(trial))
        if self._settings.dirs:
            name = str(self._settings.dirs(trial))
            if "/" in name:
                raise TuneError(f"trial_dirname_creator returned {name!r}: expected a name without /")
            link = os.path.join(self._dir, name)
            if not os.path.lexists(link) and trial.path:
                os.symlink(os.path.relpath(trial.path, self._dir), link)

    def _trial_started(self, event: Mapping[str, Any], trial: Trial, about: Dict[str, Any]) -> None:
        trial.start_time = trial.start_time or event["time"]
        self._started[trial.number] = event["trial"].get("attempt", 0)
        self._call("on_trial_start", **about)
        if event.get("restored"):
            self._call("on_trial_restore", **about)

    def _result_reported(self, event: Mapping[str, Any], trial: Trial, about: Dict[str, Any]) -> None:
        result = _result(event, trial)
        before = set(result)
        place = trial.number, event["trial"].get("attempt", 0), result["training_iteration"]
        known = place in self._heard
        self._heard.discard(place)
        for callback in self._settings.callbacks:
            if not (known and callback in self._awaited):
                callback.on_trial_result(**about, result=result)
        if SHOULD_CHECKPOINT in set(result) - before:
            _warn_once(
                f"a callback has set result[{SHOULD_CHECKPOINT!r}], which has no effect: trials wait for the "
                "on_trial_result of a Callback, on the machine of the script; loggers are only told"
            )
        trial.update_last_result(result)

    def _checkpoint_saved(self, event: Mapping[str, Any], trial: Trial, about: Dict[str, Any]) -> None:
        trial._checkpoint = _files(trial.path, event.get("iteration", 0))
        self._call("on_trial_save", **about)
        self._call("on_checkpoint", **about, checkpoint=trial.checkpoint)

    def _trial_completed(self, event: Mapping[str, Any], trial: Trial, about: Dict[str, Any]) -> None:
        trial.last_result["done"] = True
        self._call("on_trial_complete", **about)

    _trial_removed = _trial_completed

    def _trial_failed(self, event: Mapping[str, Any], trial: Trial, about: Dict[str, Any]) -> None:
        trial.num_failures += 1
        trial._error = event["trial"].get("error") or event.get("reason", "failed")
        self._call("on_trial_error", **about)

    def _trial_requeued(self, event: Mapping[str, Any], trial: Trial, about: Dict[str, Any]) -> None:
        if event["trial"].get("error"):
            trial.num_failures += 1
            self._call("on_trial_recover", **about)


def _is_awaited(callback: Callback) -> bool:
    """Whether trials wait for a callback: it has an on_trial_result of its own, and is no logger."""
    return type(callback).on_trial_result not in (Callback.on_trial_result, LoggerCallback.on_trial_result)


def _inner(result: Mapping[str, Any]) -> Dict[str, str]:
    """Texts of the dicts in a result, by which their changes are seen."""
    return {name: repr(value) for name, value in result.items() if isinstance(value, dict)}


def _expected(ask: Ask, trial: Trial) -> Dict[str, Any]:
    """A result that will be reported, with Ray's names."""
    now = time.time()
    return {
        **{k: v for k, v in ask.result.items() if k != "config"},
        "training_iteration": ask.place[2],
        "time_this_iter_s": ask.seconds,
        "time_total_s": trial.last_result.get("time_total_s", 0.0) + ask.seconds,
        "timestamp": int(now),
        "date": time.strftime("%Y-%m-%d_%H-%M-%S", time.localtime(now)),
        "trial_id": trial.trial_id,
        "done": bool(ask.result.get("done", False)),
        "config": trial.config,
        "experiment_tag": trial.experiment_tag,
    }


_FACTS = ("training_iteration", "trial_id", "done", "config", "experiment_tag", "date", "timestamp")  #: not to be changed
_warned: set[str] = set()


def _warn_once(text: str) -> None:
    if text not in _warned:
        _warned.add(text)
        print(f"tunehost: {text}", file=sys.stderr)


def _files(path: Optional[str], iteration: int) -> Optional[str]:
    """The directory of a checkpoint; None if it is gone already."""
    return next((dir for at, dir in reversed(kept_checkpoints(path)) if at == iteration), None)


def _result(event: Mapping[str, Any], trial: Trial) -> Dict[str, Any]:
    """A result with Ray's names."""
    r = event["result"]
    numbers = {**r.get("metrics", {}), **r.get("totals", {})}
    reported = {**r.get("values", {}), **_integers.typed(numbers, _integers.of(trial.path))}
    found = _nested.nested(reported, _nested.groups(trial.path) if any("/" in name for name in reported) else ())
    found.update(
        training_iteration=r["iteration"],
        time_total_s=r["time_total_s"],
        time_this_iter_s=r["time_this_iter_s"],
        timestamp=int(event["time"]),
        date=time.strftime("%Y-%m-%d_%H-%M-%S", time.localtime(event["time"])),
        pid=r["pid"],
        hostname=r["host"],
        trial_id=trial.trial_id,
        done=r["done"],
        config=trial.config,
        experiment_tag=trial.experiment_tag,
        iterations_since_restore=r["iterations_since_restore"] or r["iteration"],
        time_since_restore=r["time_since_restore"] or r["time_total_s"],
    )
    return found
