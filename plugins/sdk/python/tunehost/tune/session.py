"""What a function calls while it trains: report, get_checkpoint, get_context."""

from __future__ import annotations

import time
from _thread import RLock
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Set

from .. import _script
from .._metrics import check_depth
from ..errors import Stopped
from . import _heard, _nested, _values
from . import checkpoint as _checkpoint
from ._names import SHOULD_CHECKPOINT
from .checkpoint import Checkpoint
from .error import TuneError
from .resources import PlacementGroupFactory

if TYPE_CHECKING:
    from ..run import Run

__all__ = ["TuneContext", "get_checkpoint", "get_context", "report"]

Stop = Callable[[str, Dict[str, Any]], Any]


class Session:
    """The trial of this process."""

    def __init__(
        self,
        run: Run,
        config: Mapping[str, Any],
        stop: Optional[Stop],
        name: str,
        counts: bool,
        folder: Optional[Path] = None,
        asked: bool = True,
    ) -> None:
        self.run: Run
        self.config: Mapping[str, Any]
        self.stop: Optional[Stop]
        self.name: str
        self.run, self.config, self.stop, self.name = run, config, stop, name
        self.folder = folder  # `tune` of the experiment
        self.groups: Set[str] = set()  # the metrics that are dicts
        self.counts = counts  # whether training_iteration is the objective, because the user gave none
        self.closing: List[Callable[[bool], Any]] = []  # called at the end, with whether the trial has failed
        self._asking = _heard.Asking(folder if asked else None)
        self._since = time.monotonic()

    def report(
        self,
        metrics: Mapping[str, Any],
        checkpoint: Optional[Checkpoint] = None,
        save: Any = None,
        done: bool = False,
    ) -> None:
        """Reports one result."""
        if checkpoint is not None and not isinstance(checkpoint, Checkpoint):
            raise TypeError(f"checkpoint is {checkpoint!r:.60}: expected tune.Checkpoint.from_directory(DIR)")
        self._remember(metrics)
        folder = self.folder
        if folder:
            place = self.run.trial.attempt, self.run.iteration + 1
            self.run.when_room(lambda: _values.keep(folder, self.run.trial.number, place, metrics))
        more: Dict[str, Any] = {}
        if self.counts and "training_iteration" not in metrics:
            more["training_iteration"] = self.run.iteration + 1
        kept = self.run.when_room(lambda: _checkpoint.keep(checkpoint, self.run.dir)) if checkpoint else None
        ends = self.stop is not None and bool(self.stop(self.run.trial.id, self._result(metrics)))
        self.run.report(metrics, save=save, checkpoint=kept, done=done or ends, **more)
        if ends:
            raise Stopped()

    def heard(self, metrics: Mapping[str, Any]) -> Mapping[str, Any]:
        """A result with what callbacks change of it. The trial waits for those that have an on_trial_result.
        Raises Stopped after the last result."""
        self.run.check_open()
        check_depth(metrics)  # before it is pickled
        now = time.monotonic()
        place = self.run.trial.number, self.run.trial.attempt, self.run.iteration + 1
        changes = self._asking.changes(place, metrics, now - self._since)
        self._since = now
        return {**metrics, **changes} if changes else metrics

    def close(self, failed: bool) -> None:
        """The training is over."""
        for end in self.closing:
            end(failed)

    def _remember(self, metrics: Mapping[str, Any]) -> None:
        """Keeps which metrics are dicts: the record does not have it."""
        new = set(_nested.dicts(metrics)) - self.groups
        if new and self.run.dir.is_dir():
            self.groups |= new
            _nested.remember(self.run.dir, self.groups)

    def _result(self, metrics: Mapping[str, Any]) -> Dict[str, Any]:
        return {
            "training_iteration": self.run.iteration + 1,
            "trial_id": self.run.trial.id,
            "config": self.config,
            **metrics,
        }


_current: Optional[Session] = None
_turn = RLock()  # one result after the other: a function may report from several threads


def begin(session: Session) -> None:
    """Makes a trial that of this process."""
    global _current
    _current = session


