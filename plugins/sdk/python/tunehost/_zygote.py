"""The main process of a trainable that forks. It imports the author's code, opens the
trainable, and forks once for each trial. It has one thread and does not import gRPC. One of
its children, the server, talks to the host; trials talk to the server. The server is a program of tunehost, which
starts quickly and works fast (plugins/sdk/serve/forks), or where that is missing a fork with gRPC (see _forked).
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import json
import os
import select
import signal
import socket
import sys
import threading
import traceback
from typing import Any, Callable, Dict, List, NoReturn, Optional, Type

from . import _frames, _log, _output, _stop, _system
from ._answers import WrongAnswer
from ._attempt import attempt
from ._frames import Frames
from ._trial import prepare, trial_of
from .errors import Refused
from .plugin import Trainable, requested, traits_of
from .run import ENDED, STARTED, Link, Order, Run, Told, Trial, describe, flush

_TICK_S = 1.0
_TERM = {int(signal.SIGTERM)}


def unsafe() -> str:
    """Why this process should not be forked, or ""."""
    if threading.active_count() > 1:
        return "it runs threads"
    cuda: Any = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is not None and cuda.is_initialized():
        return "it has initialised CUDA"
    return ""


def wanted(trainable: Type[Trainable]) -> bool:
    """Whether the program forks."""
    if trainable.fork is False or not hasattr(os, "waitid") or not hasattr(socket, "send_fds"):
        return False
    why = unsafe()
    if trainable.fork is None and why:
        _log.log.info("trials cannot begin as copies of this process, because %s: each starts a process of its own, which "
                      "takes longer", why)
    return bool(trainable.fork) or sys.platform == "linux" and not why


def run(trainable: Type[Trainable], serve: Callable[[Frames], int], stdout: int,
        become: Callable[[Frames], None] = lambda control: None) -> int:
    """Forks the server, which calls become, which may replace it, and then serve, and acts as its zygote until the server ends.
    Returns the server's exit status. The server then owns stdout, a file descriptor."""
    ours, theirs = _frames.pair()
    host = os.getppid()
    me = os.getpid()
    server = os.fork()
    if server == 0:
        ours.close()
        _system.die_with_parent(me)
        become(theirs)
        _stop.leave_end_to_host()
        _exit(serve, theirs)
    theirs.close()
    os.close(stdout)
    return _Zygote(trainable, ours, server, host).serve()


def _exit(serve: Callable[[Frames], int], control: Frames) -> NoReturn:
    """Ends the server without the exit handlers of the author's code, which run in the zygote."""
    status = 1
    try:
        status = serve(control)
    except BaseException:
        traceback.print_exc()
    finally:
        flush()
        os._exit(status)


