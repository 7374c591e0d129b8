"""Reads experiments, running or not, also those that the program has begun by itself."""

from __future__ import annotations

import os
from typing import Any, Dict, FrozenSet, List, Optional, Union

from . import _dataframes, _integers, _labels, _places, _view, _words

__all__ = ["Experiment"]


class Experiment:
    """An experiment in a directory, as `tunehost status`, `trials` and `best` show it. It is read anew at each call.
    Metrics are floats, but those that Python has always reported as integers are integers."""

    def __init__(self, dir: str) -> None:
        self.dir = dir  #: the directory

    @classmethod
    def open(cls, dir: Union[str, "os.PathLike[str]"]) -> Experiment:
        """The experiment in a directory; ReadError if there is none.

        >>> import tunehost
        >>> from tunehost import tune
        >>> space = {"x": tune.grid_search([2, 3, 4])}
        >>> best = tunehost.minimize(lambda p: p["x"], space, name="small", verbose=0)
        >>> experiment = Experiment.open("results/small")
        >>> experiment.status()["state"], len(experiment.trials()), experiment.best()["value"]
        ('finished', 3, 2.0)
        """
        found = cls(_places.absolute(dir))
        found.status()
        return found

    def status(self) -> Dict[str, Any]:
        """name, state (running, finished, stopped, interrupted or failed), counts of trials by state, best,
        resources, elapsed_s and more: what `tunehost status --json` prints."""
        return self._lines("status")[0]

    def trials(self, where: Optional[str] = None) -> List[Dict[str, Any]]:
        """The trials that an expression selects (where="accuracy > 0.9"), by default all: id, number, state, params,
        the metrics of the last result and more."""
        return self._lines("trials", *(["--where", where] if where else []))

    def best(self, metric: Optional[str] = None, scope: str = "last") -> Optional[Dict[str, Any]]:
        """The best trial, with its value; None while no trial has a finite one. scope says which results count: last, min,
        max, mean or all. Where each suggestion has several runs (repeat), the value is their mean, and the trial and its
        metrics are those of one of these runs. ReadError: no trial has reported this metric."""
        flags = ["--scope", scope, *(["--metric", metric] if metric else [])]
        found = self._finite("best", *flags)
        return found[0] if found else None

    def front(self) -> List[Dict[str, Any]]:
        """With several objectives: the trials that no other beats; none while no trial has finite values of all."""
        return self._finite("best")

    @property
    def best_checkpoint(self) -> Optional[str]:
        """The path of the checkpoint of the best trial's value, or of its newest one; None if it has none."""
        found = self.best()
        return found.get("checkpoint") if found else None

    def curve(self, trial: Union[str, int]) -> List[Dict[str, Any]]:
        """All results of a trial that count: iteration, time and metrics of each. trial is its id or number."""
        return self._lines("results", str(trial))

    def dataframe(self) -> Any:
        """A pandas.DataFrame with a row for each trial: trial, number, state and iteration, suggestion where each
        has several runs (repeat), its parameters as params/NAME, and the metrics of its last result by their names, or as metric/NAME where a column has that name."""
        return _dataframes.frame([_row(trial) for trial in self.trials()], _OWN)

    def curves(self, metric: str) -> Any:
        """A pandas.DataFrame of one metric: a row for each iteration, and a column for each trial's number."""
        pandas = _dataframes.library()

        columns = {}
        for trial in self.trials():
            points = {p["iteration"]: p["metrics"].get(metric) for p in self.curve(trial["trial"])}
            columns[trial["number"]] = pandas.Series(points, dtype="float64")
        return pandas.DataFrame(columns)

    def _finite(self, command: str, *flags: str) -> List[Dict[str, Any]]:
        """What a command says of finite values; nothing if there are none."""
        try:
            return self._lines(command, *flags)
        except _view.ReadError as e:
            if _words.has_no_value(str(e)):
                return []
            raise

    def _lines(self, command: str, *flags: str) -> List[Dict[str, Any]]:
        """What a command of the program says of the experiment."""
        known: Dict[Any, FrozenSet[str]] = {}
        lines, values = _view.lines(command, self.dir, *flags), self._values()
        return [self._typed(_valued(line, values), known) for line in lines]

    def _values(self) -> _labels.Values:
        """The values of choices that the record has as texts."""
        return _labels.read(self.dir)

    def _typed(self, line: Dict[str, Any], known: Dict[Any, FrozenSet[str]]) -> Dict[str, Any]:
        """What the program says of a trial, a result or the experiment, with metrics as they were reported."""
        if isinstance(line.get("params"), dict):
            line["params"] = _view.own(line["params"], _view.suggests(self.dir))
        if isinstance(line.get("metrics"), dict):
            number = line.get("number", 0)
            if number not in known:
                known[number] = _integers.of(self.dir, line.get("dir") or _view.trial_dir(self.dir, number))
            line["metrics"] = _integers.typed(line["metrics"], known[number])
        if "value" in line:
            line.update(_integers.typed({"value": line["value"]}, ()))
        if isinstance(line.get("best"), dict):
            line["best"] = self._typed(line["best"], known)
        return line

    def __repr__(self) -> str:
        return f"Experiment({self.dir!r})"


def _valued(line: Dict[str, Any], values: _labels.Values) -> Dict[str, Any]:
    """What the program says, with the values of choices that the record has as texts."""
    if isinstance(line.get("best"), dict):
        line = {**line, "best": _valued(line["best"], values)}
    return {**line, "params": _labels.typed(line["params"], values)} if isinstance(line.get("params"), dict) else line


_OWN = ("trial", "number", "state", "iteration")  # of a dataframe, whatever trials there are


def _row(trial: Dict[str, Any]) -> Dict[str, Any]:
    rerun = {"suggestion": trial["suggestion"]} if "suggestion" in trial else {}  # where each has several runs
    params = {f"params/{k}": v for k, v in _leaves(trial["params"], "")}
    metrics = {
        f"metric/{k}" if k in (*_OWN, *rerun) or k.startswith("params/") else k: v for k, v in trial["metrics"].items()
    }
    return {**{k: trial[k] for k in _OWN}, **rerun, **params, **metrics}


def _leaves(values: Dict[str, Any], prefix: str) -> Any:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{key}/")
        else:
            yield f"{prefix}{key}", value
