"""Trials that the caller trains: ask and tell."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import json
import os
import subprocess
import sys
import threading
import time
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any, AsyncIterator, ClassVar, Dict, FrozenSet, Iterator, List, Mapping, Optional, Set, SupportsIndex, Union

from . import _binary, _grids, _integers, _labels, _places, _system, _view, _words
from ._hands import Hands, task
from ._metrics import Reported, flatten, single
from ._plain import plain
from ._reading import Experiment

__all__ = ["AskError", "AskTell", "Asked", "AsyncAskTell", "TellFirst"]

_IN_USE = " is in use by process "
_GIVE_UP_S = 5.0
_SAY_AFTER_S = 10.0  # that a caller waits
_HAS = "that goes on has asked for it or read its params"
_TELL_EACH = "call tell or fail for each trial"

Metrics = Union[float, Mapping[str, Any]]


class AskError(RuntimeError):
    """The program refused the experiment or a request, or has ended; the message is tunehost's."""


class TellFirst(AskError):
    """There is no trial now: the searcher or the scheduler needs a result of one that was handed out."""


@dataclass(frozen=True)
class Asked:
    """A trial that was handed out."""

    id: str  #: its name in files and commands
    params: Dict[str, Any]  #: its parameters; nested names are nested dicts
    resume_from: int = 0  #: the iteration that it continues after; 0: it begins
    number: Optional[int] = None  #: from 0; None if it continues

    _hands: ClassVar[Optional[Hands]] = None  # of the session, which knows by it which threads have the trial

    def __getattribute__(self, name: str) -> Any:
        if name == "params" and self._hands:
            self._hands.read(self.id)
        return super().__getattribute__(name)

    def __reduce__(self) -> Any:
        return Asked, (self.id, self.params, self.resume_from, self.number)


