"""The results of an experiment."""

from __future__ import annotations

import math
import os
from typing import Any, Dict, Iterator, List, Optional

from .. import _dataframes, _view
from . import _configs, _files, _skip
from ._nested import flat
from .result import Result, plan_of, score

__all__ = ["ResultGrid"]

_SHOWN = 50  #: rows of a table in a notebook


class ResultGrid:
    """The trials of an experiment, in their order: a sequence of Result."""

    def __init__(self, experiment_analysis: Any, metric: Optional[str] = None, mode: Optional[str] = None) -> None:
        """experiment_analysis is an ExperimentAnalysis, or the experiment's directory; metric and mode are the defaults of
        get_best_result."""
        grid = getattr(experiment_analysis, "_grid", None)
        #: the directory of the experiment, or its URL
        self.experiment_path: str = grid.experiment_path if grid else os.fspath(experiment_analysis)
        self._metric: Optional[str] = grid._metric if grid else metric
        self._mode: Optional[str] = grid._mode if grid else mode
        self._results: List[Result] = grid._results if grid else _read(self.experiment_path)

    def __len__(self) -> int:
        return len(self._results)

    def __getitem__(self, i: int) -> Result:
        return self._results[i]

    def __iter__(self) -> Iterator[Result]:
        return iter(self._results)

    @property
    def errors(self) -> List[Exception]:
        """Why trials failed."""
        return [r.error for r in self._results if r.error]

    @property
    def num_errors(self) -> int:
        """How many trials failed."""
        return len(self.errors)

    @property
    def num_terminated(self) -> int:
        """How many trials ended without a failure."""
        return sum(r._trial["state"] == "TERMINATED" for r in self._results)

    @property
    def filesystem(self) -> Any:
        """The file system of pyarrow that has the path: that of this machine."""
        return _files.local()

    def get_best_result(
        self,
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        scope: str = "last",
        filter_nan_and_inf: bool = True,
    ) -> Result:
        """The best trial by a metric (by default the one of TuneConfig). scope says which of its values counts: last,
        all (its best), avg or last-N-avg. RuntimeError if no trial has reported it. ValueError: it is not known what
        is good: give metric and mode."""
        if len(self._results) == 1:
            return self._results[0]
        metric, mode = metric or self._metric, mode or (self._mode if metric in (None, self._metric) else None)
        if not metric or mode not in ("min", "max"):
            raise ValueError(
                'there are several metrics or none: write get_best_result(metric=NAME, mode="min" or "max")'
            )
        rated = [(score(r, metric, mode, scope), r) for r in self._results]
        usable = [(v, r) for v, r in rated if v is not None and (math.isfinite(v) or not filter_nan_and_inf)]
        if not usable:
            if any(v is not None for v, _ in rated):
                raise RuntimeError(_not_finite(metric, scope, [v for v, _ in rated if v is not None]))
            raise RuntimeError(f"no trial has a value of {metric!r}: {self._first_error() or self._why_nothing()}")
        sign = 1 if mode == "min" else -1
        return min(usable, key=lambda pair: (pair[0] != pair[0], sign * pair[0]))[1]

    def _first_error(self) -> str:
        """The first line of the first failure."""
        lines = str(self.errors[0]).splitlines() if self.errors else []
        return f"{self.num_errors} failed, the first with: {lines[0]}" if lines else ""

    def _why_nothing(self) -> str:
        """Why there is no value although no trial failed."""
        if any(r._trial["results"] for r in self._results):
            return "look at the name of the metric"
        reason = next((r._trial["reason"] for r in self._results if r._trial["reason"]), "")
        return f"none has reported anything{reason and ': ' + reason}"

    def get_dataframe(self, filter_metric: Optional[str] = None, filter_mode: Optional[str] = None) -> Any:
        """A pandas.DataFrame with a row for each trial: its last result, or its best one by filter_metric; the config
        with which it was made as columns config/NAME. ValueError: one of the two arguments is given without the
        other."""
        if (filter_metric is None) != (filter_mode is None) or filter_mode not in (None, "min", "max"):
            raise ValueError('give filter_metric=NAME together with filter_mode="min" or "max"')
        rows = []
        for result in self._results:
            chosen: Any = result.last
            usable = [
                (r[filter_metric], r)
                for r in result.results
                if filter_metric and isinstance(r.get(filter_metric), (int, float))
            ]
            if usable:
                chosen = (min if filter_mode == "min" else max)(usable, key=lambda pair: pair[0])[1]
            rows.append({**result._row(chosen), "logdir": result.path})
        return _dataframes.frame(rows)

    def __repr__(self) -> str:
        return f"ResultGrid({self.experiment_path!r}, {len(self)} trials, {self.num_errors} failed)"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Dict[str, str]:
        """In a notebook: a table of the trials, the best first if it is known what is good."""
        from ._table import Table

        results = self._ranked()
        params = list(dict.fromkeys(name for r in results for name, _ in flat(r.config)))
        rows = [["trial", "state", "iteration", *([self._metric] if self._metric else []), *params]]
        for r in results:
            last, config = r.metrics, dict(flat(r.config))
            values = [last.get("training_iteration"), *([last.get(self._metric)] if self._metric else [])]
            cells = (_cell(v) for v in [*values, *(config.get(name) for name in params)])
            rows.append([r.trial_id, r._trial["state"], *cells])
        more = [f"... {len(self) - len(results)} more trials"] if len(results) < len(self) else []
        failed = [self._first_error()] if self.errors else []
        html = Table([self.experiment_path], rows, [*more, *failed]).html()
        return {"text/plain": repr(self), "text/html": html}

    def _ranked(self) -> List[Result]:
        """The first trials for a table."""
        metric, mode = self._metric, self._mode
        if not metric or mode not in ("min", "max"):
            return self._results[:_SHOWN]
        sign = 1 if mode == "min" else -1

        def place(r: Result) -> float:
            value = r.metrics.get(metric)
            return sign * value if isinstance(value, (int, float)) and value == value else math.inf

        return sorted(self._results, key=place)[:_SHOWN]


def _not_finite(metric: str, scope: str, values: List[float]) -> str:
    """Why no trial is the best although some have reported the metric."""
    what = "NaN" if all(math.isnan(v) for v in values) else "NaN or infinite"
    other = '; see scope="all" or "avg"' if scope == "last" else ""
    return f"no trial has a finite value of {metric!r}: with scope={scope!r} all {len(values)} are {what}{other}"


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _read(path: str) -> List[Result]:
    """The trials of an experiment. Where a function has named directories, a path is the name that it gave."""
    plan = plan_of(path)
    names = {os.path.realpath(e.path): e.path for e in os.scandir(path) if e.is_symlink()} if os.path.isdir(path) else {}
    old = _skip.replaced(path)
    trials = [t for t in _view.lines("trials", path) if t["number"] not in old]
    record = _configs.Record(path)
    return [Result.of(t, plan, names.get(os.path.realpath(t["dir"])), record) for t in trials]
