"""How an experiment is to run, with Ray Tune's names."""

from __future__ import annotations

import datetime
import operator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

__all__ = ["CheckpointConfig", "FailureConfig", "ResumeConfig", "RunConfig", "SyncConfig", "TuneConfig"]


@dataclass
class TuneConfig:
    """What is searched, and how.

    >>> TuneConfig(metric="loss", mode="min", num_samples=20, search_alg="tpe", scheduler="asha").num_samples
    20
    >>> TuneConfig(metric="loss", mode="least")
    Traceback (most recent call last):
    ValueError: mode is 'least': expected min or max
    """

    mode: Union[None, str, Sequence[str]] = None  #: min or max; a list for several metrics
    metric: Union[None, str, Sequence[str]] = None  #: the reported metric that counts; a list for several objectives
    search_alg: Any = None  #: a class of tune.search, or the name of a searcher of tunehost; None: random
    scheduler: Any = None  #: a class of tune.schedulers, or the name of a scheduler of tunehost; None: fifo
    num_samples: int = 1  #: how many points; grids multiply it; -1: no limit
    max_concurrent_trials: Optional[int] = None  #: at a time; None or 0: as many as resources allow
    time_budget_s: Union[None, float, datetime.timedelta] = None  #: seconds after which the experiment ends
    reuse_actors: bool = False  #: class trainables: one process trains trial after trial, by reset_config
    trial_name_creator: Optional[Callable[..., str]] = None  #: a function of the trial that returns its name in texts
    #: a template, such as "{number}_{lr}", or a function of the trial
    trial_dirname_creator: Union[None, str, Callable[..., str]] = None
    chdir_to_trial_dir: Any = None  #: refused, as in Ray: every trial runs in its directory
    seed: Optional[int] = None  #: of all random choices; None: a random one; not one of Ray's
    #: expressions that every point satisfies, such as ["x + y < 0.7"], as in an experiment file; not one of Ray's
    constraints: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.chdir_to_trial_dir is not None:
            raise DeprecationWarning("`chdir_to_trial_dir` is deprecated: every trial runs in its directory")
        for mode in [self.mode] if isinstance(self.mode, str) else self.mode or ():
            if mode not in ("min", "max"):
                raise ValueError(f"mode is {mode!r}: expected min or max")
        self.num_samples = whole("num_samples", self.num_samples, "expected a number of points, or -1", -1)
        if isinstance(self.time_budget_s, (str, bytes)):
            raise ValueError(f"time_budget_s is {self.time_budget_s!r:.60}: expected a number of seconds")
        if isinstance(self.constraints, str):
            raise ValueError(f"constraints is {self.constraints!r:.60}: expected a list of expressions")
        if self.seed is not None:
            self.seed = whole("seed", self.seed, "expected a whole number from 0, or None for a random one", 0)


@dataclass
class CheckpointConfig:
    """Which checkpoints are made, and kept."""

    num_to_keep: Optional[int] = None  #: the newest or best so many stay; None: all
    checkpoint_score_attribute: Optional[str] = None  #: the metric by which the best are kept; None: the newest
    checkpoint_score_order: Optional[str] = "max"  #: max or min of that metric
    checkpoint_frequency: Optional[int] = 0  #: class trainables: a checkpoint every so many iterations; 0: none
    checkpoint_at_end: Optional[bool] = None  #: class trainables: a checkpoint of the last result; None: True for Tuner

    def __post_init__(self) -> None:
        if self.num_to_keep is not None and self.num_to_keep < 1:
            raise ValueError(f"num_to_keep is {self.num_to_keep}: expected 1 or more, or None for all")
        if self.checkpoint_score_order not in ("min", "max"):
            raise ValueError(f"checkpoint_score_order is {self.checkpoint_score_order!r}: expected min or max")
        if (self.checkpoint_frequency or 0) < 0:
            raise ValueError(f"checkpoint_frequency is {self.checkpoint_frequency}: expected 0 or more iterations")


@dataclass
class FailureConfig:
    """What becomes of trials that fail."""

    max_failures: int = 0  #: how often a trial is run again from its last checkpoint; -1: always
    fail_fast: Union[bool, str] = False  #: True: the first failure stops all trials; "raise": it kills them

    def __post_init__(self) -> None:
        if not isinstance(self.fail_fast, bool) and str(self.fail_fast).lower() != "raise":
            raise ValueError(f'fail_fast is {self.fail_fast!r}: expected True, False or "raise"')
        if self.fail_fast and self.max_failures:
            raise ValueError(f"max_failures must be 0 if fail_fast is {self.fail_fast!r}")


@dataclass
class SyncConfig:
    """Ray's copying of files to storage_path. Here everything that a trial writes is there at once, so that no setting
    changes what there is in the end."""

    sync_period: float = 300  #: seconds between two copies
    sync_timeout: float = 1800  #: seconds that a copy may take
    sync_artifacts: bool = False  #: the files that a trial writes are copied, too
    sync_artifacts_on_checkpoint: bool = True  #: and with each checkpoint


@dataclass
class RunConfig:
    """Where an experiment is kept, and when it ends."""

    name: Optional[str] = None  #: of the directory in storage_path; None: of the trainable and the time
    storage_path: Optional[str] = None  #: a directory; None: ./results
    storage_filesystem: Any = None  #: not supported: write a directory as storage_path
    failure_config: Optional[FailureConfig] = None
    checkpoint_config: Optional[CheckpointConfig] = None
    sync_config: Optional[SyncConfig] = None
    verbose: Any = None  #: 0 silent, 1 status, 2 brief results, 3 all results; None: 1
    stop: Any = None  #: {METRIC: at least}, {"training_iteration": N}, a function of (trial_id, result), a Stopper
    callbacks: Optional[List[Any]] = None  #: objects of subclasses of tune.Callback
    progress_reporter: Any = None  #: an object of a subclass of tune.ProgressReporter; None: tunehost's own progress
    log_to_file: Union[bool, str, Tuple[str, str]] = False  #: names of the files for stdout and stderr of a trial
    #: where trials run: the name of an executor, such as "slurm", or a dict with its options, such as
    #: {"plugin": "slurm", "partition": "gpu"}; None: on this machine; not one of Ray's
    executor: Union[None, str, Mapping[str, Any]] = None
    deadlines: Optional[Dict[str, Any]] = None  #: seconds that calls may take, such as {"start": 300}; not one of Ray's


@dataclass
class ResumeConfig:
    """Which trials go on when an experiment is restored."""

    class ResumeType(Enum):
        """What becomes of a trial."""

        RESUME = "resume"  #: it goes on from its last checkpoint
        RESTART = "restart"  #: it starts again from the beginning
        SKIP = "skip"  #: it stays as it is

    finished: Any = ResumeType.SKIP
    unfinished: Any = ResumeType.RESUME
    errored: Any = ResumeType.SKIP


def whole(name: str, value: Any, expected: str, least: int, zero: bool = True) -> int:
    """An argument that is an integer, of Python or of numpy; ValueError says what was expected."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least or number == 0 and not zero:
        raise ValueError(f"{name} is {value!r:.60}: {expected}")
    return number


def seconds(value: Union[float, datetime.timedelta]) -> float:
    """A duration in seconds."""
    return value.total_seconds() if isinstance(value, datetime.timedelta) else float(value)


Space = Mapping[str, Any]
Config = Dict[str, Any]
