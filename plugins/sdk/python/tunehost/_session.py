"""The trainable's side of a Train stream: receives orders of the host and returns events.

Session is the common base class: LocalSession trains in this process,
_forked.ForkedSession in forks of the zygote.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import threading
from typing import Any, Callable, Dict, List, Mapping, Optional

from . import _output, _stop, _vital
from ._attempt import attempt
from ._proto import common_pb2, trainable_pb2
from ._trial import prepare, trial_of
from .plugin import Trainable
from .run import ENDED, KILL, START, STARTED, STOP, Link, Order, Run, Told, Trial

_MAX_QUEUED = 8192
_NOTICE_S = 3.0  #: within which the host stops trials of a job that an engine ends
_MAX_BATCH = 512 << 10

BUSY = "the process already runs a trial, and the trainable does not share it"
USED = "the process has run a trial, and the trainable cannot be reused"


class Broken(Exception):
    """The host broke the protocol."""


class Outbox:
    """Passes events of many runs to the stream, all waiting events at once. push blocks while the
    queue is full."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._events: List[trainable_pb2.TrainEvent] = []
        self._closed = False

    def push(self, run: int, told: Told) -> None:
        metrics = [common_pb2.Metric(name=name, value=value) for name, value in told.get("metrics", ())]
        event = trainable_pb2.TrainEvent(run=run, **{**told, "metrics": metrics})
        with self._change:
            self._change.wait_for(lambda: self._closed or len(self._events) < _MAX_QUEUED)
            if not self._closed:
                self._events.append(event)
                self._change.notify_all()

    def drain(self) -> List[trainable_pb2.TrainEvent]:
        """Waits for events; [] after close."""
        with self._change:
            self._change.wait_for(lambda: self._closed or bool(self._events))
            events, self._events = self._events, []
            self._change.notify_all()
            return events

    def close(self) -> None:
        with self._change:
            self._closed = True
            self._change.notify_all()


class Session:
    """Runs of trials, in sequence or at the same time, as the traits allow."""

    def __init__(self, traits: Mapping[str, bool]) -> None:
        self.out = Outbox()
        self.lock = threading.RLock()
        self.runs: Dict[int, Any] = {}
        self._traits = traits
        self._started = False
        self._closed = False

    def send(self, commands: Any) -> None:
        """Executes commands in order, without waiting for their effect."""
        with self.lock:
            for c in commands:
                if not self._closed:
                    self._apply(c)

    def _apply(self, c: trainable_pb2.TrainCommand) -> None:
        if c.kind == START:
            self._begin(c)
        elif c.run in self.runs:
            order = {"kind": int(c.kind), "credits": c.credits, "dir": c.dir, "paused": c.paused}
            self.order(c.run, order)

    def _begin(self, c: trainable_pb2.TrainCommand) -> None:
        if not c.HasField("trial"):
            raise Broken(f"run {c.run} was started without a trial")
        if c.run in self.runs:
            raise Broken(f"run {c.run} was started twice")
        why = self._refuses()
        if why:
            self.out.push(c.run, {"kind": ENDED, "error": why, "never_started": True})
            return
        self._started = True
        try:
            self.start(c.run, fields(c.trial))
        except (OSError, RuntimeError) as e:  # no more files or threads: that is this run's end alone
            self.runs.pop(c.run, None)
            self.out.push(c.run, {"kind": ENDED, "error": f"cannot start: {e}", "never_started": True})

    def _refuses(self) -> str:
        if self._traits["shared"]:
            return ""
        if self.runs:
            return BUSY
        return USED if self._started and not self._traits["reusable"] else ""

    def close(self) -> None:
        """Ends every run; events that come later are dropped."""
        with self.lock:
            if not self._closed:
                self._closed = True
                for run in list(self.runs):
                    self.order(run, {"kind": KILL})
                self.out.close()

    def start(self, run: int, trial: Dict[str, Any]) -> None:
        raise NotImplementedError

    def order(self, run: int, order: Order) -> None:
        raise NotImplementedError


def fields(m: trainable_pb2.Trial) -> Dict[str, Any]:
    """Returns a trial's message as a dict, which is quick to send to a process."""
    found = {f.name: _text(getattr(m, f.name)) for f in m.DESCRIPTOR.fields}
    bundles = [(b.node, b.resources.decode(), list(b.devices), b.address) for b in m.bundles]
    return {**found, "devices": list(m.devices), "bundles": bundles, "export": list(m.export),
            "logs": (m.logs.stdout, m.logs.stderr) if m.HasField("logs") else ("stdout", "stderr")}


