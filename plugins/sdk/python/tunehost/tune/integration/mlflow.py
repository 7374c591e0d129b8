"""MLflow with the names of ray.air.integrations.mlflow. It needs the library mlflow, or mlflow-skinny."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, Optional

import mlflow
from mlflow.exceptions import MlflowException

from .. import session
from .._nested import flat
from ..logger import LoggerCallback
from ..trial import Trial

__all__ = ["MLflowLoggerCallback", "setup_mlflow"]

_SETTINGS = ("tracking_uri", "registry_uri", "experiment_id", "experiment_name", "tracking_token", "run_name")


def setup_mlflow(
    config: Optional[Mapping[str, Any]] = None,
    tracking_uri: Optional[str] = None,
    registry_uri: Optional[str] = None,
    experiment_id: Optional[str] = None,
    experiment_name: Optional[str] = None,
    tracking_token: Optional[str] = None,
    artifact_location: Optional[str] = None,
    run_name: Optional[str] = None,
    create_experiment_if_not_exists: bool = False,
    tags: Optional[Dict[str, Any]] = None,
    rank_zero_only: bool = True,
) -> Any:
    """Begins a run of MLflow in a trial, with the parameters of config, and returns the module mlflow. What is not given
    is taken from config["mlflow"], a dict of such settings; an experiment that is not named there either has the name of
    the trial. rank_zero_only is of no use in a trial: it is one process. ValueError: MLflow has no such experiment,
    or config["mlflow"] an unknown key."""
    given = dict(config or {})
    own = given.pop("mlflow", None) or {}
    unknown = [name for name in own if name not in _SETTINGS]
    if unknown:
        raise ValueError(f"config['mlflow'] has {unknown[0]!r}: expected {', '.join(_SETTINGS)}")
    arguments = (tracking_uri, registry_uri, experiment_id, experiment_name, tracking_token, run_name)
    chosen = {name: own.get(name) if value is None else value for name, value in zip(_SETTINGS, arguments)}
    name = chosen["experiment_name"] or (session.get_context().get_trial_name() if session.inside() else None)
    _connect(chosen["tracking_uri"], chosen["registry_uri"], chosen["tracking_token"])
    found = _experiment(chosen["experiment_id"], name, artifact_location, create_experiment_if_not_exists)
    if mlflow.active_run() is None:
        mlflow.start_run(run_name=chosen["run_name"] or name, experiment_id=found, tags=tags)
        session.at_end(lambda failed: mlflow.end_run("FAILED" if failed else "FINISHED"))
    for key, value in flat(given):
        mlflow.log_param(key, value)
    return mlflow


class MLflowLoggerCallback(LoggerCallback):
    """Logs each trial as a run of MLflow: its parameters, its results, and with save_artifact the files in its directory.
    It runs in the process that has called fit. log_params_on_trial_end: parameters are logged at the end."""

    def __init__(
        self,
        tracking_uri: Optional[str] = None,
        *,
        registry_uri: Optional[str] = None,
        experiment_name: Optional[str] = None,
        tags: Optional[Dict[str, Any]] = None,
        tracking_token: Optional[str] = None,
        save_artifact: bool = False,
        log_params_on_trial_end: bool = False,
    ) -> None:
        self.tracking_uri: Optional[str]
        self.registry_uri: Optional[str]
        self.tracking_token: Optional[str]
        self.tracking_uri, self.registry_uri, self.tracking_token = tracking_uri, registry_uri, tracking_token
        self.experiment_name: Optional[str]
        self.tags: Dict[str, Any]
        self.experiment_name, self.tags = experiment_name, dict(tags or {})
        self.should_save_artifact: bool
        self.log_params_on_trial_end: bool
        self.should_save_artifact, self.log_params_on_trial_end = save_artifact, log_params_on_trial_end
        self._runs: Dict[str, str] = {}  # by trials' ids

    def setup(self, *args: Any, **info: Any) -> None:
        _connect(self.tracking_uri, self.registry_uri, self.tracking_token)
        self._experiment = _experiment(None, self.experiment_name, None, True)

    def log_trial_start(self, trial: Trial) -> None:
        if trial.trial_id in self._runs:
            return
        tags = {**self.tags, "trial_name": str(trial)}
        run = mlflow.MlflowClient().create_run(self._experiment, tags=tags, run_name=str(trial))
        self._runs[trial.trial_id] = run.info.run_id
        if not self.log_params_on_trial_end:
            self._log_params(trial)

    def log_trial_result(self, iteration: int, trial: Trial, result: Dict[str, Any]) -> None:
        self.log_trial_start(trial)
        step = result.get("timesteps_total") or result["training_iteration"]
        client = mlflow.MlflowClient()
        for name, value in flat({k: v for k, v in result.items() if k != "config"}):
            number = _number(value)
            if number is not None:
                client.log_metric(self._runs[trial.trial_id], name, number, step=int(step))

    def log_trial_end(self, trial: Trial, failed: bool = False) -> None:
        run = self._runs.get(trial.trial_id)
        if run is None:
            return
        client = mlflow.MlflowClient()
        if self.should_save_artifact and trial.path:
            client.log_artifacts(run, trial.path)
        if self.log_params_on_trial_end:
            self._log_params(trial)
        client.set_terminated(run, "FAILED" if failed else "FINISHED")

    def _log_params(self, trial: Trial) -> None:
        for name, value in flat(trial.config):
            mlflow.MlflowClient().log_param(self._runs[trial.trial_id], name, value)

    def get_state(self) -> Dict[str, Any]:
        """The runs, which Tuner.restore goes on with."""
        return {"runs": self._runs}

    def set_state(self, state: Dict[str, Any]) -> None:
        self._runs = state["runs"]


def _connect(tracking: Optional[str], registry: Optional[str], token: Optional[str]) -> None:
    if token:
        os.environ["MLFLOW_TRACKING_TOKEN"] = token
    if tracking is not None:
        mlflow.set_tracking_uri(tracking)
    if registry is not None:
        mlflow.set_registry_uri(registry)


def _experiment(id: Optional[str], name: Optional[str], place: Optional[str], create: bool) -> str:
    """The id of an experiment of MLflow: the one that exists, or a new one."""
    id, name = id or os.environ.get("MLFLOW_EXPERIMENT_ID"), name or os.environ.get("MLFLOW_EXPERIMENT_NAME")
    for found in _known(id, name):
        return str(found.experiment_id)
    if name and create:
        return str(mlflow.create_experiment(name, artifact_location=place))
    do = "give experiment_name" if create else "create it first, or write create_experiment_if_not_exists=True"
    raise ValueError(f"MLflow has no experiment with the id {id!r} or the name {name!r}: {do}")


def _known(id: Optional[str], name: Optional[str]) -> List[Any]:
    found = []
    if id:
        try:
            found.append(mlflow.get_experiment(id))
        except MlflowException:
            pass  # the name counts
    if name:
        found.append(mlflow.get_experiment_by_name(name))
    return [one for one in found if one is not None]


def _number(value: Any) -> Optional[float]:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
