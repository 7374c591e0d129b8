"""XGBoost's callback with Ray Tune's name. It needs the library xgboost."""

from __future__ import annotations

import os
from typing import Any, Dict, Mapping, Optional

import xgboost

from ..checkpoint import Checkpoint
from ._reporting import Metrics, Processing, Reporting

__all__ = ["TuneReportCheckpointCallback"]

_MODEL = "model.ubj"


class TuneReportCheckpointCallback(xgboost.callback.TrainingCallback, Reporting):  # type: ignore[misc]
    """Reports the metrics of each boosting round, named DATA-METRIC, and saves the model after each frequency rounds
    and at the end. metrics: the names of those that are reported, or {name to report: name here}; None: all."""

    CHECKPOINT_NAME = _MODEL

    def __init__(
        self,
        metrics: Metrics = None,
        filename: str = _MODEL,
        frequency: int = 0,
        checkpoint_at_end: bool = True,
        results_postprocessing_fn: Processing = None,
    ) -> None:
        Reporting.__init__(self, metrics, filename, frequency, checkpoint_at_end, results_postprocessing_fn)
        self._last: Dict[str, Any] = {}
        self._saved: Optional[int] = None

    @classmethod
    def get_model(cls, checkpoint: Checkpoint, filename: str = _MODEL) -> Any:
        """The model in a checkpoint."""
        return xgboost.Booster(model_file=os.path.join(checkpoint.path, filename))

    def after_iteration(self, model: Any, epoch: int, evals_log: Mapping[str, Mapping[str, Any]]) -> bool:
        """Called by XGBoost after each round."""
        found = {f"{data}-{name}": v[-1] for data, by_name in evals_log.items() for name, v in by_name.items()}
        self._last = self._chosen(found)
        due = self._due(epoch + 1)
        if due:
            self._saved = epoch
        self._report(self._last, model if due else None)
        return False

    def after_training(self, model: Any) -> Any:
        """Called by XGBoost at the end."""
        if self._checkpoint_at_end and hasattr(model, "num_boosted_rounds"):
            if self._saved is None or model.num_boosted_rounds() - 1 != self._saved:
                self._report(self._last, model)
        return model
