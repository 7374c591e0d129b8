"""One attempt of one trial, for trainables."""

from __future__ import annotations

import functools
import json
import os
import sys
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Protocol, Sequence, TypeVar, Union, cast

from . import _traces
from ._integers import Integers
from ._keeping import is_full, keep
from ._metrics import Reported, flatten, left_out, whole
from .errors import Killed, Paused, Stopped, UnknownFormat

__all__ = ["Run", "Trial"]

START, CONTINUE, SAVE, STOP, KILL = range(1, 6)
STARTED, RESULT, SAVED, ENDED, LOG = range(1, 6)
EXPORTED = 7
_MAX_TEXT = 64 << 10
_MAX_DESCRIBED = 2_000  # characters of an exception's text
_FULL = "no space left on device for what it reports: it waits until there is room"  # the host knows the first words
_AGAIN_S = 0.5  # a full disk is tried again after that
_COUNTED = "it counts from 1 and grows with each report; leave it out, and tunehost counts, or report it by another name"

Order = Dict[str, Any]
"""A TrainCommand of the protocol: kind, credits, dir, paused."""

Told = Dict[str, Any]
"""A TrainEvent of the protocol, without its run."""

Save = Callable[[Path], Any]
Export = Callable[[str, Path], Any]


class Link(Protocol):
    """The connection to the host."""

    def send(self, told: Told) -> None:
        """Tells the host what happened."""

    def poll(self) -> List[Order]:
        """The orders that have come; does not wait."""
        ...

    def wait(self) -> List[Order]:
        """The next orders."""
        ...


@dataclass(frozen=True)
class Bundle:
    """One granted share of a node."""

    node: str = ""
    resources: Mapping[str, Any] = None  # type: ignore[assignment]
    devices: Sequence[str] = ()  #: ids of the node's GPUs
    address: str = ""  #: by which the trial's other nodes reach this one; "": all bundles are on this machine


@dataclass(frozen=True)
class Logs:
    """The files in a trial's directory for its output; "" if it is not kept."""

    stdout: str = "stdout"
    stderr: str = "stderr"


@dataclass(frozen=True)
class Trial:
    """The trial that an attempt trains."""

    id: str = ""  #: its name in files
    number: int = 0  #: from 0
    attempt: int = 1  #: from 1
    experiment: str = ""
    params: Mapping[str, Any] = None  # type: ignore[assignment]
    options: Mapping[str, Any] = None  # type: ignore[assignment]
    seed: int = 0
    dir: str = ""
    restore: str = ""
    iteration: int = 0  #: of the checkpoint to continue from
    resources: Mapping[str, Any] = None  # type: ignore[assignment]
    devices: Sequence[str] = ()  #: ids of the GPUs granted, each once
    bundles: Sequence[Bundle] = ()  #: the places granted, in the order of the request
    checkpoint_every: int = 0
    checkpoint_at_end: bool = False
    run_ahead: int = 0
    grace_seconds: float = 0.0
    export: Sequence[str] = ()  #: formats in which the model is wanted when all ends well
    export_dir: str = ""
    logs: Logs = Logs()
    confirms: bool = False  #: the host gives a credit for each recorded result, also for those that meet a stop


_T = TypeVar("_T", bound=Callable[..., Any])
_R = TypeVar("_R")


def _uninterrupted(method: _T) -> _T:
    """Delays a stop until the method has returned."""

    @functools.wraps(method)
    def run(self: Run, *args: Any, **kwargs: Any) -> Any:
        self._inside += 1
        try:
            return method(self, *args, **kwargs)
        finally:
            self._inside -= 1
            self._interrupt()

    return cast(_T, run)


