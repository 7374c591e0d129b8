"""Reports from LightGBM:

    def train(config):
        report = ReportCallback(every=10)
        lightgbm.train(config, data, num_boost_round=100 - report.done, valid_sets=[test], valid_names=["test"],
                       init_model=report.model, callbacks=[report])

    tune.Tuner(train, param_space=space, tune_config=tune.TuneConfig(metric="test-binary_logloss", mode="min"))
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Union

import lightgbm

from ._saving import chosen, due, report, restored

__all__ = ["ReportCallback"]

_FILE = "model.txt"


class ReportCallback:
    """Reports the metrics of each boosting round, named SET-METRIC such as "test-l2".

    metrics: a list of those that are reported, or a dict {name to report: name here}; None: all. every: a checkpoint
    after so many rounds, with the model; 0: none. model is the path of the model to continue from, or None; done is
    its number of rounds."""

    order = 25  # LightGBM calls it after its own evaluation, and before early stopping

    def __init__(self, metrics: Union[None, List[str], Mapping[str, str]] = None, every: int = 0) -> None:
        self._metrics, self._every = metrics, every
        found = restored(_FILE)
        self.model: Optional[str] = str(found) if found else None
        self.done: int = lightgbm.Booster(model_file=self.model).current_iteration() if self.model else 0

    def __call__(self, env: Any) -> None:
        """Called by LightGBM after each round."""
        if isinstance(env.model, lightgbm.CVBooster):
            raise TypeError("lightgbm.cv cannot be reported: it trains several models; report its results yourself")
        last: Dict[str, float] = {f"{name}-{metric}": value for name, metric, value, *_ in env.evaluation_result_list or ()}
        if not last:
            raise ValueError("there is nothing to report: give lightgbm.train valid_sets=[data]")
        rounds = self.done + env.iteration - env.begin_iteration + 1
        save = (lambda dir: env.model.save_model(dir / _FILE)) if due(rounds, self._every) else None
        report({**chosen(last, self._metrics), "iteration": rounds}, save)