class _Zygote:
    def __init__(self, trainable: Type[Trainable], control: Frames, server: int, host: int) -> None:
        self._class = trainable
        self._trainable: Optional[Trainable] = None
        self._saves = False
        self._control, self._server, self._host = control, server, host
        self._trials: Dict[int, int] = {}  # process ids by run
        self._own: set[int] = set()  # processes that the author's open has started
        self._calls: Dict[str, Callable[..., None]] = {"describe": self._describe, "open": self._open, "request": self._request, "fork": self._fork, "stop": self._stop, "kill": self._kill}

    def serve(self) -> int:
        """Returns the server's exit status when it has ended."""
        _system.adopt_orphans()
        if not faulthandler.is_enabled():
            with contextlib.suppress(Exception):  # a crash, also of a trial, then says where it was
                faulthandler.enable(sys.__stderr__ or sys.stderr)
        awake, wakes = socket.socketpair()
        for end in (awake, wakes):
            end.setblocking(False)
        self._wakeup = (awake, wakes)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
        self._own = _system.children() - {self._server}
        self._class._prepare()
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(awake, select.POLLIN)
        while True:
            ready = {fd for fd, _ in poll.poll(_TICK_S * 1000)}
            if awake.fileno() in ready:
                with contextlib.suppress(BlockingIOError):
                    awake.recv(4096)
            if self._control.fileno() in ready:
                for name, *arguments in self._control.take():
                    self._calls[name](*arguments)
            self._reap()
            status = self._ended()
            if status is not None:
                return status

    def _ended(self) -> Optional[int]:
        """Returns the exit status once the server or the host has ended, after killing all trials."""
        pid, status = os.waitpid(self._server, os.WNOHANG)
        if not pid and os.getppid() == self._host and not self._control.ended:
            return None
        for trial in self._trials.values():
            _system.kill_group(trial)
        if not pid:
            if not self._control.ended:
                os.kill(self._server, signal.SIGKILL)
            _, status = os.waitpid(self._server, 0)
        _system.sweep(())
        code = os.waitstatus_to_exitcode(status)
        return code if code >= 0 else 1

    def _reply(self, call: int, ok: bool, value: Any) -> None:
        with contextlib.suppress(OSError):
            self._control.send(("reply", call, ok, value))

    def _tell(self, what: str, run: int, value: int) -> None:
        """Tells the server of a trial, if it is still there."""
        try:
            self._control.send((what, run, value))
        except OSError:
            pass

    def _describe(self, call: int) -> None:
        plugin = self._class
        self._reply(call, True, {"name": plugin.title(), "version": plugin.version, "summary": plugin.sentence(),
                                 "options": json.dumps(plugin.schema())})

    def _open(self, call: int, options: Dict[str, Any]) -> None:
        """Opens the trainable. Every trial inherits the data that it loads."""
        try:
            made = self._class()
            made.configure(options)
            made.open()
            why = unsafe()
            if why == "it has initialised CUDA":
                raise Refused("CUDA was initialised before the first trial, and a trial, a copy of that process, cannot use it: "
                              "do it in the trial, or set fork = False in the class of a plugin")
            if why:
                _log.log.warning("threads were started before the first trial, and a trial, a copy of that process, does not have "
                                 "them: if one hangs, start them in the trial, or set fork = False in the class of a plugin")
            self._trainable, self._saves = made, made.saves
            traits = traits_of(made, forked=True)
        except BaseException as e:
            if not isinstance(e, ValueError):
                _log.log.error("the trainable cannot be loaded", exc_info=True)
            self._reply(call, False, str(e) if isinstance(e, ValueError) else describe(e))
            return
        self._reply(call, True, traits)  # the host goes on meanwhile; a fork that it wants waits
        _rehearse(made)
        self._own = _system.children() - {self._server}
        gc.freeze()  # so that trials do not scan, and thereby copy, existing objects

    def _request(self, call: int, params: Dict[str, Any]) -> None:
        assert self._trainable
        try:
            self._reply(call, True, requested(self._trainable, params))
        except WrongAnswer as e:
            self._reply(call, False, str(e))
        except BaseException as e:
            _log.log.error("the resources of a trial cannot be computed", exc_info=True)
            self._reply(call, False, describe(e))
        self._own = self._own | (_system.children() - {self._server, *self._trials.values()})

    def _fork(self, run: int) -> None:
        if not self._control.fds:  # the descriptor was dropped: this process has too many open files
            self._control.send(("unforked", run, "cannot fork: too many open files"))
            return
        link = self._control.fds.pop(0)
        me = os.getpid()
        try:
            flush()  # otherwise each trial would write the buffered output again
            _stop.mask(signal.SIG_BLOCK, _TERM)  # until the trial handles it
            pid = os.fork()
        except OSError as e:
            _stop.mask(signal.SIG_UNBLOCK, _TERM)
            os.close(link)
            self._control.send(("unforked", run, f"cannot fork: {e}"))
            return
        if pid == 0:
            self._become_trial(link, me)
        _stop.mask(signal.SIG_UNBLOCK, _TERM)
        try:
            os.setpgid(pid, pid)  # parent and child both do this, so that an early kill finds the group
        except OSError:
            pass
        os.close(link)
        self._trials[run] = pid
        self._tell("forked", run, pid)

    def _become_trial(self, link: int, zygote: int) -> NoReturn:
        status = 1
        try:
            os.setpgid(0, 0)
            _system.die_with_parent(zygote)
            _system.adopt_orphans()
            signal.set_wakeup_fd(-1)
            _stop.handle(signal.SIGCHLD, int(signal.SIG_DFL))
            for end in (self._control, *self._wakeup):
                end.close()
            assert self._trainable
            _train(self._trainable, Frames(socket.socket(fileno=link)), self._saves)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            flush()
            os._exit(status)

    def _stop(self, run: int) -> None:
        """Interrupts the trial, so that it reads the stop order, unless the author handles the signal."""
        if run in self._trials and not _stop.handled():
            os.kill(self._trials[run], signal.SIGTERM)

    def _kill(self, run: int) -> None:
        if run in self._trials:
            _system.kill_group(self._trials[run])

    def _reap(self) -> None:
        """Reports the trials that have ended, once all their processes are gone."""
        for run, pid in list(self._trials.items()):
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                continue
            _system.kill_group(pid)  # before waitpid, after which the group's number can be reused
            _, status = os.waitpid(pid, 0)
            del self._trials[run]
            _system.sweep({self._server, *self._own, *self._trials.values()})
            self._tell("exited", run, os.waitstatus_to_exitcode(status))


