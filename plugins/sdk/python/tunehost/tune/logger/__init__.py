"""Loggers with Ray Tune's names. tunehost always writes result.jsonl, progress.csv and params.json into each
trial's directory."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple

from ..callback import Callback
from ..error import TuneError
from ..trial import Trial
from .._nested import flat
from ._pretty import pretty_print
from ._tensorboard import Scalars

__all__ = ["CSVLoggerCallback", "JsonLoggerCallback", "LoggerCallback", "TBXLoggerCallback", "pretty_print"]


class LoggerCallback(Callback):
    """The base class of loggers of one's own: what is logged of each trial. See Callback."""

    def log_trial_start(self, trial: Trial) -> None:
        """Called when a trial starts, also again."""

    def log_trial_restore(self, trial: Trial) -> None:
        """Called when a trial starts from a checkpoint."""

    def log_trial_save(self, trial: Trial) -> None:
        """Called when a checkpoint is safe."""

    def log_trial_result(self, iteration: int, trial: Trial, result: Dict[str, Any]) -> None:
        """Called with each result."""

    def log_trial_end(self, trial: Trial, failed: bool = False) -> None:
        """Called when a trial has ended."""

    def on_trial_result(
        self, iteration: int, trials: List[Trial], trial: Trial, result: Dict[str, Any], **info: Any
    ) -> None:
        self.log_trial_result(iteration, trial, result)

    def on_trial_start(self, iteration: int, trials: List[Trial], trial: Trial, **info: Any) -> None:
        self.log_trial_start(trial)

    def on_trial_restore(self, iteration: int, trials: List[Trial], trial: Trial, **info: Any) -> None:
        self.log_trial_restore(trial)

    def on_trial_save(self, iteration: int, trials: List[Trial], trial: Trial, **info: Any) -> None:
        self.log_trial_save(trial)

    def on_trial_complete(self, iteration: int, trials: List[Trial], trial: Trial, **info: Any) -> None:
        self.log_trial_end(trial, failed=False)

    def on_trial_error(self, iteration: int, trials: List[Trial], trial: Trial, **info: Any) -> None:
        self.log_trial_end(trial, failed=True)


class JsonLoggerCallback(LoggerCallback):
    """Results as JSON, in Ray's file result.json beside tunehost's result.jsonl: a line for each."""

    def log_trial_result(self, iteration: int, trial: Trial, result: Dict[str, Any]) -> None:
        with open(os.path.join(trial.path or "", "result.json"), "a", encoding="utf-8") as f:
            f.write(json.dumps(result, default=str) + "\n")


class CSVLoggerCallback(LoggerCallback):
    """Results as progress.csv, which tunehost writes."""

    reporter: Optional[str] = "csv"


class TBXLoggerCallback(LoggerCallback):
    """Results and parameters as TensorBoard files in each trial's directory: `tensorboard --logdir results`. No library
    is needed."""

    def __init__(self) -> None:
        self._open: Dict[str, Scalars] = {}
        self._last: Dict[str, Dict[str, float]] = {}

    def log_trial_start(self, trial: Trial) -> None:
        if trial.trial_id not in self._open:
            self._open[trial.trial_id] = Scalars(trial.path or "")

    def log_trial_result(self, iteration: int, trial: Trial, result: Dict[str, Any]) -> None:
        self.log_trial_start(trial)
        step = result.get("timesteps_total") or result["training_iteration"]
        skipped = ("config", "pid", "timestamp", "time_total_s", "training_iteration")
        values = {
            f"ray/tune/{name}": float(value)
            for name, value in flat({k: v for k, v in result.items() if k not in skipped})
            if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value
        }
        self._last[trial.trial_id] = values
        self._open[trial.trial_id].add(values, int(step), result.get("timestamp", 0))

    def log_trial_end(self, trial: Trial, failed: bool = False) -> None:
        writer, metrics = self._open.pop(trial.trial_id, None), self._last.pop(trial.trial_id, None)
        if writer:
            if metrics:
                writer.add_parameters(_parameters(trial.evaluated_params), metrics)
            writer.close()

    def __getstate__(self) -> Dict[str, Any]:
        return {**vars(self), "_open": {}}


def _parameters(config: Mapping[str, Any]) -> Dict[str, Any]:
    """The values of a config that TensorBoard can show: texts, truth values and numbers, also those of numpy."""
    found = {name: value.item() if hasattr(value, "item") and not getattr(value, "shape", ()) else value
             for name, value in flat(config)}
    return {name: value for name, value in found.items() if isinstance(value, (bool, int, float, str))}


def split(callbacks: Any) -> Tuple[List[str], List[Callback]]:
    """The reporters of tunehost that callbacks are, and the callbacks that are called."""
    names: List[str] = []
    called: List[Callback] = []
    if callbacks is not None and not isinstance(callbacks, Iterable):
        raise TuneError(f"callbacks is {callbacks!r:.60}: expected a list of objects of subclasses of tune.Callback")
    for callback in callbacks or ():
        if not isinstance(callback, Callback):
            raise TuneError(f"the callback is {callback!r:.60}: expected an object of a subclass of tune.Callback")
        own = type(callback) is CSVLoggerCallback
        if own:
            names.append("csv")
        else:
            called.append(callback)
    return names, called
