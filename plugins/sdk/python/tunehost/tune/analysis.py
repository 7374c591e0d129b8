"""The results of tune.run."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from .checkpoint import Checkpoint, PathLike
from .result import Result
from .result_grid import ResultGrid, flat

__all__ = ["ExperimentAnalysis"]


class ExperimentAnalysis:
    """Looks at an experiment. Where Ray has a Trial, this has a Result."""

    def __init__(
        self,
        experiment_checkpoint_path: PathLike,
        *,
        default_metric: Optional[str] = None,
        default_mode: Optional[str] = None,
    ) -> None:
        """experiment_checkpoint_path is the directory of the experiment."""
        import os

        self._grid = ResultGrid(os.path.abspath(os.fspath(experiment_checkpoint_path)), default_metric, default_mode)

    @property
    def experiment_path(self) -> str:
        """The directory of the experiment."""
        return self._grid.experiment_path

    @property
    def trials(self) -> List[Result]:
        """All trials."""
        return list(self._grid)

    def get_best_trial(
        self,
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        scope: str = "last",
        filter_nan_and_inf: bool = True,
    ) -> Result:
        """The best trial; see ResultGrid.get_best_result."""
        return self._grid.get_best_result(metric, mode, scope, filter_nan_and_inf)

    def get_best_config(
        self, metric: Optional[str] = None, mode: Optional[str] = None, scope: str = "last"
    ) -> Dict[str, Any]:
        """The config of the best trial."""
        return self.get_best_trial(metric, mode, scope).config

    def get_best_checkpoint(
        self, trial: Result, metric: Optional[str] = None, mode: Optional[str] = None
    ) -> Optional[Checkpoint]:
        """The kept checkpoint of a trial that is best by a metric."""
        metric, mode = metric or self._grid._metric, mode or self._grid._mode
        return trial.checkpoint if not metric or not mode else trial.get_best_checkpoint(metric, mode)

    def get_last_checkpoint(
        self, trial: Optional[Result] = None, metric: Optional[str] = None, mode: Optional[str] = None
    ) -> Optional[Checkpoint]:
        """The newest checkpoint of a trial, by default of the best one."""
        return (trial or self.get_best_trial(metric, mode)).checkpoint

    def get_all_configs(self, prefix: bool = False) -> Dict[str, Dict[str, Any]]:
        """The config of each trial, by its directory."""
        return {r.path: {f"config/{k}": v for k, v in flat(r.config)} if prefix else r.config for r in self._grid}

    @property
    def best_trial(self) -> Result:
        """The best trial by the metric and mode of the experiment."""
        return self.get_best_trial()

    @property
    def best_config(self) -> Dict[str, Any]:
        """Its config."""
        return self.best_trial.config

    @property
    def best_result(self) -> Dict[str, Any]:
        """Its last result."""
        return self.best_trial.metrics

    @property
    def best_checkpoint(self) -> Optional[Checkpoint]:
        """Its best checkpoint."""
        return self.get_best_checkpoint(self.best_trial)

    @property
    def best_dataframe(self) -> Any:
        """All its results as a pandas.DataFrame."""
        return self.best_trial.metrics_dataframe

    @property
    def results(self) -> Dict[str, Dict[str, Any]]:
        """The last result of each trial, by its id."""
        return {r.trial_id: r.metrics for r in self._grid}

    @property
    def results_df(self) -> Any:
        """The last results as a pandas.DataFrame, by the trials' ids."""
        return self.dataframe().set_index("trial_id")

    @property
    def trial_dataframes(self) -> Dict[str, Any]:
        """All results of each trial as pandas.DataFrames, by the trials' ids."""
        return {r.trial_id: r.metrics_dataframe for r in self._grid}

    def dataframe(self, metric: Optional[str] = None, mode: Optional[str] = None) -> Any:
        """A pandas.DataFrame with a row for each trial; see ResultGrid.get_dataframe."""
        return self._grid.get_dataframe(metric, mode)
