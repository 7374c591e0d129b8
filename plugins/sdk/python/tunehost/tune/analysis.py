"""The results of tune.run."""

from __future__ import annotations

import json
import math
import os
import sys
from functools import cached_property
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

from .. import _dataframes
from . import _files, _recorded, _trust
from ._nested import flat
from .checkpoint import Checkpoint, PathLike
from .result import DEFAULT_METRIC, TRAINING_ITERATION, Result
from .result_grid import ResultGrid
from .trial import Trial

__all__ = ["ExperimentAnalysis"]

_SCOPES = ("all", "last", "avg", "last-5-avg", "last-10-avg")


class AnalysedTrial(Trial):
    """A trial of an experiment that is read from its directory. What Result has, such as metrics and results, it has,
    too."""

    def __init__(self, result: Result, trainable_name: str) -> None:
        trial = result._trial
        super().__init__(int(trial["number"]), result.trial_id, result.config, trainable_name)
        self._result = result
        self.path: Optional[str]
        self.status: Any
        self.path, self.status = result.path, trial["state"]
        for one in result.results:
            self.update_last_result({**one, "config": result.config})
        self._error = str(result.error) if result.error else ""
        self._checkpoint = result.checkpoint.path if result.checkpoint else None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._result, name)


class ExperimentAnalysis:
    """Looks at an experiment."""

    def __init__(
        self,
        experiment_checkpoint_path: PathLike,
        *,
        storage_filesystem: Any = None,
        trials: Optional[Sequence[Trial]] = None,
        default_metric: Optional[str] = None,
        default_mode: Optional[str] = None,
    ) -> None:
        """experiment_checkpoint_path is the directory of the experiment, or a file in it, or a URL; trials are those that count,
        by default all; the default metric and mode are those of the experiment. ValueError: there is no experiment, or the mode is not min or max."""
        _check_mode(default_mode)
        path = _files.brought(experiment_checkpoint_path, storage_filesystem)
        path = os.path.dirname(path) if os.path.isfile(path) else path
        if not os.path.isfile(os.path.join(path, "run.json")):
            raise ValueError(f"there is no experiment at {path}: `tunehost ls` lists experiments")
        if default_metric is None and default_mode is None:
            default_metric, default_mode = _recorded.objective(path)
        self.default_metric: Optional[str] = default_metric or (DEFAULT_METRIC if default_mode else None)
        self.default_mode = default_mode
        self._grid = ResultGrid(path, default_metric, default_mode)
        self.trials: List[Any] = list(trials or _trials(self._grid))  #: all trials: see Trial

    @property
    def experiment_path(self) -> str:
        """The directory of the experiment."""
        return self._grid.experiment_path

    def get_best_trial(
        self,
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        scope: str = "last",
        filter_nan_and_inf: bool = True,
    ) -> Any:
        """The best trial by a metric, by default that of the experiment; None if no trial has reported it. scope is
        last, all (its best), avg, last-5-avg or last-10-avg. ValueError: the scope is another one."""
        if len(self.trials) == 1:
            return self.trials[0]
        metric, mode = self._metric(metric), self._mode(mode)
        if scope not in _SCOPES:
            raise ValueError(f"scope is {scope!r}: expected one of {', '.join(_SCOPES)}")
        found = [(t.metric_analysis[metric], t) for t in self.trials if metric in t.metric_analysis]
        rated = [(values[mode if scope == "all" else scope], t) for values, t in found]
        usable = [(v, t) for v, t in rated if math.isfinite(v) or not filter_nan_and_inf]
        if not usable:
            why = "none of its values is finite" if found else "look at the name of the metric"
            print(f"tunehost: no trial has a value of {metric!r}: {why}", file=sys.stderr)
            return None
        return (min if mode == "min" else max)(usable, key=lambda pair: pair[0])[1]

    def _metric(self, metric: Optional[str]) -> str:
        if not metric and not self.default_metric:
            raise ValueError("no metric is given, and the experiment has none: write metric=NAME")
        return str(metric or self.default_metric)

    def _mode(self, mode: Optional[str]) -> str:
        _check_mode(mode)
        if not mode and not self.default_mode:
            raise ValueError('no mode is given, and the experiment has none: write mode="min" or mode="max"')
        return str(mode or self.default_mode)

    def get_best_config(
        self, metric: Optional[str] = None, mode: Optional[str] = None, scope: str = "last"
    ) -> Optional[Dict[str, Any]]:
        """The config of the best trial; None if there is none."""
        best = self.get_best_trial(metric, mode, scope)
        return best.config if best else None

    def get_best_checkpoint(
        self, trial: Any, metric: Optional[str] = None, mode: Optional[str] = None
    ) -> Optional[Checkpoint]:
        """The kept checkpoint of a trial that is best by a metric; None if it has none."""
        metric = metric or self.default_metric or TRAINING_ITERATION
        found: Optional[Checkpoint] = trial.get_best_checkpoint(metric, self._mode(mode))
        return found

    def get_last_checkpoint(
        self, trial: Any = None, metric: str = "training_iteration", mode: str = "max"
    ) -> Optional[Checkpoint]:
        """The newest checkpoint of a trial, by default of the best one by a metric."""
        trial = trial or self.get_best_trial(metric, mode)
        return self.get_best_checkpoint(trial, TRAINING_ITERATION, "max")

    def get_all_configs(self, prefix: bool = False) -> Dict[str, Dict[str, Any]]:
        """The config of each trial, by its id; prefix: as {"config/NAME": …}."""
        return {t.trial_id: dict(flat({"config": t.config})) if prefix else t.config for t in self.trials}

    @property
    def best_trial(self) -> Any:
        """The best trial by the metric and mode of the experiment."""
        return self.get_best_trial(self._metric(None), self._mode(None))

    @property
    def best_config(self) -> Optional[Dict[str, Any]]:
        """Its config."""
        return self.get_best_config(self._metric(None), self._mode(None))

    @property
    def best_result(self) -> Dict[str, Any]:
        """Its last result."""
        found: Dict[str, Any] = self.best_trial.last_result
        return found

    @property
    def best_checkpoint(self) -> Optional[Checkpoint]:
        """Its best checkpoint."""
        return self.get_best_checkpoint(self.best_trial)

    @property
    def best_dataframe(self) -> Any:
        """All its results as a pandas.DataFrame."""
        return self.trial_dataframes[self.best_trial.trial_id]

    @property
    def best_result_df(self) -> Any:
        """Its last result as a pandas.DataFrame of one row."""
        pandas = _dataframes.library()

        return pandas.DataFrame.from_records([dict(flat(self.best_result))], index="trial_id")

    @property
    def results(self) -> Dict[str, Dict[str, Any]]:
        """The last result of each trial, by its id."""
        return {t.trial_id: t.last_result for t in self.trials}

    @property
    def results_df(self) -> Any:
        """The last results as a pandas.DataFrame, by the trials' ids."""
        rows = [dict(flat({"trial_id": t.trial_id, **t.last_result})) for t in self.trials]
        return _dataframes.frame(rows).set_index("trial_id")

    @cached_property
    def trial_dataframes(self) -> Dict[str, Any]:
        """All results of each trial as pandas.DataFrames, by the trials' ids."""
        pandas = _dataframes.library()

        frames = {t.trial_id: t.metrics_dataframe for t in self.trials}
        return {id: pandas.DataFrame() if frame is None else frame for id, frame in frames.items()}

    def dataframe(self, metric: Optional[str] = None, mode: Optional[str] = None) -> Any:
        """A pandas.DataFrame with a row for each trial that has reported: its last result, or its best one by a
        metric; the config as columns config/NAME. ValueError: there is a mode and no metric."""
        _check_mode(mode)
        if mode and not metric:
            raise ValueError("a mode needs a metric: write dataframe(metric=NAME, mode=MODE)")
        paths = {t.trial_id: t.path for t in self.trials}
        rows = []
        for id, frame in self.trial_dataframes.items():
            if not frame.empty:
                row = -1
                if mode and metric in frame:
                    row = frame[metric].idxmin() if mode == "min" else frame[metric].idxmax()
                rows.append({**frame.iloc[row].to_dict(), "logdir": paths[id]})
        return _dataframes.frame(rows)


def _trials(grid: ResultGrid) -> List[AnalysedTrial]:
    file = Path(grid.experiment_path, "tune", "tuner.json")
    name = ""
    if os.path.lexists(file):
        with _trust.opened(str(file)) as f:
            name = json.load(f).get("trainable", "")
    return [AnalysedTrial(result, name) for result in grid]


def _check_mode(mode: Optional[str]) -> None:
    if mode and mode not in ("min", "max"):
        raise ValueError(f"mode is {mode!r}: expected min or max")
