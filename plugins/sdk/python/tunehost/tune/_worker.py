"""The process that trains: a trainable plugin, which the host starts by serve.py in the directory of the
experiment. Each trial is a fork of it."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Type

import tunehost

from .. import _metrics, _returned, tune
from . import _configs, _heard, _moved, _payload, _skip, session
from ._encode import computes, decode
from ._names import DEFAULT_METRIC, SHOULD_CHECKPOINT
from .checkpoint import Checkpoint
from .resources import computed
from .trainable import Trainable, overrides


TRIAL_INDEX = "__trial_index__"  #: Ray's name in the config for the index of a repeated run


class Serving(tunehost.Trainable):
    """Trains a function or class of Python."""

    name = "python"
    version = "1.0.0"
    dir = Path()
    ends_on_sigterm = False  #: whether one from another process ends this one, which then trains itself
    actor: Optional[Trainable] = None  #: the object of the last trial, in a process that trains one after the other

    def open(self) -> None:
        self.payload = _payload.read_as_main(self.dir)
        self.plan = _payload.read_plan(self.dir)
        self.objects = _payload.read_objects(self.dir)
        self.stepped = isinstance(self.payload.trainable, type)
        self.saves = self.stepped and overrides(self.payload.trainable, "save_checkpoint")
        self.skipped = _skip.read(self.dir)
        self.keeps = computes(self.plan) or bool(self.plan.suggestions) or self.payload.repeat > 1
        self.asked = _heard.listens(self.dir)
        tune.look_up()

    def train(self, run: tunehost.Run) -> None:
        if run.trial.number in self.skipped:
            return
        config = decode(self.plan, run.params)
        if self.payload.repeat > 1:
            config[TRIAL_INDEX] = run.trial.number % self.payload.repeat
        if self.keeps:
            _remember(run.dir, config, run.trial.attempt)
        payload = self.payload
        current = session.Session(run, config, payload.stop, payload.name, payload.counts, self.dir, self.asked)
        session.begin(current)
        if os.path.isdir(run.trial.dir):
            os.chdir(run.trial.dir)
        failed = True
        try:
            self._trained(current, config)
            failed = False
        except (tunehost.Stopped, tunehost.Killed):
            failed = False
            raise
        finally:
            current.close(failed)

    @classmethod
    def _prepare(cls) -> None:
        """Imports what reads functions; open says what is wrong with it."""
        with contextlib.suppress(Exception):
            import cloudpickle

    def _rehearse(self, run: tunehost.Run) -> None:
        """Reports without a trial."""
        payload = self.payload
        current = session.Session(run, {}, None, payload.name, payload.counts, self.dir, False)
        _finish(current, {DEFAULT_METRIC: 0.5})

    def _trained(self, current: session.Session, config: Dict[str, Any]) -> None:
        if self.stepped:
            self._steps(current, config)
        else:
            _finish(current, self.payload.trainable(config, **self.objects), self.payload.trainable)

    def _steps(self, current: session.Session, config: Dict[str, Any]) -> None:
        """Trains a class, step by step."""
        trainable = self._made(config)
        save = trainable.save if self.saves else None
        if overrides(type(trainable), "export_model"):
            current.run.export_with(lambda format, dir: _export(trainable, format, dir))
        try:
            if current.run.restore:
                _restore(trainable, current.run)
            while True:
                trained = trainable.train()
                current.run.leave_fork()
                result = current.heard(trained)
                if self.saves and result.get(SHOULD_CHECKPOINT):
                    with tempfile.TemporaryDirectory() as dir:
                        made = Checkpoint(trainable.save(dir))
                        current.report(_own(result), checkpoint=made, done=bool(result["done"]))
                else:
                    current.report(_own(result), save=_saver(save), done=bool(result["done"]))
                if result["done"]:
                    break
            self.actor = trainable if self.reusable else None
        except tunehost.Stopped:
            self.actor = trainable if self.reusable else None
            raise
        finally:
            if self.actor is None:
                trainable.cleanup()

    def _made(self, config: Dict[str, Any]) -> Trainable:
        """The object that trains: that of the trial before, if its reset_config takes the parameters, or a new one."""
        actor, self.actor = self.actor, None
        if actor is not None:
            if actor.reset(config):
                return actor
            actor.cleanup()
        made: Trainable = _with_setup(self.payload.trainable, self.objects)(config)
        return made


class Requesting(Serving):
    """The same, for requests that depend on the config."""

    name = "python"

    def request(self, params: Dict[str, Any]) -> Mapping[str, Any]:
        config = decode(self.plan, params)
        assert self.payload.resources
        wanted = self.payload.resources(config)
        return computed({"cpu": 1} if wanted is None else wanted)


def _saver(save: Any) -> Any:
    return None if save is None else lambda dir: save(str(dir))


def _restore(trainable: Trainable, run: tunehost.Run) -> None:
    """Continues from a checkpoint; the host may try once more without one that cannot be loaded."""
    try:
        trainable.restore(str(run.restore))
    except Exception as e:
        raise tunehost.RestoreError(f"the checkpoint {run.restore} cannot be loaded: {type(e).__name__}: {e}") from e
    trainable._iteration = run.iteration or trainable._iteration


def _export(trainable: Trainable, format: str, dir: Path) -> None:
    try:
        trainable.export_model([format], str(dir))
    except (ValueError, NotImplementedError) as e:
        raise tunehost.UnknownFormat(str(e) or f"the trainable does not know the format {format}") from e


def _with_setup(cls: Type[Trainable], objects: Dict[str, Any]) -> Type[Trainable]:
    """The class whose setup gets the objects of with_parameters."""
    if not objects:
        return cls
    setup = cls.setup

    class Inner(cls):  # type: ignore[valid-type, misc]
        def setup(self, config: Dict[str, Any]) -> None:
            setup(self, config, **objects)

    Inner.__name__, Inner.__qualname__ = cls.__name__, cls.__qualname__
    return Inner


_ADDED = ("config", "done", "time_this_iter_s", "time_total_s", SHOULD_CHECKPOINT)


def _own(result: Mapping[str, Any]) -> Dict[str, Any]:
    """What step returned: the host adds times of its own."""
    return {k: v for k, v in result.items() if k not in _ADDED}


def _finish(current: session.Session, returned: Any, f: Any = None) -> None:
    """Reports what the function f returns or yields."""
    current.run.leave_fork()
    if inspect.isgenerator(returned):
        _yielded(current, returned, f)
    elif returned is not None:
        metrics = _result(returned, "a number, a dict of metrics, or None", f, "returned")
        current.report(current.heard(metrics), done=True)


def _yielded(current: session.Session, results: Iterator[Any], f: Any) -> None:
    try:
        for metrics in results:
            current.run.leave_fork()
            current.report(current.heard(_result(metrics, "a number or a dict of metrics", f, "yielded")))
    finally:
        close = getattr(results, "close", None)
        if close:
            close()


def _result(value: Any, expected: str, f: Any, did: str) -> Mapping[str, Any]:
    """A number under its name, and a dict as it is. TypeError: the value is something else."""
    if isinstance(value, Mapping):
        return value
    if _metrics.scalar(value) is None:
        raise _returned.refusal(f, did, value, expected)
    return {DEFAULT_METRIC: value}


def _remember(dir: Path, config: Dict[str, Any], attempt: int) -> None:
    """Keeps a config that cannot be derived from the record, for Result.config."""
    if dir.is_dir():
        try:
            _configs.keep(dir, config, attempt)
        except Exception as e:
            print(f"the config is not kept: {e}", file=sys.stderr)


def main(arguments: List[str]) -> None:
    """Serves until the host ends the process."""
    dir, *flags = arguments
    plugin = Requesting if "--requests" in flags else Serving
    plugin.dir = Path(dir)
    _moved.find_modules(plugin.dir)
    if "--reuse" in flags:
        plugin.fork, plugin.reusable, plugin.ends_on_sigterm = False, True, True
    tunehost.serve(plugin)