def report(
    metrics: Optional[Mapping[str, Any]] = None, *, checkpoint: Optional[Checkpoint] = None, **named: Any
) -> None:
    """Reports one result of the trial, and returns when the trial may continue.

    >>> report({"loss": 0.5, "by": {"class": 1.5}})  # outside of a trial
    {"loss": 0.5, "by/class": 1.5}

    metrics are numbers by name, and other values (text, bool, list), which are kept beside them; nested
    dicts are flattened with "/". checkpoint is copied, and belongs to this result.

    Raises tune.Stopped when the trial must end, or tune.Paused, which is a Stopped, when it will continue
    later from its last checkpoint, and tune.Killed, which is none, when the host of the trial is gone or has killed it.
    Do not catch them, or raise them again: `finally` and `with` are carried out. Several threads may report: their results follow each other. Outside of a trial it prints the metrics.
    TypeError: metrics are no dict.
    """
    if named:
        pairs = ", ".join(f'"{name}": {value!r:.20}' for name, value in named.items())
        raise TypeError(f"tune.report({next(iter(named))}=…): metrics are one dict: write tune.report({{{pairs}}})")
    if not isinstance(metrics, Mapping):
        raise TypeError(f'tune.report({metrics!r:.40}): expected a dict of metrics, such as {{"loss": 0.5}}')
    if _current is not None:
        with _turn:
            _current.report(_own(_current.heard(metrics)), checkpoint)
    else:
        _script.report(metrics, checkpoint=checkpoint.path if checkpoint else None)


def _own(metrics: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without a callback's wish for a checkpoint: a function saves its own."""
    return {k: v for k, v in metrics.items() if k != SHOULD_CHECKPOINT} if SHOULD_CHECKPOINT in metrics else metrics


def get_checkpoint() -> Optional[Checkpoint]:
    """The checkpoint to continue from: of a trial that was paused, has failed before or continues from
    another one. None when it starts from the beginning, and outside of a trial."""
    restore = _current.run.restore if _current is not None else _script.checkpoint()
    return Checkpoint(restore) if restore else None


class TuneContext:
    """Facts about the trial of this process."""

    def __init__(self, session: Optional[Session]) -> None:
        self._session = session

    def _trial(self) -> Session:
        if self._session is None:
            raise TuneError(
                "there is no trial here: tune.get_context() describes the trial in whose function it is called"
            )
        return self._session

    def get_trial_id(self) -> str:
        """The name of the trial in files and commands."""
        return self._trial().run.trial.id

    def get_trial_name(self) -> str:
        """The trainable's name and the trial's id."""
        return f"{self._trial().name}_{self.get_trial_id()}"

    def get_trial_dir(self) -> str:
        """The trial's directory, in which it runs."""
        return self._trial().run.trial.dir

    def get_experiment_name(self) -> str:
        """The name of the experiment."""
        return self._trial().run.trial.experiment

    def get_trial_resources(self) -> PlacementGroupFactory:
        """What the trial was granted."""
        trial = self._trial().run.trial
        bundles = [bundle.resources for bundle in trial.bundles] or [trial.resources or {"cpu": 1}]
        return PlacementGroupFactory([_upper(bundle) for bundle in bundles])

    def get_metadata(self) -> Dict[str, Any]:
        """Metadata of a trainer: there is none in a trial, as in Ray. It raises DeprecationWarning."""
        raise DeprecationWarning(
            "get_metadata belongs to Ray Train: put metadata into the config or use Checkpoint.set_metadata"
        )

    def get_world_size(self) -> int:
        """Belongs to Ray Train, and raises RuntimeError as in Ray: a trial is one process; see `placement` for
        several."""
        raise RuntimeError("world sizes and ranks belong to Ray Train: a trial is one process here")

    def get_world_rank(self) -> int:
        """See get_world_size."""
        return self.get_world_size()

    def get_local_rank(self) -> int:
        """See get_world_size."""
        return self.get_world_size()

    def get_local_world_size(self) -> int:
        """See get_world_size."""
        return self.get_world_size()

    def get_node_rank(self) -> int:
        """See get_world_size."""
        return self.get_world_size()


def _upper(bundle: Mapping[str, Any]) -> Dict[str, float]:
    names = {"cpu": "CPU", "gpu": "GPU"}
    return {names.get(k, k): _amount(v) for k, v in bundle.items()}


def _amount(value: Any) -> float:
    try:
        return float(value)
    except ValueError:  # "4GiB"
        units = {
            "KiB": 2**10,
            "MiB": 2**20,
            "GiB": 2**30,
            "TiB": 2**40,
            "KB": 10**3,
            "MB": 10**6,
            "GB": 10**9,
            "TB": 10**12,
        }
        for unit, size in units.items():
            if str(value).endswith(unit):
                return float(str(value)[: -len(unit)]) * size
        raise


def get_context() -> TuneContext:
    """Facts about the trial of this process. Outside of a trial its methods raise TuneError."""
    return TuneContext(_current)


def at_end(end: Callable[[bool], Any]) -> None:
    """Calls a function when the trial of this process ends, with whether it has failed. Outside of a trial it does
    nothing."""
    if _current is not None:
        _current.closing.append(end)


def inside() -> bool:
    """Whether this process trains a trial."""
    return _current is not None
