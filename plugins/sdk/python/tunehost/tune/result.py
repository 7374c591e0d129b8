"""The result of one trial."""

from __future__ import annotations

import json
import math
import os
import re
from functools import cached_property
from pathlib import Path
from typing import Any, Collection, Dict, List, Mapping, Optional, Tuple

from .. import _dataframes, _integers, _places, _view
from . import _configs, _encode, _files, _nested, _payload, _recorded, _trust
from ._means import mean
from ._names import (
    DEFAULT_METRIC as DEFAULT_METRIC,
    DONE as DONE,
    EXPERIMENT_TAG as EXPERIMENT_TAG,
    HOSTNAME as HOSTNAME,
    PID as PID,
    SHOULD_CHECKPOINT as SHOULD_CHECKPOINT,
    TIMESTEPS_THIS_ITER as TIMESTEPS_THIS_ITER,
    TIMESTEPS_TOTAL as TIMESTEPS_TOTAL,
    TIME_THIS_ITER_S as TIME_THIS_ITER_S,
    TIME_TOTAL_S as TIME_TOTAL_S,
    TRAINING_ITERATION as TRAINING_ITERATION,
    TRIAL_ID as TRIAL_ID,
)
from .checkpoint import Checkpoint, PathLike
from .error import TuneError, of_trial

__all__ = ["Metrics", "Result"]


class Metrics(Dict[str, Any]):
    """Metrics by name, nested as they were reported: metrics["val"]["acc"]. metrics["val/acc"] is the same."""

    def __missing__(self, name: str) -> Any:
        inner = {k[len(name) + 1 :]: v for k, v in self.items() if k.startswith(f"{name}/")}
        if inner:
            return Metrics(inner)
        group, found, rest = str(name).partition("/")
        if not found or not isinstance(dict.get(self, group), dict):
            raise KeyError(name)
        return Metrics(dict.__getitem__(self, group))[rest]

    def get(self, name: str, default: Any = None) -> Any:
        """The metric of this name, nested or joined; default if there is none."""
        try:
            return self[name]
        except KeyError:
            return default

    def __contains__(self, name: object) -> bool:
        return dict.__contains__(self, name) or isinstance(name, str) and self.get(name, _NOTHING) is not _NOTHING


_NOTHING = object()


