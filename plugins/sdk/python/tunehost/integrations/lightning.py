"""Reports from PyTorch Lightning:

    def train(config):
        report = ReportCallback(every=1)
        trainer = lightning.Trainer(max_epochs=20, callbacks=[report], enable_progress_bar=False,
                                    enable_checkpointing=False, logger=False)
        trainer.fit(Model(config), data, ckpt_path=report.path)

    tune.Tuner(train, param_space=space, tune_config=tune.TuneConfig(metric="val_loss", mode="min"))
"""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Union

try:
    from lightning.pytorch import Callback
except ModuleNotFoundError:  # the package has two names
    from pytorch_lightning import Callback

from ._saving import chosen, due, report, restored

__all__ = ["ReportCallback"]

_FILE = "lightning.ckpt"


class ReportCallback(Callback):  # type: ignore[misc]
    """Reports what the model has logged, after each validation; without validation, after each epoch of training.

    metrics: a list of those that are reported, or a dict {name to report: name logged}; None: all. every: a checkpoint
    after so many epochs, as Trainer.save_checkpoint writes it; 0: none. path is the checkpoint to continue from, or
    None: fit takes it as ckpt_path."""

    def __init__(self, metrics: Union[None, List[str], Mapping[str, str]] = None, every: int = 0) -> None:
        self._metrics, self._every = metrics, every
        found = restored(_FILE)
        self.path: Optional[str] = str(found) if found else None

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Called by Lightning after each epoch, when its validation is over. ValueError: the module has logged
        nothing."""
        metrics = {k: float(v) for k, v in trainer.callback_metrics.items()}
        if not metrics:
            raise ValueError('there is nothing to report: call self.log("val_loss", …) in the module')
        self._report(trainer, chosen(metrics, self._metrics), trainer.current_epoch + 1)

    def _report(self, trainer: Any, metrics: Mapping[str, Any], epoch: int) -> None:
        save = (lambda dir: trainer.save_checkpoint(str(dir / _FILE))) if due(epoch, self._every) else None
        report({**metrics, "iteration": epoch}, save)
