"""The server's listener to the process that forks, and to trials: what ends when."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Dict, List, Set

import pytest

from tunehost import _frames, _stop, _system, _zygote
from tunehost._forked import ForkedSession, Zygote
from tunehost._trial import trial_of
from tunehost.plugin import Trainable
from tunehost.run import ENDED, STARTED, Run, Trial, flush
from tunehost.tune import _encode, _payload, _worker, session

ROOT = str(Path(__file__).parent.parent)
KEPT: List[_frames.Frames] = []  # a server without its zygote would end this process


class Session(ForkedSession):
    """Listens no further until it is let."""

    def __init__(self, zygote: Zygote) -> None:
        super().__init__(zygote, {"shared": True, "reusable": True})
        self.let, self.held = threading.Event(), threading.Event()

    def hold(self) -> None:
        """What the zygote says so that the listener waits."""
        self.held.set()
        self.let.wait()


def kinds(session: Session, n: int) -> List[int]:
    found: List[Any] = []
    while len(found) < n:
        found += session.out.drain()
    return [e.kind for e in found]


def test_a_trial_whose_end_comes_and_prints_why(tmp_path: Path) -> None:
    """One round of the listener hears of a trial's end, and of the socket that this closes (B-110)."""
    control, zygote = _frames.pair()
    KEPT.append(zygote)
    session = Session(Zygote(control))
    for run in range(3):  # the listener lives on
        session.start(run, {"dir": str(tmp_path)})
        asked = zygote.next()
        child = _frames.Frames(socket.socket(fileno=zygote.fds.pop()))
        assert asked == [["fork", run]] and child.next() == [{"dir": str(tmp_path)}]
        zygote.send(("forked", run, 7))
        zygote.send(("hold",))
        session.held.wait()
        session.held.clear()
        zygote.send(("exited", run, 0))  # first, so that it comes first
        child.send({"kind": STARTED, "pid": 7})
        child.send({"kind": ENDED})
        child.close()
        session.let.set()
        assert kinds(session, 2) == [STARTED, ENDED]
        session.let.clear()


def dies(code: str) -> "subprocess.CompletedProcess[str]":
    """Runs what must end by itself."""
    return subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": ROOT}, text=True, capture_output=True,
                          timeout=300)


PREPARED = """
import threading
from tunehost import _frames, _forked
control, zygote = _frames.pair()
session = _forked.ForkedSession(_forked.Zygote(control), {"shared": True, "reusable": True})
"""


def test_a_listener_that_fails_ends_the_process_and_prints_why() -> None:
    done = dies(PREPARED + "zygote.send(('forked', 99, 1)); threading.Event().wait()")
    assert done.returncode == 1 and done.stderr.rstrip().endswith("KeyError: 99") and "in _listen" in done.stderr


def test_without_the_zygote_the_server_ends() -> None:
    done = dies(PREPARED + "zygote.close(); threading.Event().wait()")
    assert (done.returncode, done.stderr) == (1, "the process that forks trials is gone\n")


def test_a_reader_that_fails_ends_the_process_and_prints_why() -> None:
    done = dies("""
import threading
from tunehost import _server, _vital
class Session:
    def send(self, commands): raise KeyError("a mistake")
class Message:
    commands = ()
_vital.start(_server._read, iter([Message]), Session(), [])
threading.Event().wait()
""")
    assert done.returncode == 1 and done.stderr.rstrip().endswith("KeyError: 'a mistake'")


def test_a_run_that_cannot_start_ends_alone(tmp_path: Path) -> None:
    """No more files: that is the end of one run, not of the stream."""
    done = dies(f"""
import resource, socket
from tunehost import _frames, _forked
from tunehost._proto import trainable_pb2 as pb
control, zygote = _frames.pair()
session = _forked.ForkedSession(_forked.Zygote(control), {{"shared": True, "reusable": True}})
kept = []
resource.setrlimit(resource.RLIMIT_NOFILE, (30, 30))
try:
    while True: kept.append(socket.socket())
except OSError: pass
session.send([pb.TrainCommand(kind=1, run=5, trial=pb.Trial(dir={str(tmp_path)!r}))])
[ended] = session.out.drain()
print(ended.run, ended.kind, ended.never_started, ended.error)
""")
    assert done.stdout == "5 4 True cannot start: [Errno 24] Too many open files\n", done.stderr