_REHEARSALS = 20  #: Python specialises code that has run so often
_SAMPLE = {"id": "", "number": 0, "dir": "", "params": "{}", "options": "{}", "resources": "{}"}


def _rehearse(trainable: Trainable) -> None:
    """Runs what every trial runs beside the author's code, with nobody at the other end. Python then has looked names up
    and specialised the code once, rather than in each fork, which would copy memory for it."""
    after_fork = getattr(threading, "_after_fork", None) if threading.active_count() == 1 else None
    with contextlib.suppress(Exception):  # nothing depends on it
        for _ in range(_REHEARSALS):
            if after_fork:  # Python calls it in each fork; it does nothing where there are no other threads
                after_fork()
            ours, theirs = _frames.pair()
            try:
                theirs.send(_SAMPLE)
                link = _SocketLink(ours)
                run = Run(trial_of(link.first()), link, False)
                link.send({"kind": STARTED, "pid": 0})
                with run.trains():
                    trainable._rehearse(run)
                link.send({"kind": ENDED})
            finally:
                ours.close()
                theirs.close()


class _SocketLink(Link):
    """Connects a trial's process with the server. The process exits when the server is gone."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._waiting: List[Any] = []

    def first(self) -> Dict[str, Any]:
        """Returns the trial, which arrives before all orders."""
        self._waiting = self._frames.next()
        found: Dict[str, Any] = self._waiting.pop(0)
        return found

    def send(self, told: Told) -> None:
        try:
            self._frames.send(told)
        except OSError:
            os._exit(1)

    def poll(self) -> List[Order]:
        orders, self._waiting = self._waiting + self._frames.drain(), []
        if self._frames.ended:
            os._exit(1)
        return orders

    def wait(self) -> List[Order]:
        try:
            return self.poll() or self._frames.next()
        except EOFError:
            os._exit(1)


def _train(trainable: Trainable, frames: Frames, saves: bool) -> None:
    link = _SocketLink(frames)
    trial = trial_of(link.first())
    _redirect(trial)
    prepare(trial)
    run = Run(trial, link, saves)
    _stop.install(_stop.end_unless(run.signalled, lambda: run.ending))
    _stop.mask(signal.SIG_UNBLOCK, _TERM)
    link.send({"kind": STARTED, "pid": os.getpid()})
    ended = attempt(trainable, run)
    flush()
    link.send(ended)


def _redirect(trial: Trial) -> None:
    """Sends what the trial prints to files in its directory."""
    _log.plain()
    if not os.path.isdir(trial.dir):
        return
    _output.send_to(trial.dir, trial.logs)
