"""Keras' callback with Ray Tune's name. It needs the library keras."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Union

import keras

from ..checkpoint import Checkpoint
from ..session import report
from ._hooks import Names, chosen, hook, named

__all__ = ["TuneReportCheckpointCallback"]

_MODEL = "model.keras"
_PARTS = ("epoch", "train_batch", "test_batch", "predict_batch", "train", "test", "predict")
_HOOKS = [f"on_{part}_{end}" for part in _PARTS for end in ("begin", "end")]


class TuneReportCheckpointCallback(keras.callbacks.Callback):  # type: ignore[misc]
    """Reports Keras' logs at the hooks report_metrics_on and checkpoint_on (names such as "epoch_end"), at the latter with
    the model, which is model.keras in the checkpoint. metrics: the names of those that are reported, or {name to
    report: name here}; None: all. ValueError: there is no such hook."""

    def __init__(
        self,
        checkpoint_on: Union[str, List[str]] = "epoch_end",
        report_metrics_on: Union[str, List[str]] = "epoch_end",
        metrics: Names = None,
    ) -> None:
        super().__init__()
        self._saves = named(checkpoint_on, _HOOKS)
        self._reports = [*self._saves, *named(report_metrics_on, _HOOKS)]
        self._metrics = metrics

    def _hooked(self, name: str, *args: Any, logs: Optional[Mapping[str, Any]] = None) -> None:
        if name not in self._reports:
            return
        given = logs if logs is not None else args[-1] if args and isinstance(args[-1], Mapping) else {}
        found: Dict[str, Any] = chosen(given, self._metrics)
        if name not in self._saves:
            report(found)
            return
        with tempfile.TemporaryDirectory() as dir:
            self.model.save(os.path.join(dir, _MODEL))
            report(found, checkpoint=Checkpoint.from_directory(dir))


for _name in _HOOKS:
    setattr(TuneReportCheckpointCallback, _name, hook(_name))