def _text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


class _QueueLink(Link):
    """Connects a training thread with the session."""

    def __init__(self, tell: Callable[[Told], None]) -> None:
        self._tell = tell
        self.orders: queue.SimpleQueue[Order] = queue.SimpleQueue()

    def send(self, told: Told) -> None:
        self._tell(told)

    def wait(self) -> List[Order]:
        return [self.orders.get(), *self.poll()]

    def poll(self) -> List[Order]:
        found = []
        while not self.orders.empty():
            found.append(self.orders.get())
        return found


class LocalSession(Session):
    """Trains in this process: in the main thread, or one thread per trial if trials share it."""

    def __init__(self, trainable: Trainable, traits: Mapping[str, bool], main: Callable[[Callable[[], None]], None]) -> None:
        super().__init__(traits)
        self._trainable, self._main = trainable, main
        self._run: Optional[Run] = None  # of the main thread
        self._ordered = False  # this process has sent itself a SIGTERM that has not arrived yet
        self._handler = self._signalled
        self._by_others = _stop.end_unless(lambda: None, self._stopped, _NOTICE_S)

    def start(self, run: int, trial: Dict[str, Any]) -> None:
        link = self.runs[run] = _QueueLink(lambda told: self.out.push(run, told))
        if self._traits["shared"]:
            _vital.start(self._train, run, trial, link)
        else:
            self._main(_vital.vital(lambda: self._train(run, trial, link)))

    def order(self, run: int, order: Order) -> None:
        self.runs[run].orders.put(order)
        if order["kind"] == STOP and signal.getsignal(signal.SIGTERM) is self._handler:
            self._ordered = True  # the next report may be far away
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)

    def _train(self, number: int, found: Dict[str, Any], link: _QueueLink) -> None:
        trial = trial_of(found)
        run = Run(trial, link, self._traits["saves"])
        if not self._traits["shared"]:
            prepare(trial)
            self._run = run
            _stop.install(self._handler)
            run.signalled()  # a stop may have arrived earlier
        link.send({"kind": STARTED, "pid": os.getpid()})
        ended = self._attempt(trial, run)
        with self.lock:  # removed before its end is sent: the host may answer with a START
            del self.runs[number]
        self.out.push(number, ended)

    def _attempt(self, trial: Trial, run: Run) -> Told:
        """Runs the author's code. If no other trial shares the process, its output goes to the
        trial's files."""
        if self._traits["shared"] or not os.path.isdir(trial.dir):
            return attempt(self._trainable, run)
        try:
            with _output.sent_to(trial.dir, trial.logs):
                return attempt(self._trainable, run)
        except OSError as e:
            return {"kind": ENDED, "error": f"cannot write the trial's log: {e}", "never_started": True}

    def _signalled(self, signum: int, frame: Any) -> None:
        """Tells the run in the main thread to stop. A SIGTERM from another process, such as an engine, does nothing, see
        _stop.leave_end_to_host; or it ends this process, unless the host stops the run soon, which then may save."""
        if self._ordered and self._run:
            self._ordered = False
            self._run.signalled()
        elif getattr(self._trainable, "ends_on_sigterm", False):
            self._by_others(signum, frame)

    def _stopped(self) -> bool:
        """Whether the host has stopped what this process does."""
        return self._closed or bool(self.runs) and self._run is not None and self._run.ending


def batches(events: List[trainable_pb2.TrainEvent]) -> List[List[trainable_pb2.TrainEvent]]:
    """Splits events into portions that are well below the size limit of a message."""
    if len(events) < 1000 and not any(len(e.text) > 1000 or len(e.values) > 1000 or len(e.metrics) > 50 for e in events):
        return [events]
    portions: List[List[trainable_pb2.TrainEvent]] = [[]]
    size = 0
    for e in events:
        size += e.ByteSize()
        if size > _MAX_BATCH and portions[-1]:
            portions.append([])
            size = e.ByteSize()
        portions[-1].append(e)
    return portions


def opened(options: bytes, plugin: Any) -> Any:
    """Creates a plugin, sets its options and opens it."""
    made = plugin()
    made.configure(json.loads(options or b"{}"))
    made.open()
    return made
