"""LightGBM's callback with Ray Tune's name. It needs the library lightgbm."""

from __future__ import annotations

import os
from typing import Any, Dict

import lightgbm

from ..checkpoint import Checkpoint
from ._reporting import Metrics, Processing, Reporting

__all__ = ["TuneReportCheckpointCallback"]

_MODEL = "model.txt"


class TuneReportCheckpointCallback(Reporting):
    """Reports the metrics of each boosting round, named DATA-METRIC, in cross validation also with -mean and -stdv, and
    saves the model after each frequency rounds and at the end. metrics: the names of those that are reported, or
    {name to report: name here}; None: all."""

    CHECKPOINT_NAME = _MODEL

    def __init__(
        self,
        metrics: Metrics = None,
        filename: str = _MODEL,
        frequency: int = 0,
        checkpoint_at_end: bool = True,
        results_postprocessing_fn: Processing = None,
    ) -> None:
        super().__init__(metrics, filename, frequency, checkpoint_at_end, results_postprocessing_fn)

    @classmethod
    def get_model(cls, checkpoint: Checkpoint, filename: str = _MODEL) -> Any:
        """The model in a checkpoint."""
        return lightgbm.Booster(model_file=os.path.join(checkpoint.path, filename))

    def __call__(self, env: Any) -> None:
        """Called by LightGBM after each round."""
        found: Dict[str, Any] = {}
        for data, name, value, _, *spread in env.evaluation_result_list:
            if spread:
                found[f"{data}-{name}-mean"], found[f"{data}-{name}-stdv"] = value, spread[0]
            else:
                found[f"{data}-{name}"] = value
        last = env.iteration == env.end_iteration - 1
        due = self._due(env.iteration + 1) or last and self._checkpoint_at_end
        single = hasattr(env.model, "save_model") and not hasattr(env.model, "boosters")
        self._report(self._chosen(found), env.model if due and single else None)