class AskTell(Experiment):
    """An experiment whose trials the caller trains, in this process or anywhere:

    >>> from tunehost import tune
    >>> space = {"x": tune.uniform(0, 10)}
    >>> with AskTell(space, metric="loss", mode="min", trials=30, seed=1, name="mine") as experiment:
    ...     for trial in experiment:
    ...         ignored = experiment.tell(trial, {"loss": (trial.params["x"] - 3) ** 2})
    ...     best = experiment.best()
    >>> 2 < best["params"]["x"] < 4, best["value"] < 1
    (True, True)

    space is that of tune.Tuner. metric is the reported metric that counts, and mode says what is good: min or max. The
    metrics of several objectives are a dict of modes: {"loss": "min", "size": "min"}. trials is how many points are
    handed out in all; -1: no limit; None: each combination once if the space has only grids, else no limit. With grids each
    combination is tried as often as that allows, and at least once. searcher and scheduler are what tune.TuneConfig takes. The experiment is recorded in storage (./results)
    under name, as by `tunehost run`; one that exists continues, and trials that were handed out and not told are
    handed out again. storage="none" records nothing: of what is read there is only the best trial so far. settings are
    further keys of the experiment file, such as stop={"iteration": 9}.

    Several threads may use it. AskError: the program refused the experiment; NotFound: there is no program."""

    def __init__(
        self,
        space: Mapping[str, Any],
        metric: Union[str, Mapping[str, str]],
        mode: Optional[str] = None,
        *,
        trials: Optional[int] = None,
        searcher: Any = "auto",
        scheduler: Any = "fifo",
        seed: Optional[int] = None,
        name: Optional[str] = None,
        storage: Optional[str] = None,
        **settings: Any,
    ) -> None:
        from .tune._encode import encode_as
        from .tune._payload import refuse_while_loading

        refuse_while_loading("AskTell")
        name = name or f"asktell_{datetime.datetime.now():%Y-%m-%d_%H-%M-%S}_{os.getpid()}"
        if storage != "none":
            storage = _places.absolute(storage or "results")
        encoded = encode_as(space, _begun_space(os.path.join(storage, name)))
        self._plan, self._space = encoded.plan, encoded.space
        self._metrics = _modes(metric, mode)
        file = {
            "version": 1,
            "name": name,
            **_objectives(self._metrics),
            "space": encoded.space,
            "trials": _grids.rounds(_whole(trials), space, -1, os.path.join(storage, name), "constraints" in settings),
            "searcher": _entry(searcher, "searcher"),
            "scheduler": _entry(scheduler, "scheduler"),
            **({} if seed is None else {"seed": seed}),
            **settings,
            **_points(encoded.plan, settings),
        }
        super().__init__(os.path.join(storage, name))
        _check_space(os.path.join(storage, name), name, encoded.space)
        self._lock = threading.Lock()
        self._told = threading.Condition()
        self._hands = Hands()
        self._waiting: Set[threading.Thread] = set()  # the threads that wait for a trial as long as it takes
        self._parallel = bool(settings.get("concurrency"))  # the caller trains so many at a time
        self._integers = _integers.Integers(self.dir)
        self._said = ""  # for which trials somebody waits
        self._tells = 0  # how often something was told
        self._out: Dict[str, Optional[int]] = {}  # the trials that were handed out and have not ended, with their numbers
        self._recorded = storage != "none"
        self._last_best: Optional[Dict[str, Any]] = None  # of a session that records nothing and was closed
        self._program = _opened(file, storage)
        if self._recorded:
            with contextlib.suppress(OSError):  # a full disk: others read the texts of the record then
                _labels.write(self.dir, self._plan)

    def ask(self, wait: Union[bool, float] = False) -> Optional[Asked]:
        """The next trial, or None when the experiment is finished. TellFirst: a result has to be told before. With wait
        this waits until another thread tells one: for so many seconds, or, with True, as long as a thread that does not
        wait itself has one of the trials that were handed out (has asked for it, or read its params), and ten seconds where
        none has. With concurrency in the settings one thread may wait as long as there are others: the program has so many
        trials at a time, and where they train, such as in processes of a pool, is not known here.

        >>> experiment = AskTell({"x": 5, "flag": True}, metric="loss", mode="min", trials=1, storage="none")
        >>> trial = experiment.ask()
        >>> trial.number, trial.params
        (0, {'x': 5, 'flag': True})
        >>> experiment.tell(trial, {"loss": 0.5})
        >>> print(experiment.ask())
        None
        >>> experiment.close()
        """
        end = None if isinstance(wait, bool) else time.monotonic() + wait
        with self._asks(end is None and bool(wait)):
            while True:
                tells = self._tells
                answer = self._request({"ask": True})
                if "trial" in answer:
                    return self._asked(answer)
                if "finished" in answer:
                    return None
                if wait is False:
                    raise TellFirst("there is no trial before a result of one that runs is told: call tell, or ask(wait=True)")
                self._await_tell(tells, end)

    def report(self, trial: Union[Asked, str], metrics: Metrics, iteration: Optional[int] = None) -> str:
        """Reports a result of a trial that is still training, and returns the decision: "continue", "pause" or
        "stop". After the last two the trial ends here, and needs no tell; one that is paused is handed out again
        later. metrics are numbers by name, or a number if there is one objective."""
        flat = self._flat("report", metrics)
        at = flat.iteration if iteration is None else iteration
        request = {"report": _id(trial), "metrics": flat.metrics, **({} if at is None else {"iteration": at})}
        decision: str = self._request(request)["decision"]
        if decision != "continue":
            self._ended(_id(trial))
        return decision

    def tell(self, trial: Union[Asked, str], metrics: Metrics) -> Optional[str]:
        """Ends a trial with its last metrics, which are numbers by name, or a number if there is one objective. Returns
        None, or why the metrics do not count: the trial had been stopped before.

        >>> with AskTell({"x": 5}, metric="loss", mode="min", trials=2, name="told") as experiment:
        ...     experiment.tell(experiment.ask(), {"loss": 0.5, "size": 7})
        ...     experiment.tell(experiment.ask(), 0.25)
        ...     experiment.best()["value"]
        0.25
        """
        return self._end({"tell": _id(trial), "metrics": self._flat("tell", metrics).metrics})

    def fail(self, trial: Union[Asked, str], why: Union[str, BaseException] = "failed") -> Optional[str]:
        """Ends a trial as failed, for a reason that its page and files have. An exception says its kind, its text and
        where it was raised. Returns None, or why this does not count: it had been stopped before.

        >>> with AskTell({"x": 5}, metric="loss", mode="min", trials=1, name="failed") as experiment:
        ...     experiment.fail(experiment.ask(), ValueError("too hot"))
        ...     experiment.trials()[0]["error"]
        'ValueError: too hot'
        """
        return self._end({"tell": _id(trial), "failed": _reason(why)})

    def best(self, metric: Optional[str] = None, scope: str = "last") -> Optional[Dict[str, Any]]:
        """See Experiment.best. With storage="none" it is the best trial by its last value, with trial, params, metrics
        and value.

        >>> from tunehost import tune
        >>> with AskTell({"x": tune.uniform(0, 1)}, metric="loss", mode="min", trials=3, storage="none") as experiment:
        ...     for trial in experiment:
        ...         ignored = experiment.tell(trial, trial.params["x"])
        >>> sorted(experiment.best())
        ['metrics', 'params', 'trial', 'value']
        """
        if self._recorded:
            return super().best(metric, scope)
        (own, *others) = self._metrics
        if others or metric not in (None, own) or scope != "last":
            raise _unrecorded()
        found = self._last_best if self._program.closed() else self._request({"best": True})
        if not found or "trial" not in found:
            return None
        metrics, params = _integers.typed(found["metrics"], self._integers.names()), self._config(found["params"])
        return {**found, "params": params, "metrics": metrics, "value": float(found.get("value", metrics[own]))}

    def close(self) -> None:
        """Ends the session. What was told is kept; AskTell with the same arguments and name continues. Trials that
        were handed out and not told are handed out again then."""
        with self._lock:
            if not self._recorded and not self._program.closed():
                self._last_best = self._program.last({"best": True})
            self._program.close()
        self._tell()

    def __enter__(self) -> AskTell:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Asked]:
        """Asks until the experiment is finished."""
        return iter(lambda: self.ask(wait=True), None)

    @contextlib.contextmanager
    def _asks(self, waits: bool) -> Iterator[None]:
        """While it is entered, this thread may wait for a trial until somebody else tells a result."""
        me = {threading.current_thread()} if waits else set()
        with self._told:
            self._waiting |= me
        try:
            yield
        finally:
            with self._told:
                self._waiting -= me

    def _await_tell(self, tells: int, end: Optional[float]) -> None:
        """Waits until something was told, at most ten seconds. TellFirst: it is too late, or nobody is known to tell it."""
        if end is None and self._out and self._alone():
            raise TellFirst(f"{self._waits_for()}, and no other thread can tell it: {_TELL_EACH}")
        left = _SAY_AFTER_S if end is None else min(_SAY_AFTER_S, end - time.monotonic())
        with self._told:
            if self._told.wait_for(lambda: self._tells != tells, max(0.0, left)):
                return
        if end is None and self._out and not self._others():
            raise TellFirst(
                f"{self._waits_for()}, and no other thread {_HAS}: {_TELL_EACH}, or wait longer with ask(wait=SECONDS), or, "
                "where a pool trains, name its size: AskTell(…, concurrency=4)"
            )
        if end is not None and time.monotonic() >= end:
            raise TellFirst(f"{self._waits_for()}: {_TELL_EACH}")
        self._say_what_waits()

    def _others(self) -> bool:
        """Whether another thread may tell a result that this one waits for."""
        with self._told:
            waiting = set(self._waiting)
        if self._parallel and len(waiting) == 1:
            return True
        return self._hands.others(list(self._out), waiting)

    def _say_what_waits(self) -> None:
        """Says for which trials this waits, once for the same ones."""
        waits = self._waits_for()
        if waits != self._said:
            self._said = waits
            print(f"tunehost: {waits}: {_TELL_EACH}", file=sys.stderr)

    def _waits_for(self) -> str:
        """For which trials a caller waits that gets no other."""
        trials = ", ".join(id if number is None else f"{number} ({id})" for id, number in list(self._out.items())[:5])
        return f"waiting for the result of trial {trials}, which was handed out and not told" if trials else "waiting"

    def _alone(self) -> bool:
        """Whether there is no other thread at all."""
        return not set(threading.enumerate()) - {threading.current_thread(), self._program.pump}

    def _asked(self, answer: Mapping[str, Any]) -> Asked:
        from .tune._encode import computes, decode

        given = answer["params"]
        if any(name not in self._space for name in given):
            raise self._other_space()
        try:
            params = decode(self._plan, given)
        except (KeyError, TypeError):
            if computes(self._plan):  # a sample_from of the user's may have raised it
                raise
            raise self._other_space() from None
        asked = Asked(answer["trial"], params, answer.get("resume_from", 0), answer.get("number"))
        self._out[asked.id] = asked.number
        object.__setattr__(asked, "_hands", self._hands)
        self._hands.take(asked.id)
        return asked

    def _typed(self, line: Dict[str, Any], known: Dict[Any, FrozenSet[str]]) -> Dict[str, Any]:
        given = line.get("params")
        found = super()._typed(line, known)
        return {**found, "params": self._config(given)} if isinstance(given, dict) else found

    def _values(self) -> _labels.Values:
        """The session has the values themselves."""
        return {}

    def _config(self, given: Mapping[str, Any]) -> Dict[str, Any]:
        """Parameters as ask gives them. Those of sample_from, which would be computed again, are left out."""
        from .tune._encode import computes, decode

        try:
            return _view.own(given) if computes(self._plan) else decode(self._plan, given)
        except (KeyError, TypeError):  # a trial of another space: the experiment was extended
            return _view.own(given)

    def _other_space(self) -> AskError:
        """An experiment keeps the space that it has begun with."""
        return AskError(f"{self.dir} has trials of another space: give AskTell the same space, or another name")

    def _lines(self, command: str, *flags: str) -> List[Dict[str, Any]]:
        if not self._recorded:
            raise _unrecorded()
        return super()._lines(command, *flags)

    def _request(self, request: Mapping[str, Any]) -> Dict[str, Any]:
        self._program.check_owner()
        with self._lock:
            answer = self._program.request(request)
        if "error" in answer:
            raise AskError(answer["error"])
        return answer

    def _end(self, request: Mapping[str, Any]) -> Optional[str]:
        answer = self._request(request)
        self._ended(request["tell"])
        return answer.get("ignored")

    def _ended(self, trial: str) -> None:
        """A trial has ended here."""
        self._out.pop(trial, None)
        self._hands.give(trial)
        self._tell()

    def _tell(self) -> None:
        with self._told:
            self._tells += 1
            self._told.notify_all()

    def _flat(self, call: str, metrics: Metrics) -> Reported:
        if not isinstance(metrics, Mapping):
            if len(self._metrics) != 1:
                raise TypeError(f"metrics is {metrics!r:.40}: expected a dict with {', '.join(self._metrics)}")
            metrics = {next(iter(self._metrics)): metrics}
        metrics = {name: single(value) for name, value in metrics.items()}
        found = flatten(metrics, {}, f"{call}(trial, {dict.fromkeys(self._metrics, 0.9)})")
        if found.left_out or found.values:
            left = [*found.left_out, *found.values]
            raise TypeError(f"the metric {left[0]} is no number: ask and tell takes numbers only")
        with self._told:
            self._integers.note(found.metrics, found.integers)
        return found


