"""Trials that the caller trains: ask and tell."""

from __future__ import annotations

import contextlib
import datetime
import os
import threading
import time
from typing import Any, Dict, FrozenSet, Iterator, List, Mapping, Optional, Set, Union

from . import _askfile, _grids, _integers, _labels, _places, _view
from ._asked import AskError, Asked, TellFirst, id_of
from ._hands import Hands
from ._metrics import Reported, flatten, single
from ._out import Out
from ._program import opened
from ._reading import Experiment

__all__ = ["AskError", "AskTell", "Asked", "Metrics", "TellFirst"]

_SAY_AFTER_S = 10.0  # that a caller waits

Metrics = Union[float, Mapping[str, Any]]


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
        dir = os.path.join(storage, name)
        encoded = encode_as(space, _askfile.begun_space(dir))
        self._plan, self._space = encoded.plan, encoded.space
        self._metrics = _askfile.modes(metric, mode)
        file = {
            "version": 1,
            "name": name,
            **_askfile.objectives(self._metrics),
            "space": encoded.space,
            "trials": _grids.rounds(_askfile.whole(trials), space, -1, dir, "constraints" in settings),
            "searcher": _askfile.entry(searcher, "searcher"),
            "scheduler": _askfile.entry(scheduler, "scheduler"),
            **({} if seed is None else {"seed": seed}),
            **settings,
            **_askfile.points(encoded.plan, settings),
        }
        super().__init__(dir)
        _askfile.check_space(dir, name, encoded.space)
        self._lock = threading.Lock()
        self._told = threading.Condition()
        self._hands = Hands()
        self._waiting: Set[threading.Thread] = set()  # the threads that wait for a trial as long as it takes
        self._parallel = bool(settings.get("concurrency"))  # the caller trains so many at a time
        self._integers = _integers.Integers(self.dir)
        self._tells = 0  # how often something was told
        self._out = Out()
        self._recorded = storage != "none"
        self._last_best: Optional[Dict[str, Any]] = None  # of a session that records nothing and was closed
        self._program = opened(file, storage)
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
        request = {"report": id_of(trial), "metrics": flat.metrics, **({} if at is None else {"iteration": at})}
        decision: str = self._request(request)["decision"]
        if decision != "continue":
            self._ended(id_of(trial))
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
        return self._end({"tell": id_of(trial), "metrics": self._flat("tell", metrics).metrics})

    def fail(self, trial: Union[Asked, str], why: Union[str, BaseException] = "failed") -> Optional[str]:
        """Ends a trial as failed, for a reason that its page and files have. An exception says its kind, its text and
        where it was raised. Returns None, or why this does not count: it had been stopped before.

        >>> with AskTell({"x": 5}, metric="loss", mode="min", trials=1, name="failed") as experiment:
        ...     experiment.fail(experiment.ask(), ValueError("too hot"))
        ...     experiment.trials()[0]["error"]
        'ValueError: too hot'
        """
        return self._end({"tell": id_of(trial), "failed": _reason(why)})

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
            raise self._out.late("no other thread can tell it")
        with self._told:
            if self._told.wait_for(lambda: self._tells != tells, self._patience(end)):
                return
        if end is None and self._out and not self._others():
            raise self._out.nobody("thread", ", or, where a pool trains, name its size: AskTell(…, concurrency=4)")
        if end is not None and time.monotonic() >= end:
            raise self._out.late()
        self._out.say()

    def _patience(self, end: Optional[float]) -> float:
        """How many seconds to wait before it is looked for whom this waits; end is when to give up."""
        return _SAY_AFTER_S if end is None else min(_SAY_AFTER_S, max(0.0, end - time.monotonic()))

    def _others(self) -> bool:
        """Whether another thread may tell a result that this one waits for."""
        with self._told:
            waiting = set(self._waiting)
        if self._parallel and len(waiting) == 1:
            return True
        return self._hands.others(self._out, waiting)

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
        self._out.add(asked)
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

        if not computes(self._plan):
            with contextlib.suppress(KeyError, TypeError):  # a trial of another space: the experiment was extended
                return decode(self._plan, given)
        return _view.own(_labels.typed(given, _labels.of(self._plan)))

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
        self._hands.tells(request["tell"])
        answer = self._request(request)
        self._ended(request["tell"])
        return answer.get("ignored")

    def _ended(self, trial: str) -> None:
        """A trial has ended here."""
        self._out.remove(trial)
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


def _reason(why: Any) -> str:
    """Why a trial has failed. Nothing is refused: the caller handles a failure."""
    from .run import cut, describe

    return describe(why) if isinstance(why, BaseException) else cut("" if why is None else str(why)) or "failed"
