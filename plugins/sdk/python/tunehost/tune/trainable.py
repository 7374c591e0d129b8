"""Trainables as classes, and objects that all trials share."""

from __future__ import annotations

import os
import pickle
import time
from pathlib import Path
from typing import Any, Dict, Optional, Union, cast

from . import session as _session
from .checkpoint import Checkpoint
from .error import Unsupported
from .resources import PlacementGroupFactory

__all__ = ["Trainable", "with_parameters"]

_STATE = "trainable_state.pkl"


class Trainable:
    """A training in steps. Subclass it, and implement setup and step; save_checkpoint and load_checkpoint
    if it can continue; cleanup if it holds something.

        class Quadratic(tune.Trainable):
            def setup(self, config):
                self.x = 3.0

            def step(self):
                self.x -= self.config["lr"] * 2 * self.x
                return {"loss": self.x**2}

    Unsupported: it is made with a storage of its own.
    """

    def __init__(self, config: Optional[Dict[str, Any]] = None, storage: Any = None) -> None:
        if storage is not None:
            raise Unsupported("a Trainable with a storage of its own is not supported: set RunConfig(storage_path=…)")
        self.config: Dict[str, Any] = dict(config or {})  #: the parameters of the trial
        self._iteration = 0
        self._started = time.monotonic()
        self.setup(self.config)

    def setup(self, config: Dict[str, Any]) -> None:
        """Called once, before anything else, with the parameters."""

    def step(self) -> Dict[str, Any]:
        """Trains for one iteration and returns its metrics; "done": True ends the trial."""
        raise NotImplementedError(f"{type(self).__name__} has no method step")

    def save_checkpoint(self, checkpoint_dir: str) -> Union[None, str, Dict[str, Any]]:
        """Writes the state into the directory, or returns it as a dict that can be pickled."""
        raise NotImplementedError(f"{type(self).__name__} has no method save_checkpoint")

    def load_checkpoint(self, checkpoint: Any) -> None:
        """Continues from the directory, or from the dict, of save_checkpoint."""
        raise NotImplementedError(f"{type(self).__name__} has no method load_checkpoint")

    def cleanup(self) -> None:
        """Called at the end, also after a stop and after a failure."""

    def log_result(self, result: Dict[str, Any]) -> None:
        """Called with each result before it is reported."""

    def reset_config(self, new_config: Dict[str, Any]) -> bool:
        """Called instead of setup, with TuneConfig(reuse_actors=True), when the process of a trial that has ended
        trains the next one. False: it cannot, and a new object is made."""
        return False

    def reset(self, new_config: Dict[str, Any]) -> bool:
        """Makes it that of another trial, if reset_config can."""
        self.config = dict(new_config)
        self._iteration, self._started = 0, time.monotonic()
        return bool(self.reset_config(self.config))

    def export_model(self, export_formats: Any, export_dir: Optional[str] = None) -> Dict[str, str]:
        """Writes the model into export_dir in the given formats, and returns the path of each."""
        raise NotImplementedError(f"{type(self).__name__} has no method export_model")

    @classmethod
    def default_resource_request(cls, config: Dict[str, Any]) -> Optional[PlacementGroupFactory]:
        """What a trial with these parameters requests; None: one CPU."""
        return None

    @classmethod
    def resource_help(cls, config: Dict[str, Any]) -> str:
        """What to do when the request does not fit."""
        return ""

    def train(self) -> Dict[str, Any]:
        """Runs one step and returns its result with what is added to it. TypeError: step has returned no dict."""
        begun = time.monotonic()
        result = self.step()
        if not isinstance(result, dict):
            raise TypeError(f"{type(self).__name__}.step returned {result!r:.60}: expected a dict of metrics")
        self._iteration += 1
        now = time.monotonic()
        filled: Dict[str, Any] = {
            "training_iteration": self._iteration,
            "time_this_iter_s": now - begun,
            "time_total_s": now - self._started,
            "done": False,
            "config": self.config,
            **result,
        }
        self.log_result(filled)
        return filled

    def save(self, checkpoint_dir: Optional[str] = None) -> str:
        """Writes a checkpoint into a directory, by default one below logdir, and returns its path."""
        dir = checkpoint_dir or os.path.join(self.logdir, f"checkpoint_{self._iteration:06d}")
        os.makedirs(dir, exist_ok=True)
        saved = self.save_checkpoint(dir)
        state = {"iteration": self._iteration, "saved": saved if isinstance(saved, dict) else None}
        Path(dir, _STATE).write_bytes(_pickled(state))
        return dir

    def restore(self, checkpoint_path: Union[str, Checkpoint]) -> None:
        """Continues from what save wrote."""
        dir = checkpoint_path.path if isinstance(checkpoint_path, Checkpoint) else os.fspath(checkpoint_path)
        file = Path(dir, _STATE)
        state: Any = pickle.loads(file.read_bytes()) if file.exists() else {"iteration": 0, "saved": None}
        self._iteration = state["iteration"]
        self.load_checkpoint(dir if state["saved"] is None else state["saved"])

    def stop(self) -> None:
        """Ends it: calls cleanup."""
        self.cleanup()

    def get_config(self) -> Dict[str, Any]:
        """The parameters of the trial."""
        return self.config

    @property
    def iteration(self) -> int:
        """How many steps were made."""
        return self._iteration

    @property
    def training_iteration(self) -> int:
        """The same as iteration."""
        return self._iteration

    @property
    def logdir(self) -> str:
        """The trial's directory; outside of a trial the working directory."""
        return _session.get_context().get_trial_dir() if _session.inside() else os.getcwd()

    @property
    def trial_id(self) -> str:
        """The id of the trial; "default" outside of a trial."""
        return _session.get_context().get_trial_id() if _session.inside() else "default"

    @property
    def trial_name(self) -> str:
        """The name of the trial; "default" outside of a trial."""
        return _session.get_context().get_trial_name() if _session.inside() else "default"

    @property
    def trial_resources(self) -> PlacementGroupFactory:
        """What the trial was granted; one CPU outside of a trial."""
        return (
            _session.get_context().get_trial_resources() if _session.inside() else PlacementGroupFactory([{"CPU": 1}])
        )


def _pickled(value: Any) -> bytes:
    import cloudpickle

    return cast(bytes, cloudpickle.dumps(value))


def overrides(trainable: Any, method: str) -> bool:
    """Whether a class has implemented a method of Trainable."""
    return getattr(trainable, method, None) is not getattr(Trainable, method)


def with_parameters(trainable: Any, **kwargs: Any) -> Any:
    """The trainable with further arguments: of the function, or of setup. They are written once, mapped
    into memory, and shared by all trials: arrays are read-only and never copied.

        tune.Tuner(tune.with_parameters(train, data=data))

    ValueError: the trainable is neither a function nor such a class.
    """
    from ._wrapped import Wrapped

    inner = trainable.inner if isinstance(trainable, Wrapped) else trainable
    if not callable(inner) or isinstance(inner, type) and not issubclass(inner, Trainable):
        raise ValueError(f"with_parameters({inner!r:.60}): expected a function or a subclass of tune.Trainable")
    return Wrapped.of(trainable, objects=kwargs)