class Run:
    """One attempt of one trial. Only the thread that trains may use it."""

    def __init__(self, trial: Trial, link: Link, saves: bool) -> None:
        self.trial = trial
        self._link = link
        self._saves = saves
        self._granted = 0
        self._asked: List[str] = []
        self._stop: Union[Stopped, Killed, None] = None
        self._stop_dir = ""
        self._killed = False
        self._reported = 0
        self._integers = Integers(trial.dir)
        self._iteration = trial.iteration
        self._done = False
        self._export: Optional[Export] = None
        self._exports = ""  # the trial's export_dir, without links
        self._training = False  # the author's code is running
        self._inside = 0  # number of active calls of this object's methods
        self._signalled = False  # a stop may have arrived since
        self._told = False  # the author's code knows about it, and may clean up
        self._pid = os.getpid()

    @property
    def forked(self) -> bool:
        """Whether this is a process that the author's code has forked: it has no trial, and must not read what the
        host says to the trial's own process."""
        return os.getpid() != self._pid

    def leave_fork(self, status: int = 0) -> None:
        """Ends such a process where the author's code has returned in it."""
        if self.forked:
            flush()
            os._exit(status)

    @property
    def ending(self) -> bool:
        """Whether the trial is known to end, or its code is not running."""
        return self._stop is not None or self._done or not self._training

    def signalled(self) -> None:
        """A stop may have arrived: raises it if the author's code is training between reports.
        Only for the thread that trains; the signal handler calls it."""
        self._signalled = True
        self._interrupt()

    def _interrupt(self) -> None:
        if not self._signalled or self._inside or self._told or not self._training:
            return
        self._inside += 1  # or another signal could interrupt it
        try:
            self._signalled = False
            self._hear(self._link.poll())
        finally:
            self._inside -= 1
        if self._stop and not self._stop_dir:
            raise self._end()

    def _end(self) -> Union[Stopped, Killed]:
        """The exception that ends the training. From then on nothing interrupts it."""
        self._told = True
        assert self._stop
        return self._stop

    def trains(self) -> _Training:
        """Runs the author's code."""
        return _Training(self)

    @property
    def params(self) -> Mapping[str, Any]:
        """The trial's parameters; nested names are nested dicts."""
        return self.trial.params

    @property
    def seed(self) -> int:
        """The trial's random seed, from 0 to 2**64 - 1. random, numpy and torch are seeded with it
        already, if they were imported."""
        return self.trial.seed

    @cached_property
    def dir(self) -> Path:
        """The trial's directory."""
        return Path(self.trial.dir)

    @cached_property
    def restore(self) -> Optional[Path]:
        """The directory of the checkpoint to continue from, or None."""
        return Path(self.trial.restore) if self.trial.restore else None

    @property
    def iteration(self) -> int:
        """The iteration of the last result, or of the checkpoint; 0 at the start."""
        return self._iteration

    @property
    @_uninterrupted
    def stopped(self) -> bool:
        """Whether the trial was told to stop: for threads, and for code that no exception may interrupt."""
        self._hear(self._link.poll())
        return self._stop is not None

    @_uninterrupted
    def log(self, text: str) -> None:
        """Writes to the trial's log."""
        self._link.send({"kind": LOG, "text": cut(text)})

    @_uninterrupted
    def report(self, metrics: Optional[Mapping[str, Any]] = None, *, iteration: Optional[int] = None,
               save: Optional[Save] = None, checkpoint: Any = None, done: bool = False, **more: Any) -> None:
        """Reports one result and returns when the trial may continue.

        Numbers are metrics; other values (text, bool, list) are kept beside them in result.jsonl.
        save(dir) writes the training's state into the empty directory dir; it is called only
        when a checkpoint of this result is wanted. checkpoint is a directory that already
        holds one; it may be deleted when report has returned, and one in the trial's directory is
        moved away. It is kept even if the trial was already told to stop. done: this is the last
        result; the next report raises Stopped. Raises Stopped, or Paused, when the trial must end, and Killed when
        its host is gone or has killed it; do not catch them.
        """
        self.check_open()
        r = flatten(metrics, more)
        number, done = self._numbered(r, iteration), bool(done) or r.done
        if r.left_out:
            self._link.send({"kind": LOG, "text": cut(left_out(r.left_out)), "hint": True})
        self._hear(self._link.poll())
        over = self._stop is not None and not self._stop_dir and not self._meets_pause()
        if over and (self._killed or not checkpoint):
            raise self._end()
        saved = self.when_room(lambda: keep(checkpoint, self.trial.dir)) if checkpoint else ""
        self.when_room(lambda: self._integers.note(r.metrics, r.integers))
        self._iteration = number or self._iteration + 1
        self._reported += 1
        self._done = done
        self._link.send({
            "kind": RESULT, "metrics": list(r.metrics.items()), "iteration": number, "checkpoint": saved, "done": done,
            "values": json.dumps(r.values, allow_nan=False).encode() if r.values else b"",
        })
        if over:  # the result no longer counts; the checkpoint is kept
            while not self._confirmed() and not self._killed:
                self._hear(self._link.wait())
            raise self._end()
        self._await_decision(done, self._due(done, save is not None and not checkpoint), save)

    def _meets_pause(self) -> bool:
        """Whether a result meets an order to pause that the author's code has not heard of. It is like one that was sent
        just before: it counts, so its answer follows its record."""
        return self.trial.confirms and isinstance(self._stop, Paused) and not self._told and not self._killed

    def _confirmed(self) -> bool:
        """Whether the results so far are recorded, so that a stop is an answer to them."""
        return not self.trial.confirms or self._reported <= self._granted

    def when_room(self, write: Callable[[], _R]) -> _R:
        """The result of write, which writes into the trial's directory. While the disk is full this says so, waits and
        calls it again. Raises as report when the trial must end before."""
        told = False
        while True:
            try:
                return write()
            except OSError as e:
                if not is_full(e):
                    raise
            if not told:
                self._link.send({"kind": LOG, "text": _FULL, "hint": True})
            told = True
            time.sleep(_AGAIN_S)
            self._hear(self._link.poll())
            if self._stop is not None and not self._stop_dir:
                raise self._end()

    def check_open(self) -> None:
        """Raises Stopped if the last result was reported: nothing counts after it."""
        if self._done:
            self._told = True
            raise Stopped()

    def _numbered(self, r: Reported, iteration: Optional[int]) -> int:
        """The iteration that a report gives; 0: none. ValueError if the host would refuse it."""
        given = whole(iteration) if iteration is not None else r.iteration or 0
        name = "iteration" if iteration is not None else r.counted
        told = r.metrics.get("training_iteration", 1.0)
        if told < 1 or not float(told).is_integer():
            raise ValueError(f"training_iteration is {told:g}: {_COUNTED}")
        if given and self._reported and given <= self._iteration:
            raise ValueError(f"{name} is {given} after {self._iteration}: {_COUNTED}")
        return given

    def export_with(self, export: Export) -> None:
        """Sets the function that writes the model: when the trial has finished, export(format, dir) is
        called for each format that the experiment file requests. It writes the model into the
        empty directory dir, or raises UnknownFormat or another exception; the trial does not
        fail because of it. A stopped trial's exports are made within its grace time."""
        self._export = export
        self._exports = os.path.realpath(self.trial.export_dir)

    def _hand_over(self) -> None:
        """Makes the exports of a trial that has finished."""
        self._hear(self._link.poll())
        if self._export is None or self._killed or isinstance(self._stop, Paused) and not self._done:
            return
        for format in self.trial.export:
            self._link.send({"kind": EXPORTED, "format": format, "error": self._export_as(self._export, format)})

    def _export_as(self, export: Export, format: str) -> str:
        dir = Path(self.trial.export_dir, format)
        try:
            import shutil

            now = os.path.realpath(dir)
            if now != os.path.join(self._exports, format):  # what is there is somebody else's
                raise OSError(f"{dir} leads to {now} since the trial started, and links are not followed")
            shutil.rmtree(dir, ignore_errors=True)
            dir.mkdir(parents=True)
            export(format, dir)
        except UnknownFormat as e:
            return cut(str(e))
        except Exception as e:
            _traces.show()
            return describe(e)
        return ""

    def _due(self, done: bool, can_save: bool) -> bool:
        """Whether the host will ask for a checkpoint of this result before it answers."""
        every, can_save = self.trial.checkpoint_every, can_save and self._saves
        if every and self._iteration % every == 0:
            return not done or can_save
        return done and self.trial.checkpoint_at_end and can_save

    def _await_decision(self, done: bool, due: bool, save: Optional[Save]) -> None:
        if done and not due:
            return  # no decision is needed
        ahead = 0 if due else self.trial.run_ahead
        while True:
            saved = self._carry_out_saves(save)
            if self._stop and (self._confirmed() or self._killed):
                raise self._end()
            if saved and done:
                return
            if not saved and not self._stop and self._reported - self._granted <= ahead:
                return
            self._hear(self._link.poll() if saved else self._link.wait())

    def _carry_out_saves(self, save: Optional[Save]) -> bool:
        dirs, self._asked = self._asked, []
        if self._stop_dir:
            dirs.append(self._stop_dir)
            self._stop_dir = ""
        for dir in dirs:
            self._save(dir, save)
        return bool(dirs)

    def _save(self, dir: str, save: Optional[Save]) -> None:
        error = ""
        if save is None:
            error = (f"the result of iteration {self._iteration} was reported without save=, and a checkpoint of it is wanted: "
                     "give save= with each report")
        else:
            try:
                save(Path(dir))
            except Exception as e:
                _traces.show()
                error = describe(e)
        self._link.send({"kind": SAVED, "iteration": self._iteration, "checkpoint": dir, "error": error})

    def _hear(self, orders: List[Order]) -> None:
        for order in orders:
            kind = order["kind"]
            if kind == CONTINUE:
                self._granted += order["credits"]
            elif kind == SAVE:
                self._asked.append(order["dir"])
            elif kind == STOP:
                self._granted += order.get("credits", 0)
                self._stop, self._stop_dir = Paused() if order["paused"] else Stopped(), order["dir"]
            elif kind == KILL:
                self._stop_dir, self._killed = "", True
                if self._stop is None or not self._confirmed():
                    self._stop = Killed()


class _Training:
    """While it is entered, the author's code is running."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def __enter__(self) -> None:
        self._run._training = True
        try:
            self._run._interrupt()
        except BaseException:
            self._run._training = False
            raise

    def __exit__(self, *_: object) -> None:
        self._run._training = False


def flush() -> None:
    """Flushes buffered output."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass


def cut(text: str) -> str:
    """A text that a message can carry."""
    text = text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + " [cut]"
    return text.encode("utf-8", "replace").decode()


def describe(error: BaseException) -> str:
    """An exception in one line, with the place in the author's code."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # its own __str__ fails
        text = "it has no text"
    text = _traces.middle(text, _MAX_DESCRIBED)
    place = _traces.where(error)
    return cut((f"{type(error).__name__}: {text}" if text else type(error).__name__) + (f" ({place})" if place else ""))