def _unrecorded() -> AskError:
    return AskError(
        'storage="none" records nothing, so there is only best(), of a single objective: name a directory, or leave '
        "storage out"
    )


class AsyncAskTell:
    """AskTell for asyncio: ask, report, tell, fail and close are coroutines.

        async with tunehost.AsyncAskTell(space, metric="loss", mode="min", trials=30) as experiment:
            async for trial in experiment:
                await experiment.tell(trial, {"loss": await train(trial.params)})

    The arguments are those of AskTell. Any number of tasks may use it; ask waits until there is a trial, or until
    the experiment is finished. experiment.reading is the Experiment, which answers questions about it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._make = lambda: AskTell(*args, **kwargs)
        self._sync: Optional[AskTell] = None
        self._told: asyncio.Future[None]  # done when something is told; the next one then takes its place
        self._left: List[Asked] = []  # the trials that nobody has: who asked for them was cancelled
        self._hands = Hands(task)
        self._asking: Set[Any] = set()  # the tasks that wait for a trial

    @property
    def reading(self) -> AskTell:
        """The experiment, for its best, trials, curves and so on. AskError: it has not begun."""
        if self._sync is None:
            raise AskError("the experiment has not begun: write  async with tunehost.AsyncAskTell(…) as experiment")
        return self._sync

    async def ask(self, wait: Union[bool, float] = True) -> Optional[Asked]:
        """The next trial, or None when the experiment is finished. Waits while a result must be told first: for so many
        seconds, or, with True, as long as another task has one of the trials that were handed out (has asked for it, or
        read its params), and ten seconds where none has. TellFirst: nobody has told one. A task that is cancelled takes no
        trial."""
        me, end = self._hands.me(), None if isinstance(wait, bool) else time.monotonic() + wait
        self._asking.add(me)
        try:
            while True:
                told = self._told
                try:
                    return self._handed(await self._next())
                except TellFirst:
                    if wait is False:
                        raise
                # the host may end meanwhile, or somebody else may change what the experiment waits for
                left = _SAY_AFTER_S if end is None else min(_SAY_AFTER_S, max(0.0, end - time.monotonic()))
                if not (await asyncio.wait([told], timeout=left))[0]:
                    self._check_waiting(end)
        finally:
            self._asking.discard(me)

    def _handed(self, trial: Optional[Asked]) -> Optional[Asked]:
        """The trial, which this task has now."""
        if trial:
            object.__setattr__(trial, "_hands", self._hands)
            self._hands.take(trial.id)
        return trial

    def _check_waiting(self, end: Optional[float]) -> None:
        """Says for which trials this waits. TellFirst: it is too late, or no task is known that could tell a result."""
        reading = self.reading
        out = list(reading._out)
        if end is None and out and not self._hands.others(out, self._asking):
            raise TellFirst(
                f"{reading._waits_for()}, and no other task {_HAS}: {_TELL_EACH}, or "
                "wait longer with ask(wait=SECONDS)"
            )
        if end is not None and time.monotonic() >= end:
            raise TellFirst(f"{reading._waits_for()}: {_TELL_EACH}")
        reading._say_what_waits()

    async def report(self, trial: Union[Asked, str], metrics: Metrics, iteration: Optional[int] = None) -> str:
        """See AskTell.report."""
        decision: str = await self._run(self.reading.report, trial, metrics, iteration)
        if decision != "continue":
            self._hands.give(_id(trial))
            self._tell()
        return decision

    async def tell(self, trial: Union[Asked, str], metrics: Metrics) -> Optional[str]:
        """See AskTell.tell."""
        return await self._ended(trial, self.reading.tell, metrics)

    async def fail(self, trial: Union[Asked, str], why: Union[str, BaseException] = "failed") -> Optional[str]:
        """See AskTell.fail."""
        return await self._ended(trial, self.reading.fail, why)

    async def close(self) -> None:
        """See AskTell.close."""
        await self._run(self.reading.close)
        self._left.clear()
        self._tell()

    async def __aenter__(self) -> AsyncAskTell:
        self._told = asyncio.get_running_loop().create_future()
        self._sync = await self._run(self._make)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def __aiter__(self) -> AsyncIterator[Asked]:
        """Asks until the experiment is finished."""
        while True:
            trial = await self.ask()
            if trial is None:
                return
            yield trial

    async def _next(self) -> Optional[Asked]:
        """A trial that was left, or what AskTell.ask returns."""
        if self._left:
            return self._left.pop(0)
        asks = asyncio.get_running_loop().run_in_executor(None, self.reading.ask)
        try:
            await asyncio.wait([asks])
        except asyncio.CancelledError:
            asks.add_done_callback(self._leave)
            raise
        return asks.result()

    def _leave(self, asks: asyncio.Future[Optional[Asked]]) -> None:
        """Keeps a trial for the next task that asks."""
        trial = None if asks.cancelled() or asks.exception() else asks.result()
        if trial:
            self._left.append(trial)
            self._tell()

    async def _ended(self, trial: Union[Asked, str], f: Any, *args: Any) -> Optional[str]:
        try:
            ignored: Optional[str] = await self._run(f, trial, *args)
            self._hands.give(_id(trial))
            return ignored
        finally:  # also where the host is gone, which those who wait find out when they ask again
            self._tell()

    async def _run(self, f: Any, *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(None, f, *args)

    def _tell(self) -> None:
        """Wakes those who wait for a trial."""
        told, self._told = self._told, asyncio.get_running_loop().create_future()
        told.set_result(None)


def _differences(begun: Mapping[str, Any], given: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    return [
        ("changed: ", [key for key in begun if key in given and begun[key] != given[key]]),
        ("only there: ", [key for key in begun if key not in given]),
        ("only here: ", [key for key in given if key not in begun]),
    ]


def _begun_space(dir: str) -> Optional[Dict[str, Any]]:
    """The space of an experiment that AskTell has begun; None if it cannot be read."""
    try:
        return dict(json.loads(Path(dir, "experiment.yaml").read_text(encoding="utf-8"))["space"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None  # it may be damaged, too, which the program says


def _check_space(dir: str, name: str, space: Mapping[str, Any]) -> None:
    """Refuses another space than that of an experiment which exists: its trials are points of its own."""
    begun = _begun_space(dir)
    try:
        extended = dict(json.loads(Path(dir, "run.json").read_text(encoding="utf-8"))).get("extensions")
    except (OSError, ValueError, TypeError, RecursionError):
        return  # there is none, or it is damaged, which the program says
    given = json.loads(json.dumps(space, default=plain(AskError)))
    if begun is None or extended or given == begun:
        return
    other = "; ".join(how + ", ".join(keys) for how, keys in _differences(begun, given) if keys)
    raise AskError(f"the experiment {name!r} has begun with another space ({other}): choose another name")


def _opened(file: Mapping[str, Any], storage: str) -> _Program:
    """Starts the program. That of a script that was killed a moment ago uses the experiment until it notices."""
    end = time.monotonic() + _GIVE_UP_S
    while True:
        program = _Program(file, storage)
        try:
            program.request({"best": True})  # it has read the experiment then, or refuses it
            return program
        except AskError as e:
            program.close()
            if _IN_USE not in str(e) or time.monotonic() > end:
                raise
            time.sleep(0.1)


class _Program:
    """`tunehost asktell`, which answers each line with a line."""

    def __init__(self, file: Mapping[str, Any], storage: str) -> None:
        self._child: subprocess.Popen[str] = subprocess.Popen(
            [_binary.find(), "asktell", "-", "--storage", storage],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C is for the caller, who then closes the session
        )
        self._owner = os.getpid()
        _programs.add(self)
        self._file = json.dumps(file, default=plain(AskError))
        self._messages: List[str] = []
        self.pump = threading.Thread(target=self._pass_on, daemon=True)
        self.pump.start()
        self._write(file)

    def request(self, request: Mapping[str, Any]) -> Dict[str, Any]:
        """Sends a request and waits for its answer. Ctrl-C in between, or what another signal raises, ends the session: the
        next answer would be that of this request."""
        assert self._child.stdout
        try:
            self._write(request)
            line = self._child.stdout.readline()
        except AskError:
            raise
        except BaseException:
            self.close()
            raise
        if not line:
            raise AskError(self._why())
        answer: Dict[str, Any] = _integers.loads(line)
        return answer

    def check_owner(self) -> None:
        """Refuses to speak for another process than the one that began the session."""
        if os.getpid() != self._owner:
            raise AskError("the session is that of another process, which this one was forked from: return results to it, and "
                           "tell them there")

    def let_go(self) -> None:
        """In a forked process: keeps none of the pipes open, so that they end when the session does."""
        null = os.open(os.devnull, os.O_RDWR)
        for pipe in self._child.stdin, self._child.stdout, self._child.stderr:
            if pipe and not pipe.closed:
                os.dup2(null, pipe.fileno(), inheritable=False)  # not closed: what is in its buffer is the other's
        os.close(null)

    def last(self, request: Mapping[str, Any]) -> Optional[Dict[str, Any]]:
        """The answer to a request, or None if the program has ended."""
        try:
            return self.request(request)
        except AskError:
            return None

    def closed(self) -> bool:
        """Whether close was called."""
        return self._child.stdin is None or self._child.stdin.closed

    def close(self) -> None:
        """Ends the program, which keeps what it was told."""
        assert self._child.stdin and self._child.stdout
        try:
            self._child.stdin.close()
        except BrokenPipeError:
            pass  # it has ended by itself
        self._child.wait()
        self.pump.join()
        self._child.stdout.close()

    def _write(self, value: Mapping[str, Any]) -> None:
        assert self._child.stdin
        if self.closed():
            raise AskError("the session was closed: make another AskTell with the same name to continue")
        try:
            self._child.stdin.write(json.dumps(value, default=plain(AskError)) + "\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            raise AskError(self._why()) from None

    def _pass_on(self) -> None:
        """Passes the program's warnings on."""
        assert self._child.stderr
        with self._child.stderr as stream:
            for line in stream:
                self._messages.append(line.strip())
                del self._messages[:-10]
                if not _words.is_error(line):
                    with contextlib.suppress(AttributeError, OSError, ValueError):  # nobody reads it
                        sys.stderr.write(_words.advised(line))

    def _why(self) -> str:
        status = self._child.wait()
        self.pump.join()
        if status < 0:
            return f"tunehost {_system.ended_by(status)}; AskTell with the same arguments and name continues"
        last = self._messages[-1] if self._messages else f"tunehost ended with status {status}"
        return _words.refused(last.removeprefix("tunehost: "), self._file, {"objective": "metric"})


