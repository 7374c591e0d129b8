"""Reports from Keras:

    def train(config):
        report = ReportCallback(every=1)
        model = report.restore() or build(config)
        model.fit(x, y, validation_split=0.2, epochs=20, initial_epoch=report.done, callbacks=[report])

    tune.Tuner(train, param_space=space, tune_config=tune.TuneConfig(metric="val_loss", mode="min"))
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, List, Mapping, Optional, Union

import keras

from ._saving import chosen, due, report, restored

__all__ = ["ReportCallback"]

_MODEL, _EPOCH = "model.keras", "epoch.json"


class ReportCallback(keras.callbacks.Callback):  # type: ignore[misc]
    """Reports the logs of each epoch: "loss", "val_loss" and the model's metrics.

    metrics: a list of those that are reported, or a dict {name to report: name here}; None: all. every: a checkpoint
    after so many epochs, with the model and its optimizer; 0: none. done is the number of epochs that a trial which
    continues has behind it: fit takes it as initial_epoch."""

    def __init__(self, metrics: Union[None, List[str], Mapping[str, str]] = None, every: int = 0) -> None:
        super().__init__()
        self._metrics, self._every = metrics, every
        found = restored(_EPOCH)
        self.done: int = json.loads(found.read_text()) if found else 0

    def restore(self) -> Optional[Any]:
        """The compiled model of the checkpoint that the trial continues from, or None."""
        found = restored(_MODEL)
        return keras.models.load_model(found) if found else None

    def on_epoch_end(self, epoch: int, logs: Optional[Mapping[str, Any]] = None) -> None:
        """Called by Keras after each epoch, which counts from 0."""
        metrics = chosen({k: float(v) for k, v in (logs or {}).items()}, self._metrics)
        report({**metrics, "iteration": epoch + 1}, self._saver(epoch + 1) if due(epoch + 1, self._every) else None)

    def _saver(self, epochs: int) -> Any:
        def save(dir: Path) -> None:
            self.model.save(dir / _MODEL)
            (dir / _EPOCH).write_text(json.dumps(epochs))

        return save