class Result:
    """A trial: its last result, its checkpoints and files."""

    def __init__(
        self,
        metrics: Optional[Mapping[str, Any]] = None,
        checkpoint: Optional[Checkpoint] = None,
        error: Optional[Exception] = None,
        path: Optional[str] = None,
        metrics_dataframe: Any = None,
        best_checkpoints: Optional[List[Tuple[Checkpoint, Dict[str, Any]]]] = None,
    ) -> None:
        """A result that a user's code makes itself. Those of an experiment are read when they are asked for."""
        self._trial: Mapping[str, Any] = {"trial": (metrics or {}).get("trial_id", ""), "state": "TERMINATED"}
        self._plan: Optional[_encode.Group] = None
        self._record: Optional[_configs.Record] = None
        self._by_attempt: Dict[int, Dict[str, Any]] = {}  # configs
        self.path: str = path or ""  #: the trial's directory
        self.metrics = Metrics(metrics or {})
        self.config = dict(self.metrics.get("config", {}))
        self.results = [self.metrics] if metrics else []
        self.checkpoint, self.error, self.metrics_dataframe = checkpoint, error, metrics_dataframe
        self.best_checkpoints = [(c, Metrics(m)) for c, m in best_checkpoints or ()]

    @classmethod
    def of(
        cls,
        trial: Mapping[str, Any],
        plan: Optional[_encode.Group] = None,
        path: Optional[str] = None,
        record: Optional[_configs.Record] = None,
    ) -> Result:
        """The result of a trial as `tunehost trials --json` prints it. path is another name of its directory; record
        is that of the experiment."""
        made = cls.__new__(cls)
        made._trial, made._plan = trial, plan
        made.path = path or trial["dir"]
        made._record, made._by_attempt = record, {}
        return made

    @classmethod
    def from_path(cls, path: PathLike, storage_filesystem: Any = None) -> Result:
        """The result of the trial in a directory, which is in that of its experiment. RuntimeError: there is no such
        directory; TuneError: it is that of no trial."""
        if storage_filesystem is not None or "://" in os.fspath(path):
            trials, name = os.path.split(os.fspath(path).rstrip("/"))
            experiment, folder = os.path.split(trials)
            path = os.path.join(_files.brought(experiment, storage_filesystem), folder, name)
        dir = os.path.realpath(os.path.expanduser(os.fspath(path)))
        experiment = os.path.dirname(os.path.dirname(dir))
        if not os.path.isdir(dir):
            raise RuntimeError(f"Trial folder {dir} doesn't exist!")
        for trial in _view.lines("trials", experiment):
            if os.path.realpath(trial["dir"]) == dir:
                return cls.of(trial, plan_of(experiment), _places.absolute(path))
        raise TuneError(f"{dir} is the directory of no trial")

    @property
    def trial_id(self) -> str:
        """The id of the trial."""
        return str(self._trial["trial"])

    @property
    def _experiment(self) -> str:
        """The directory of the experiment; that of the trial may have another name elsewhere."""
        return os.path.dirname(os.path.dirname(str(self._trial["dir"])))

    @cached_property
    def config(self) -> Dict[str, Any]:
        """The config that the trainable got; if a scheduler has changed it, the last one. metrics_dataframe has that of
        each result."""
        kept = self._kept()
        return self._decoded(self._trial["params"]) if kept is None else kept

    def _kept(self, attempt: Optional[int] = None) -> Optional[Dict[str, Any]]:
        """The config of an attempt, by default the newest one, as the trial has kept it; None if it has kept none."""
        if not _configs.keeps(Path(self.path)):
            return None
        _trust.check(self._experiment)
        return _configs.kept(Path(self.path), attempt)

    def _decoded(self, params: Mapping[str, Any]) -> Dict[str, Any]:
        return _view.own(params) if self._plan is None else _encode.decode(self._plan, params)

    def _config_of(self, result: Mapping[str, Any]) -> Dict[str, Any]:
        """The config with which one of the results was made. It is not that of the last one if a scheduler has let the
        trial continue with other parameters."""
        attempt = int(result["attempt"])
        if attempt not in self._by_attempt:
            self._by_attempt[attempt] = self._config_at(attempt, result["training_iteration"])
        return self._by_attempt[attempt]

    def _config_at(self, attempt: int, iteration: int) -> Dict[str, Any]:
        kept = self._kept(attempt)
        if kept is not None:
            return kept
        if self.results[0]["attempt"] == self.results[-1]["attempt"]:
            return self.config
        record = self._record or _configs.Record(self._experiment)
        params = record.params(self._trial["number"], iteration)
        return self.config if params is None else self._decoded(params)

    @cached_property
    def metrics(self) -> Metrics:
        """The last result: what was reported, and training_iteration, time_total_s, time_this_iter_s, timestamp,
        trial_id, pid, hostname, done and config. If the trial has not reported: trial_id, config and training_iteration,
        which is 0."""
        return Metrics({**self.last, "config": self.config})

    @property
    def last(self) -> Metrics:
        """The metrics without the config."""
        return self.results[-1] if self.results else Metrics({"trial_id": self.trial_id, "training_iteration": 0})

    @cached_property
    def results(self) -> List[Metrics]:
        """All results that count, in their order."""
        found: Dict[int, Metrics] = {}
        groups, integers = _nested.groups(self.path), _integers.of(self.path)
        suggested = self._plan is not None and self._plan.suggestions is not None
        try:
            with _trust.opened(os.path.join(self.path, "result.jsonl")) as f:
                for line in f:
                    if line.endswith("\n"):
                        result = _result(_integers.loads(line), groups, integers, suggested)
                        found = {i: r for i, r in found.items() if i < result["training_iteration"]}
                        found[result["training_iteration"]] = result
        except FileNotFoundError:
            return self._recorded() if self._trial.get("results") else []
        return list(found.values())

    def _recorded(self) -> List[Metrics]:
        """The results of a trial whose files were deleted: the record has their numbers."""
        found = []
        for line in _view.lines("results", self._experiment, str(self._trial["number"])):
            times: Dict[str, Any] = {k: line[k] for k in ("attempt", "time_total_s") if k in line}
            own = _integers.typed(line["metrics"], ())
            own["training_iteration"] = line["iteration"]
            found.append(Metrics({**own, **times, "done": line["done"], "trial_id": self.trial_id}))
        return found

    @cached_property
    def metrics_dataframe(self) -> Any:
        """All results as a pandas.DataFrame, one row each, nested metrics as "PARENT/NAME", and the config with which
        the result was made as config/NAME; None if there is none."""
        if not self.results:
            return None
        return _dataframes.frame([self._row(r) for r in self.results])

    def _row(self, result: Mapping[str, Any]) -> Dict[str, Any]:
        """A result in a dataframe, with its config."""
        config = self._config_of(result) if "attempt" in result else self.config
        return {**dict(_nested.flat(result)), **dict(_nested.flat({"config": config}))}

    @cached_property
    def checkpoint(self) -> Optional[Checkpoint]:
        """The newest checkpoint, or None."""
        path = self._trial.get("checkpoint")
        return Checkpoint(path) if path else None

    @cached_property
    def best_checkpoints(self) -> List[Tuple[Checkpoint, Metrics]]:
        """The checkpoints that were kept, with the results that they belong to: with a checkpoint_score_attribute from the
        worst to the best, else from the first on; at most num_to_keep. The newest one, which is kept in any case, may be
        none of them: it is checkpoint."""
        by_iteration = {r["training_iteration"]: r for r in self.results}
        found = []
        for iteration, dir in kept_checkpoints(self.path):
            if iteration in by_iteration:
                found.append((Checkpoint(dir), by_iteration[iteration]))
        wanted = _recorded.checkpoints(os.path.dirname(os.path.dirname(self._trial["dir"])))
        score, sign = wanted.get("score"), -1 if wanted.get("mode") == "min" else 1
        if score:
            found.sort(key=lambda pair: _rated(pair[1].get(score), sign))
        return found[-wanted.get("keep", len(found)) :]

    def get_best_checkpoint(self, metric: str, mode: str) -> Optional[Checkpoint]:
        """The kept checkpoint whose result is best by a metric (mode: min or max); None if there is none. ValueError:
        another mode."""
        if mode not in ("min", "max"):
            raise ValueError(f"mode is {mode!r}: expected min or max")
        rated = [(r[metric], c) for c, r in self.best_checkpoints if _finite(r.get(metric))]
        if not rated:
            return None
        return (min if mode == "min" else max)(rated, key=lambda pair: pair[0])[1]

    @cached_property
    def error(self) -> Optional[Exception]:
        """Why the trial failed, with its traceback: a TuneError, which is also one of Python's own exceptions if the trial
        has raised that. None if it did not fail."""
        if self._trial["state"] != "ERROR":
            return None
        return of_trial(self._trial["error"] or self._trial["reason"])

    @property
    def filesystem(self) -> Any:
        """The file system of pyarrow that has the path: that of this machine."""
        return _files.local()

    def __repr__(self) -> str:
        shown = {k: v for k, v in self.metrics.items() if k not in _HIDDEN}
        return (
            f"Result(config={self.config}, metrics={shown}, path={self.path!r}"
            + (f", error={self.error}" if self.error else "")
            + ")"
        )