class Trains(Trainable):
    """Counts what it is asked to do."""

    trained = rehearsed = 0

    def train(self, run: Run) -> None:
        """Never in a rehearsal."""
        self.trained += 1

    def _rehearse(self, run: Run) -> None:
        super()._rehearse(run)
        self.rehearsed += 1


def test_a_rehearsal_trains_nothing_and_leaves_nothing() -> None:
    """What trials run beside the author's code is run before the first fork; nobody sees it."""
    made, ran = Trains(), threading.Event()
    files = set(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else set()
    _zygote._rehearse(made)
    assert made.rehearsed == _zygote._REHEARSALS and made.trained == 0
    assert not files or set(os.listdir("/proc/self/fd")) == files
    assert threading.current_thread() is threading.main_thread()
    threading.Thread(target=ran.set).start()
    assert ran.wait(60)


def test_a_rehearsal_of_tune_is_in_no_trial(tmp_path: Path) -> None:
    dir = tmp_path / "tune"
    _payload.write(dir, _payload.Payload(print, "print", None), _encode.Group({}), {})
    made = type("Made", (_worker.Serving,), {"dir": dir})()
    made.open()
    before = sorted(tmp_path.rglob("*"))
    finish, rehearsed = _worker._finish, []

    def finishes(current: session.Session, result: Any) -> None:
        finish(current, result)
        rehearsed.append(result)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_worker, "_finish", finishes)
        _zygote._rehearse(made)
    assert len(rehearsed) == _zygote._REHEARSALS and not session.inside()
    assert sorted(tmp_path.rglob("*")) == before


RETURNS = """
import os
from tunehost._attempt import attempt
from tunehost.plugin import Trainable
from tunehost.run import Run, Trial

me, polls = os.getpid(), []

class Link:
    def send(self, told): pass
    def poll(self):
        if os.getpid() != me: print("the child has read what the trial is told", flush=True)
        return []

class Forks(Trainable):
    def train(self, run):
        for how in (None, SystemExit(0), ValueError("in the child"), "yields"):
            if os.fork() == 0:
                if isinstance(how, Exception) or isinstance(how, SystemExit): raise how
                if how: return self.goes_on()
                return None
            print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
        return None

    def goes_on(self):
        yield {"loss": 1}

ended = attempt(Forks(), Run(Trial(), Link(), False))
print("ended" if os.getpid() == me else "the child has come back", ended, flush=True)
"""


def test_a_forked_process_that_returns_ends_by_itself() -> None:
    """It takes nothing from the connection of the trial, which would wait for it for ever."""
    done = dies(RETURNS)
    assert done.stdout.splitlines() == ["0", "0", "1", "0", "ended {'kind': 4}"], (done.stdout, done.stderr)
    assert done.stderr.rstrip().endswith("ValueError: in the child")


class Silent:
    """A host that hears everything and says nothing."""

    def send(self, told: Dict[str, Any]) -> None:
        pass

    def poll(self) -> List[Dict[str, Any]]:
        return []

    wait = poll


def as_a_fork(dir: Path) -> None:
    """What each fork runs, without what changes this process."""
    run = Run(trial_of({"dir": str(dir), "params": '{"x": 1}', "options": "", "resources": b"{}"}), Silent(), False)
    _system._prctl(3, 0)  # asks only
    _stop.handled()
    _stop.handle(signal.SIGCHLD, int(signal.SIG_DFL))
    _stop.mask(signal.SIG_UNBLOCK, {int(signal.SIGTERM)})
    with run.trains():
        run.report({"loss": 0.5, "val": {"accuracy": 0.1}}, done=True)
    _system.children()
    flush()


def test_what_each_fork_runs_needs_no_modules_that_cost_memory(tmp_path: Path) -> None:
    """A fork copies each page of memory that it touches: these modules are a good part of them."""
    as_a_fork(tmp_path)  # imports what it needs
    files: Set[str] = set()
    sys.setprofile(lambda frame, event, argument: files.add(Path(frame.f_code.co_filename).name))
    try:
        as_a_fork(tmp_path)
    finally:
        sys.setprofile(None)
    costly = {"contextlib.py", "enum.py", "signal.py", "typing.py"}
    assert "run.py" in files and files & costly == set()


def test_what_the_host_says_of_a_trial_is_json_or_nothing() -> None:
    found = trial_of({"params": ' {"x": 1}\n', "options": "", "resources": b"{}", "bundles": [("n", b"", (), "")]})
    assert (found.params, found.options, found.resources, found.bundles[0].resources) == ({"x": 1}, {}, {}, {})
