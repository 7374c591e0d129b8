"""PyTorch Lightning's callback with Ray Tune's name. It needs the library lightning or pytorch_lightning."""

from __future__ import annotations

import os
import tempfile
from typing import Any, List, Union

try:
    from lightning.pytorch import Callback
except ModuleNotFoundError:  # the package has two names
    from pytorch_lightning import Callback

from ..checkpoint import Checkpoint
from ..session import report
from ._hooks import Names, chosen, hook, named

__all__ = ["TuneReportCheckpointCallback"]

_HOOKS = [name for name in dir(Callback) if name.startswith("on_")]


class TuneReportCheckpointCallback(Callback):  # type: ignore[misc]
    """Reports what the model has logged at the hooks on (names such as "validation_end"), with a checkpoint of the trainer
    in a file of this name. metrics: the names of those that are reported, or {name to report: name logged}; None: all.
    ValueError: there is no such hook."""

    def __init__(
        self,
        metrics: Names = None,
        filename: str = "checkpoint",
        save_checkpoints: bool = True,
        on: Union[str, List[str]] = "validation_end",
    ) -> None:
        self._metrics, self._filename, self._saves = metrics, filename, save_checkpoints
        self._on = named(on, _HOOKS)

    def _hooked(self, name: str, trainer: Any, *args: Any, **kwargs: Any) -> None:
        if name not in self._on or trainer.sanity_checking:
            return
        found = chosen({key: value.item() for key, value in trainer.callback_metrics.items()}, self._metrics)
        if not found:
            return
        if not self._saves:
            report(found)
            return
        with tempfile.TemporaryDirectory() as dir:
            trainer.save_checkpoint(os.path.join(dir, self._filename))
            report(found, checkpoint=Checkpoint.from_directory(dir))


for _name in _HOOKS:
    setattr(TuneReportCheckpointCallback, _name, hook(_name))