_HIDDEN = (
    "config",
    "trial_id",
    "timestamp",
    "pid",
    "hostname",
    "event_number",
    "attempt",
    "done",
    "time_this_iter_s",
)


def kept_checkpoints(path: Optional[str]) -> List[Tuple[int, str]]:
    """The iterations and directories of a trial's checkpoints, from the first on. The host makes and removes some
    meanwhile: those that are half made or gone do not count."""
    found = []
    root = os.path.join(path or "", "checkpoints")
    try:
        names = sorted(name for name in os.listdir(root) if name.isdigit())
    except (FileNotFoundError, NotADirectoryError):
        return []
    for name in names:
        try:
            with open(os.path.join(root, name, "MANIFEST.json"), encoding="utf-8") as f:
                found.append((int(json.load(f)["iteration"]), os.path.join(root, name, "files")))
        except (FileNotFoundError, NotADirectoryError):
            continue
    return found


def _rated(value: Any, sign: int) -> float:
    return sign * float(value) if _finite(value) else -math.inf


_COUNTS = ("attempt", "event_number", "pid", "iterations_since_restore")  #: integers of the host
_PARAMS = "trial_params"  #: those of a result, if they have changed
_TAKEN = ("hostname", "config", "logdir")  #: names of this package for what is no value of a program


def _result(
    line: Dict[str, Any], groups: Collection[str], integers: Collection[str], suggested: bool
) -> Metrics:
    """A line of result.jsonl with Ray's names."""
    iteration = line.pop("iteration")
    host = line.pop("host", None)
    counts = {k: line[k] for k in _COUNTS if k in line}
    values = _nested.nested(_renamed({**_integers.typed(line, integers), **counts}), groups)
    if isinstance(values.get(_PARAMS), dict):
        values[_PARAMS] = _view.own(values[_PARAMS], suggested)
    return Metrics({"training_iteration": iteration, **values, **({"hostname": host} if host else {})})


def _renamed(values: Mapping[str, Any]) -> Dict[str, Any]:
    """The values of a result. Those with a name of this package get the prefix that the files of a trial have for values
    with a name of the host."""
    return {_prefix(v) + k if k in _TAKEN or k.startswith("config/") else k: v for k, v in values.items()}


def _prefix(value: Any) -> str:
    return "metric/" if isinstance(value, (int, float)) and not isinstance(value, bool) else "value/"


def _finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and value == value and abs(value) != float("inf")


def plan_of(experiment: str) -> Optional[_encode.Group]:
    """The plan of an experiment that tunehost.tune has begun; None for others."""
    dir = Path(experiment, "tune")
    if not (dir / "space.pkl").exists():
        return None
    _trust.check(experiment)
    return _payload.read_plan(dir)


_SCOPES = re.compile(r"^(last|all|avg|last-(\d+)-avg)$")


def score(result: Result, metric: str, mode: str, scope: str) -> Optional[float]:
    """The value of a trial by which it is compared: its last one, the best of all, or a mean."""
    match = _SCOPES.match(scope)
    if not match:
        raise ValueError(f"scope is {scope!r}: expected last, all, avg or last-N-avg")
    values = [float(r[metric]) for r in result.results if isinstance(r.get(metric), (int, float))]
    if not values:
        return None
    if scope == "last":
        return values[-1]
    if scope == "all":
        return min(values) if mode == "min" else max(values)
    part = values[-int(match.group(2)) :] if match.group(2) else values
    return mean(part)
