"""Tuner: runs an experiment."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, Callable, List, Mapping, Optional, Sequence, Tuple

from .. import _binary, _labels, _places, _words
from . import (_callbacks, _experiment, _files, _holding, _host, _logged, _moved, _payload, _recorded, _restore, _serving,
               _skip, _trust, _yaml, cluster)
from ._wrapped import Wrapped
from .checkpoint import PathLike
from .config import RunConfig, TuneConfig
from .error import TuneError, Unsupported
from .registry import registered
from .result_grid import ResultGrid
from .utils.log import Verbosity

__all__ = ["Tuner"]

_PAYLOAD = "tune"

#: What sets the keys of the experiment file that have other names.
_ARGUMENTS = {
    "trials": "num_samples",
    "concurrency": "max_concurrent_trials",
    "budget": "time_budget_s",
    "failures": "max_failures",
    "space": "param_space",
    "searcher": "search_alg",
    "objective": "metric",
    "checkpoint": "checkpoint_config",
    "resources": "the resources of the trainable",
    "placement": "the resources of the trainable",
    "storage": "storage_path",
}


class Tuner:
    """An experiment: a trainable, its space, and how it is searched.

    >>> from tunehost import tune
    >>> def train(config):
    ...     tune.report({"loss": (config["x"] - 3) ** 2 + config["y"]})
    >>> space = {"x": tune.grid_search([1, 2, 3]), "y": tune.uniform(0, 1)}
    >>> config = tune.TuneConfig(metric="loss", mode="min", num_samples=2)
    >>> results = tune.Tuner(train, param_space=space, tune_config=config, run_config=tune.RunConfig(verbose=0)).fit()
    >>> len(results), results.get_best_result().config["x"]
    (6, 3)

    trainable is a function of config, which calls tune.report, or a subclass of tune.Trainable. Each trial runs
    in a process of its own, forked from one that has unpickled the trainable; its directory is the working
    directory, and has what it prints. TuneError: there is no trainable, or an argument is of another type.
    """

    def __init__(
        self,
        trainable: Any = None,
        *,
        param_space: Optional[Mapping[str, Any]] = None,
        tune_config: Optional[TuneConfig] = None,
        run_config: Optional[RunConfig] = None,
    ) -> None:
        if trainable is None:
            raise TuneError(
                "a Tuner needs a trainable: a function of config, or a subclass of tune.Trainable; pass the function itself, "
                "do not call it"
            )
        self._tune, self._run = tune_config or TuneConfig(), run_config or RunConfig()
        for argument, kind, value in (("tune_config", TuneConfig, self._tune), ("run_config", RunConfig, self._run)):
            if not all(hasattr(value, name) for name in vars(kind())):
                raise TuneError(f"{argument} is {value!r:.60}: expected a tune.{kind.__name__}")
        self._experiment: Optional[_experiment.Experiment] = _experiment.build(
            registered(trainable), param_space or {}, self._tune, self._run
        )
        self._given = _restore.outline(param_space or {})  #: the param_space, as it is compared when the experiment continues
        self._settings = self._experiment.settings
        self._storage, self._name = _experiment.directory(self._experiment, self._run)
        self._dir: Optional[str] = None  # once it exists
        self._resume: Optional[List[str]] = None
        self._goes_on = _skip.GoesOn()
        self._log_begins = 0  #: where the log has the present fit
        self._flags: List[str] = []  #: further ones of the program
        self._begin_anew()
        self._results: Optional[ResultGrid] = None

    def _begin_anew(self) -> None:
        self._interrupted = False  #: whether Ctrl-C has ended the last fit
        self._changes: List[Callable[[], None]] = []  #: what fit writes first into an experiment that exists
        self._before: Optional[bytes] = None  #: the experiment file, where fit has replaced it
        self._caller = ""  #: the function of this package that makes the call, instead of the user
        self._arguments: Mapping[str, str] = _ARGUMENTS

    def _called(self, caller: str, arguments: Mapping[str, str]) -> None:
        """Has messages speak of minimize or maximize, and of the names that their arguments have."""
        self._caller, self._arguments = caller, {**_ARGUMENTS, **arguments}

    def _continues(self) -> str:
        """How the user continues what was interrupted."""
        if self._caller:
            storage = "" if self._storage == _places.absolute("results") else f", storage={self._storage!r}"
            return f"{self._caller} with the same arguments and resume=True, name={self._name!r}{storage} continues"
        return f"tune.Tuner.restore({self._dir!r}, trainable) continues"

    def _take_up(self, param_space: Mapping[str, Any]) -> None:
        """Continues the experiment of this name with the settings of this object, if there is one."""
        dir = os.path.join(self._storage, self._name)
        if not os.path.lexists(dir):
            return
        if not os.path.exists(os.path.join(dir, _PAYLOAD, "tuner.json")):
            _holding.refuse_beginning(dir)
            raise TuneError(f"there is no experiment of tunehost.tune at {dir} that could continue: choose another name")
        _trust.check(dir)
        assert self._experiment
        made = self._experiment
        if not _restore.has_scalars(Path(dir, _PAYLOAD), param_space):
            made = _experiment.build(Wrapped(made.trainable), param_space, self._tune, self._run, scalars=False)
            self._experiment = made
        _restore.check_objective(Path(dir, _PAYLOAD), self._tune)
        self._changes = [_restore.renewal(Path(dir, _PAYLOAD), Wrapped(made.trainable), param_space), self._replace_file]
        self._dir = dir
        if made.plan.suggestions is not None:
            made.plan.suggestions = os.path.join(dir, _PAYLOAD, "suggestions")
        self._resume = ["run", os.path.join(dir, _PAYLOAD, "experiment.yaml")]

    def _replace_file(self) -> None:
        file = Path(self._dir or "", _PAYLOAD, "experiment.yaml")
        self._before = file.read_bytes()
        _payload.replace(file, self.to_yaml().encode())

    def to_yaml(self) -> str:
        """The experiment file, which fit writes and runs."""
        if self._experiment is None:
            return _moved.file(Path(self._storage, self._name, _PAYLOAD))
        return _yaml.to_yaml(_experiment.complete(self._experiment, self._storage, self._name))

    def fit(self) -> ResultGrid:
        """Runs the experiment and returns its results, also when trials failed or Ctrl-C interrupted it. TuneError:
        it could not run; KeyboardInterrupt: Ctrl-C came before anything was recorded. A name that exists gets a number:
        NAME-2."""
        _payload.refuse_while_loading("fit")
        with _host.as_before(), _holding.Hold() as hold:
            return self._fit(hold)

    def _fit(self, hold: _holding.Hold) -> ResultGrid:
        begun = self._begin(hold) if self._resume is None else self._go_on(hold, self._resume)
        arguments = [*begun, *cluster.flags(), *self._flags]
        assert self._dir
        try:
            status = self._hosted([*arguments, "--no-fail", *self._verbosity()])
        except _host.Killed as e:
            next = self._continues() if self.can_restore(self._dir) else "nothing was recorded yet: run it again"
            raise TuneError(f"{e}; {next}") from None
        except TuneError as e:
            self._raise_first()
            file = self.to_yaml()
            self._withdraw()
            raise TuneError(_words.refused(str(e), file, self._arguments)) from None
        self._warn()
        self._interrupted = status == _host.INTERRUPTED
        if self._interrupted and not self.can_restore(self._dir):
            self._withdraw()
            raise KeyboardInterrupt(f"interrupted before the experiment began: {self._caller or 'fit'} begins it again")
        if self._interrupted:
            _host.warn(f"interrupted; {self._continues()}")
        if self._experiment:
            for line in _serving.take_back(Path(self._dir, _PAYLOAD), self._experiment.served):
                _host.warn(f"warning: {line}")
        self._results = self._read()
        self._raise_first()
        return self._results

    def _withdraw(self) -> None:
        """Removes the directory of a new experiment that did not begin: it would take the name. One that exists keeps the
        settings that it had."""
        if self._before is not None:
            _payload.replace(Path(self._dir or "", _PAYLOAD, "experiment.yaml"), self._before)
        if self._dir and self._resume is None and os.listdir(self._dir) in ([], [_PAYLOAD]):
            shutil.rmtree(self._dir)
            self._dir = None

    def _warn(self) -> None:
        """Says what the program does not say where it is silent, and what the user must know nevertheless."""
        if self._verbosity() != ["-v", "0"]:
            return
        dir = Path(self._dir or "")
        for text in (_serving.without_effect(dir / _PAYLOAD), *_logged.warnings(dir, self._log_begins)):
            if text:
                _host.warn(_words.advised(f"warning: {text}"))

    def _hosted(self, arguments: List[str]) -> int:
        """Runs the program, and calls the callbacks meanwhile."""
        self._log_begins = _logged.size(Path(self._dir or ""))
        if not self._settings:
            return _host.run(arguments)
        assert self._dir
        caller = _callbacks.Caller(self._dir, self._settings)
        try:
            caller.begin()
            status = _host.run(arguments, caller.look, caller.ready)
            caller.end()
        finally:
            caller.close()
        return status

    def _go_on(self, hold: _holding.Hold, arguments: List[str]) -> List[str]:
        """Takes the experiment that exists, prepares what becomes of its trials, and returns the arguments of the program.
        TuneError: it is in use, and nothing has changed."""
        assert self._dir
        folder = Path(self._dir, _PAYLOAD)
        try:
            hold.take(self._dir)
            for change in self._changes:
                change()
            self._flags += [*_moved.settle(folder), *_skip.prepare(folder, self._goes_on)]
        except OSError as e:
            raise TuneError(
                f"the experiment cannot continue in {self._dir}: {e}: make it writable, make room, or continue a copy of it"
            ) from None
        self._changes, self._goes_on = [], _skip.GoesOn()
        return arguments

    def get_results(self) -> ResultGrid:
        """The results so far, of an experiment that was run or restored. TuneError: fit was not called."""
        if self._dir is None:
            raise TuneError("there are no results yet: call fit first")
        self._results = self._read()
        return self._results

    @classmethod
    def restore(
        cls,
        path: str,
        trainable: Any = None,
        resume_unfinished: bool = True,
        resume_errored: bool = False,
        restart_errored: bool = False,
        param_space: Optional[Mapping[str, Any]] = None,
        storage_filesystem: Any = None,
    ) -> Tuner:
        """The experiment in a directory; fit continues it. Nothing that was recorded is lost or run twice: trials that
        ran continue from their last checkpoints, or end as they are if resume_unfinished is False.

        trainable replaces the pickled one, which may have changed; None keeps it. resume_errored: failed trials
        continue from their last checkpoints; restart_errored: from the beginning. param_space gives objects that
        the space contains anew; the parameters cannot change. TuneError: there is no experiment in the directory, or
        param_space has other parameters, ranges or constants; ValueError: both resume_errored and restart_errored; Unsupported: another file system."""
        if not _files.is_local(storage_filesystem):
            raise Unsupported("Tuner.restore(storage_filesystem=…) is not supported: give a directory")
        if resume_errored and restart_errored:
            raise ValueError("resume_errored and restart_errored exclude each other")
        dir = _places.absolute(path)
        if not cls.can_restore(dir):
            raise TuneError(f"there is no experiment of tunehost.tune at {dir}: `tunehost ls` lists experiments")
        made = cls._restored(dir, trainable, param_space)
        failed = _skip.RESUME if resume_errored else _skip.RESTART if restart_errored else _skip.SKIP
        made._goes_on = _skip.GoesOn(unfinished=_skip.RESUME if resume_unfinished else _skip.SKIP, failed=failed)
        return made

    @classmethod
    def _restored(cls, dir: str, trainable: Any, param_space: Any) -> Tuner:
        _trust.check(dir)
        made = cls.__new__(cls)
        made._begin_anew()
        if trainable is not None or param_space is not None:
            inner = None if trainable is None else registered(trainable)
            made._changes = [_restore.renewal(Path(dir, _PAYLOAD), inner, param_space)]
        made._tune, made._run = _restore.configs(Path(dir, _PAYLOAD))
        made._dir, made._results = dir, None
        made._experiment = None
        made._flags = []
        made._settings = _restore.settings(Path(dir, _PAYLOAD))
        made._storage, made._name = os.path.split(dir)
        made._resume = ["resume", dir]
        return made

    @classmethod
    def can_restore(cls, path: PathLike, storage_filesystem: Any = None) -> bool:
        """Whether a directory has an experiment that restore continues."""
        dir = Path(os.path.expanduser(os.fspath(path)))
        return (dir / "run.json").exists() and (dir / _PAYLOAD / "payload.pkl").exists()

    def _begin(self, hold: _holding.Hold) -> List[str]:
        """Makes the directory with all that the trials' process needs."""
        if self._dir is not None:
            raise TuneError("this Tuner has run: make another, or continue with tune.Tuner.restore(PATH, trainable)")
        _binary.find()  # before a directory takes the name
        try:
            self._dir, self._name = claim(self._storage, self._name)
            os.mkdir(os.path.join(self._dir, _PAYLOAD), 0o700)
            hold.take(self._dir)
            return self._written(Path(self._dir, _PAYLOAD))
        except TuneError:  # something cannot be pickled, for example: the name stays free
            self._withdraw()
            raise
        except OSError as e:
            self._withdraw()
            raise TuneError(
                f"the experiment cannot begin in {self._storage}: {e}: choose another storage_path or name, or make room"
            ) from None

    def _written(self, folder: Path) -> List[str]:
        """Writes all that the trials' process needs, and returns the arguments of the program."""
        e = self._experiment
        assert e
        if e.plan.suggestions is not None:
            e.plan.suggestions = str(folder / "suggestions")
        (folder / "plugin").mkdir(0o700)
        if e.plan.suggestions is not None:
            os.mkdir(e.plan.suggestions)
        _payload.write(
            folder, _payload.Payload(e.trainable, e.name, e.stop, e.request, e.counts, e.repeat), e.plan, dict(e.objects)
        )
        _restore.remember(folder, self._tune, self._run, e.name, self._given)
        _labels.write(folder, e.plan)
        facts = {"name": e.name, "request": e.keys.get("resources"), "repeat": e.keys.get("repeat", 1)}
        _serving.write(folder, e.served, facts)
        if self._settings:
            _serving.write_feed(folder)
            _restore.remember_settings(folder, self._settings)
        _payload.replace(folder / "plugin" / "serve.py", _serving.trainer().encode())
        _payload.replace(folder / "plugin" / "plugin.yaml", _experiment.plugin_yaml(e, str(folder)).encode())
        file, content = folder / "experiment.yaml", self.to_yaml().encode()
        if len(content) > _MOST_BYTES:
            raise TuneError(_too_large(e.keys["space"], len(content)))
        _payload.replace(file, content)
        return ["run", str(file)]

    def _start_from(self, checkpoint: PathLike) -> None:
        """Makes every trial of a new experiment start from a checkpoint."""
        path = _places.absolute(checkpoint)
        if not os.path.isdir(path):
            raise TuneError(f"there is no checkpoint at {path}: restore is the directory of one")
        if self._experiment:
            self._experiment.keys["restore"] = path

    def _export(self, formats: Sequence[str]) -> None:
        """Makes the trials of a new experiment export their models."""
        if self._experiment:
            self._experiment.keys["export"] = list(formats)

    def _verbosity(self) -> List[str]:
        verbose = self._run.verbose
        if verbose is None:
            return ["-v", "0"] if self._settings and self._settings.reporter else []
        if verbose not in (0, 1, 2, 3, *Verbosity):
            raise ValueError(f"verbose is {verbose!r}: expected 0 to 3")
        return ["-v", str(int(verbose))]

    def _read(self) -> ResultGrid:
        assert self._dir
        metric, mode = self._tune.metric, self._tune.mode
        if not isinstance(metric, str):
            metric, mode = _recorded.objective(self._dir)
        return ResultGrid(self._dir, metric, mode if isinstance(mode, str) else None)

    def _raise_first(self) -> None:
        """fail_fast="raise" raises the failure of the trial here."""
        fast = self._run.failure_config.fail_fast if self._run.failure_config else False
        if isinstance(fast, str) and os.path.exists(os.path.join(self._dir or "", "journal")):
            for error in self._read().errors:
                raise error from None


_MOST_BYTES = 1 << 20  #: of an experiment file


def _too_large(space: Mapping[str, Any], size: int) -> str:
    """What to do about an experiment file that is too large: the largest parameter is named."""
    sizes = {name: len(_yaml.to_yaml({name: value})) for name, value in space.items()}
    largest = max(sizes, key=lambda name: sizes[name], default="")
    return (
        f"the experiment file has {size} bytes, at most {_MOST_BYTES}; the parameter {largest!r} of param_space takes "
        f"{sizes.get(largest, 0)} of them: give large values to the trainable by tune.with_parameters"
    )


def claim(storage: str, name: str) -> Tuple[str, str]:
    """Makes a new directory of this name, or of the next free one. Others can read nothing in it."""
    Path(storage).mkdir(0o700, parents=True, exist_ok=True)
    number = 1
    while True:
        tried = name if number == 1 else f"{name}-{number}"
        dir = os.path.join(storage, tried)
        try:
            os.mkdir(dir, 0o700)
            return dir, tried
        except FileExistsError:
            number += 1