_programs: weakref.WeakSet[_Program] = weakref.WeakSet()


def _let_go() -> None:
    for program in list(_programs):
        program.let_go()


os.register_at_fork(after_in_child=_let_go)


def _modes(metric: Union[str, Mapping[str, str]], mode: Optional[str]) -> Dict[str, str]:
    """The modes of the metrics. What is good has no default, as in tune.TuneConfig."""
    if isinstance(metric, Mapping):
        if mode is not None:
            raise AskError(f"mode is {mode!r}, and metric has modes: leave mode out")
        return dict(metric)
    if mode is None:
        raise AskError('AskTell has a metric and no mode: write mode="min" or mode="max"')
    return {metric: mode}


def _whole(trials: Any) -> Optional[int]:
    """How many trials the user wants, as a whole number."""
    from .tune.config import whole

    number = int(trials) if isinstance(trials, float) and trials.is_integer() else trials
    try:
        expected = "expected a whole number from 1 on, or -1 for no limit"
        return None if trials is None else whole("trials", number, expected, -1, zero=False)
    except ValueError as e:
        raise AskError(str(e)) from None


def _objectives(metrics: Mapping[str, str]) -> Dict[str, Any]:
    found = [{"metric": metric, "mode": mode} for metric, mode in metrics.items()]
    return {"objective": found[0]} if len(found) == 1 else {"objectives": found}


