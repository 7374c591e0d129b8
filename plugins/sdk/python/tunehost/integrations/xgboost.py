"""Reports from XGBoost:

    def train(config):
        report = ReportCallback(every=10)
        xgboost.train(config, data, num_boost_round=100 - report.done, evals=[(test, "test")],
                      xgb_model=report.model, callbacks=[report])

    tune.Tuner(train, param_space=space, tune_config=tune.TuneConfig(metric="test-logloss", mode="min"))
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Union

import xgboost

from ._saving import chosen, due, report, restored

__all__ = ["ReportCallback"]

_FILE = "model.ubj"


class ReportCallback(xgboost.callback.TrainingCallback):  # type: ignore[misc]
    """Reports the metrics of each boosting round, named EVALS-METRIC such as "test-logloss".

    metrics: a list of those that are reported, or a dict {name to report: name here}; None: all. every: a checkpoint
    after so many rounds, with the model; 0: none. model is the path of the model to continue from, or None; done is
    its number of rounds."""

    def __init__(self, metrics: Union[None, List[str], Mapping[str, str]] = None, every: int = 0) -> None:
        self._metrics, self._every = metrics, every
        found = restored(_FILE)
        self.model: Optional[str] = str(found) if found else None
        self.done: int = xgboost.Booster(model_file=self.model).num_boosted_rounds() if self.model else 0

    def after_iteration(self, model: Any, epoch: int, evals_log: Mapping[str, Mapping[str, Any]]) -> bool:
        """Called by XGBoost after each round. TypeError: it is called by xgboost.cv; ValueError: there are no
        evals."""
        booster = getattr(model, "cvfolds", None)
        if booster is not None:
            raise TypeError("xgboost.cv cannot be reported: it trains several models; report its results yourself")
        last: Dict[str, float] = {
            f"{data}-{metric}": _value(values) for data, by_metric in evals_log.items() for metric, values in by_metric.items()
        }
        if not last:
            raise ValueError("there is nothing to report: give xgboost.train evals=[(data, name)]")
        rounds = model.num_boosted_rounds()
        save = (lambda dir: model.save_model(dir / _FILE)) if due(rounds, self._every) else None
        report({**chosen(last, self._metrics), "iteration": rounds}, save)
        return False


def _value(values: Any) -> float:
    """The last value of a metric; with its deviation it is a pair."""
    last = values[-1]
    return float(last[0] if isinstance(last, tuple) else last)
