"""Experiments as tune.run_experiments takes them."""

from __future__ import annotations

import datetime
import functools
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .. import _places
from . import registry
from .config import CheckpointConfig, SyncConfig
from .error import TuneError
from .trial import Trial

__all__ = ["Experiment", "Trial"]

#: Arguments of tune.run that an Experiment takes beside those that it names.
MORE = {
    "callbacks",
    "checkpoint_at_end",
    "checkpoint_freq",
    "checkpoint_score_attr",
    "chdir_to_trial_dir",
    "executor",
    "fail_fast",
    "keep_checkpoints_num",
    "max_concurrent_trials",
    "metric",
    "mode",
    "progress_reporter",
    "raise_on_failed_trial",
    "resume",
    "resume_config",
    "reuse_actors",
    "scheduler",
    "search_alg",
    "verbose",
}


class Experiment:
    """A trainable and the arguments of tune.run with which it runs. name is that of the directory, run the trainable.
    DeprecationWarning: local_dir; TypeError: an unknown argument."""

    PUBLIC_KEYS = {"stop", "num_samples", "time_budget_s"}  #: of public_spec

    def __init__(
        self,
        name: str,
        run: Any,
        *,
        stop: Any = None,
        time_budget_s: Union[None, float, datetime.timedelta] = None,
        config: Optional[Dict[str, Any]] = None,
        resources_per_trial: Any = None,
        num_samples: int = 1,
        storage_path: Optional[str] = None,
        storage_filesystem: Any = None,
        sync_config: Union[None, SyncConfig, Dict[str, Any]] = None,
        checkpoint_config: Union[None, CheckpointConfig, Dict[str, Any]] = None,
        trial_name_creator: Optional[Callable[..., str]] = None,
        trial_dirname_creator: Union[None, str, Callable[..., str]] = None,
        log_to_file: Union[bool, str, Tuple[str, str]] = False,
        export_formats: Optional[Sequence[str]] = None,
        max_failures: int = 0,
        restore: Optional[str] = None,
        local_dir: Optional[str] = None,
        **more: Any,
    ) -> None:
        """more are further arguments of tune.run, for this experiment alone. local_dir is refused, as in Ray."""
        if local_dir is not None:
            raise DeprecationWarning("`local_dir` is deprecated: write storage_path")
        unknown = [argument for argument in more if argument not in MORE]
        if unknown:
            raise TypeError(f"an Experiment has no argument {unknown[0]}")
        if isinstance(checkpoint_config, dict):
            checkpoint_config = CheckpointConfig(**checkpoint_config)
        if isinstance(sync_config, dict):
            sync_config = SyncConfig(**sync_config)
        self.name: str
        self.run_identifier: str
        self.name, self.run_identifier = name, self.register_if_needed(run)
        given = {
            "stop": stop,
            "time_budget_s": time_budget_s,
            "config": config,
            "resources_per_trial": resources_per_trial,
            "num_samples": num_samples,
            "storage_path": storage_path,
            "storage_filesystem": storage_filesystem,
            "sync_config": sync_config,
            "checkpoint_config": checkpoint_config,
            "trial_name_creator": trial_name_creator,
            "trial_dirname_creator": trial_dirname_creator,
            "log_to_file": log_to_file,
            "export_formats": export_formats,
            "max_failures": max_failures,
            "restore": restore,
            **more,
        }
        self.arguments: Dict[str, Any] = {k: v for k, v in given.items() if v is not None}
        self.spec: Dict[str, Any] = {"run": self.run_identifier, **self.arguments}  #: everything as a dict

    @classmethod
    def from_json(cls, name: str, spec: Mapping[str, Any]) -> Experiment:
        """The experiment of a dict: {"run": TRAINABLE, "config": …}. TuneError: it has no run, or unknown
        arguments."""
        arguments = dict(spec)
        if "run" not in arguments:
            raise TuneError("No trainable specified!")
        try:
            return cls(name, arguments.pop("run"), **arguments)
        except TypeError as e:
            raise TuneError(f"the experiment {name} has arguments that it should not have: {e}") from e

    @classmethod
    def get_trainable_name(cls, run_object: Any) -> str:
        """The name of a trainable, or the name itself. TuneError: it is neither."""
        if isinstance(run_object, str):
            return run_object
        if not callable(run_object):
            raise TuneError("Improper 'run' - not string nor trainable.")
        if isinstance(run_object, functools.partial):
            run_object = run_object.func
        name = str(getattr(run_object, "_name", None) or getattr(run_object, "__name__", "DEFAULT"))
        return "lambda" if name == "<lambda>" else "DEFAULT" if name.startswith("<") else name

    @classmethod
    def register_if_needed(cls, run_object: Any) -> str:
        """Registers a trainable, and returns its name."""
        name = cls.get_trainable_name(run_object)
        if not isinstance(run_object, str):
            registry.register_trainable(name, run_object)
        return name

    @property
    def stopper(self) -> Any:
        """The rules that end trials, or the experiment."""
        from . import stopper as stoppers

        stop: Any = self.arguments.get("stop")
        if stop is None or isinstance(stop, Mapping):
            return stoppers.NoopStopper()  # a dict of metrics is no stopper
        given = stop if isinstance(stop, (list, tuple)) else [stop]
        made = [s if isinstance(s, stoppers.Stopper) else stoppers.FunctionStopper(s) for s in given]
        return made[0] if len(made) == 1 else stoppers.CombinedStopper(*made)

    @property
    def path(self) -> str:
        """The directory, or the URL, of its results."""
        return os.path.join(self._storage(), self.name)

    remote_path = path

    @property
    def local_path(self) -> str:
        """The directory of its results on this machine."""
        return self.path

    def _storage(self) -> str:
        storage = str(self.arguments.get("storage_path") or "results")
        return storage if "://" in storage else _places.absolute(storage)

    @property
    def checkpoint_config(self) -> CheckpointConfig:
        """Which checkpoints are made, and kept."""
        found: CheckpointConfig = self.arguments.get("checkpoint_config") or CheckpointConfig()
        return found

    @property
    def public_spec(self) -> Dict[str, Any]:
        """What callbacks, searchers and schedulers may know of it."""
        return {k: v for k, v in self.spec.items() if k in self.PUBLIC_KEYS}


def listed(experiments: Any) -> List[Experiment]:
    """One experiment, several, or dicts by names, as a list of experiments."""
    if isinstance(experiments, Experiment):
        return [experiments]
    if isinstance(experiments, Mapping):
        return [Experiment(name, **dict(spec)) for name, spec in experiments.items()]
    return [e for one in experiments for e in listed(one)]
