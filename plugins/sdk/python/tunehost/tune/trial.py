"""Trials, as schedulers, callbacks, loggers and reporters that a user writes see them."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, Optional, Union

from . import _means, _nested
from .checkpoint import Checkpoint

__all__ = ["Trial"]


class Trial:
    """A trial and what is known about it."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    TERMINATED = "TERMINATED"
    ERROR = "ERROR"

    def __init__(
        self,
        number: Union[int, str],
        trial_id: Optional[str] = None,
        config: Optional[Dict[str, Any]] = None,
        trainable_name: str = "",
    ) -> None:
        """A trial that a search algorithm of one's own makes is Trial("TRAINABLE", config=…)."""
        if isinstance(number, str):
            trainable_name = number
        self.number: int = -1 if isinstance(number, str) else number  #: its number in the experiment, from 0
        self.trial_id: str = trial_id or self.generate_id()  #: its name in files and commands
        self.config: Dict[str, Any] = {} if config is None else config  #: what the trainable gets
        self.evaluated_params: Dict[str, Any] = dict(self.config)  #: the same; Ray has only the sampled ones
        self.trainable_name = trainable_name  #: the name of the function or class
        self.status = Trial.PENDING  #: PENDING, RUNNING, PAUSED, TERMINATED or ERROR
        self.last_result: Dict[str, Any] = {}  #: the last result; {} before the first
        self.metric_analysis: Dict[str, Dict[str, float]] = {}  #: max, min, avg, last, last-5-avg and last-10-avg
        self.num_failures = 0  #: how often it has failed
        self.start_time: Optional[float] = None  #: when it started first, in seconds since 1970
        self.path: Optional[str] = None  #: its directory
        self.placement_group_factory: Any = None  #: what it requests
        self.custom_trial_name: Optional[str] = None  #: the name of trial_name_creator
        self._error = ""
        self._checkpoint: Optional[str] = None
        self._counts: Dict[str, int] = {}
        self._last: Dict[str, List[float]] = {}

    @classmethod
    def generate_id(cls) -> str:
        """A new id, for a trial that no experiment has yet."""
        return os.urandom(4).hex()

    @property
    def local_path(self) -> Optional[str]:
        """Its directory; path is the same."""
        return self.path

    logdir = local_path
    local_dir = local_path

    @property
    def experiment_tag(self) -> str:
        """The number and the parameters in one line."""
        return ",".join([str(self.number), *(f"{k}={_short(v)}" for k, v in self.config.items())])

    @property
    def checkpoint(self) -> Optional[Checkpoint]:
        """The newest checkpoint, or None."""
        return Checkpoint(self._checkpoint) if self._checkpoint else None

    @property
    def latest_checkpoint(self) -> Optional[Checkpoint]:
        """The same as checkpoint."""
        return self.checkpoint

    def has_checkpoint(self) -> bool:
        """Whether there is a checkpoint."""
        return self._checkpoint is not None

    @property
    def error_msg(self) -> Optional[str]:
        """Why it failed; None if it did not."""
        return self._error or None

    def get_error(self) -> Optional[Exception]:
        """Why it failed, as an exception; None if it did not."""
        from .error import TuneError

        return TuneError(self._error) if self._error else None

    @property
    def error_file(self) -> Optional[str]:
        """The file with what it wrote to stderr, if it failed."""
        return os.path.join(self.path, "stderr") if self._error and self.path else None

    def is_finished(self) -> bool:
        """Whether it has ended, well or not."""
        return self.status in (Trial.TERMINATED, Trial.ERROR)

    @property
    def has_reported_at_least_once(self) -> bool:
        """Whether there is a result."""
        return bool(self.last_result)

    def metric(self, name: str) -> Any:
        """The last value of a metric."""
        return self.last_result.get(name)

    def update_last_result(self, result: Mapping[str, Any]) -> None:
        """Makes a result the last one. Called by tunehost."""
        self.last_result = dict(result)
        for name, value in _nested.flat({k: v for k, v in result.items() if k != "config"}):
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                self._analyse(name, value)

    def _analyse(self, name: str, value: float) -> None:
        count = self._counts[name] = self._counts.get(name, 0) + 1
        known = self.metric_analysis.setdefault(name, {"max": value, "min": value, "avg": value})
        known["max"], known["min"] = max(known["max"], value), min(known["min"], value)
        known["avg"] = _means.running(known["avg"], value, count)
        known["last"] = value
        last = self._last.setdefault(name, [])
        last.append(value)
        del last[:-10]
        known["last-5-avg"], known["last-10-avg"] = _means.mean(last[-5:]), _means.mean(last)

    def set_config(self, config: Dict[str, Any]) -> None:
        """Replaces the config that this object shows; schedulers give trials new parameters by
        PopulationBasedTraining."""
        self.config = config
        self.evaluated_params = dict(config)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trial) and self.trial_id == other.trial_id

    def __hash__(self) -> int:
        return hash(self.trial_id)

    def __str__(self) -> str:
        return self.custom_trial_name or f"{self.trainable_name}_{self.trial_id}".strip("_")

    __repr__ = __str__


Trials = List[Trial]

_ALPHABET = "0123456789abcdefghijkmnpqrstuvwx"
_MASK32, _MASK64 = (1 << 32) - 1, (1 << 64) - 1


def id_of(seed: int, number: int) -> str:
    """The id of a trial: a function of the experiment's seed and the trial's number, as in the host."""
    z = (seed + 0x9E3779B97F4A7C15) & _MASK64
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & _MASK64
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & _MASK64
    x = (number ^ (z ^ z >> 31)) & _MASK32
    x ^= x >> 16
    x = x * 0x7FEB352D & _MASK32
    x ^= x >> 15
    x = x * 0x846CA68B & _MASK32
    x ^= x >> 16
    letters = []
    for _ in range(7):
        letters.append(_ALPHABET[x & 31])
        x >>= 5
    return "".join(letters)


def _short(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)[:40]