def _entry(value: Any, kind: str) -> Dict[str, Any]:
    """A searcher or scheduler in the experiment file."""
    from .tune._plugin import chosen

    choice = chosen(value, kind)
    if choice.served():
        raise AskError(
            f"the {kind} {type(value).__name__} is an object of this process, which ask and tell does not serve: name a {kind} "
            "of tunehost, or the path of a plugin (tunehost.serve)"
        )
    return choice.entry()


def _points(plan: Any, settings: Mapping[str, Any]) -> Dict[str, Any]:
    """The points that are tried first, as the experiment file has them."""
    from .tune._points import encode_points
    from .tune.error import TuneError

    try:
        return {"points": encode_points(plan, settings["points"])} if "points" in settings else {}
    except TuneError as e:
        raise AskError(str(e).replace("points_to_evaluate", "points")) from None


def _id(trial: Union[Asked, str]) -> str:
    """The id of a trial, or its number, which the program takes, too."""
    if not isinstance(trial, (Asked, str, SupportsIndex)):
        raise AskError(f"the trial is {trial!r:.60}: expected what ask returned, or its id")
    return trial.id if isinstance(trial, Asked) else trial


def _reason(why: Any) -> str:
    """Why a trial has failed. Nothing is refused: the caller handles a failure."""
    from .run import cut, describe

    return describe(why) if isinstance(why, BaseException) else cut("" if why is None else str(why)) or "failed"
