"""Progress reporters: what is printed while an experiment runs, if RunConfig(progress_reporter=…) is set. Without it
the program tunehost shows the progress."""

from __future__ import annotations

import sys
import time
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from ._nested import flat
from ._table import Table
from .trial import Trial

__all__ = ["CLIReporter", "JupyterNotebookReporter", "ProgressReporter"]

Columns = Union[None, Sequence[str], Mapping[str, str]]


class ProgressReporter:
    """The base class of progress reporters of one's own: implement should_report and report."""

    def setup(
        self,
        start_time: Optional[float] = None,
        total_samples: Optional[int] = None,
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        **kwargs: Any,
    ) -> None:
        """Called before anything else."""

    def should_report(self, trials: List[Trial], done: bool = False) -> bool:
        """Whether report is to be called now. Asked several times a second, and with done at the end."""
        raise NotImplementedError(f"{type(self).__name__} has no method should_report")

    def report(self, trials: List[Trial], done: bool, *sys_info: Any) -> None:
        """Shows the progress."""
        raise NotImplementedError(f"{type(self).__name__} has no method report")


class _Table(ProgressReporter):
    """A table of the trials."""

    def __init__(
        self,
        *,
        metric_columns: Columns = None,
        parameter_columns: Columns = None,
        total_samples: Optional[int] = None,
        max_progress_rows: int = 20,
        max_error_rows: int = 20,
        max_column_length: int = 20,
        max_report_frequency: int = 5,
        infer_limit: int = 3,
        print_intermediate_tables: Optional[bool] = None,
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        sort_by_metric: bool = False,
    ) -> None:
        self._metrics = _columns(metric_columns)
        self._params = _columns(parameter_columns)
        self._total = total_samples
        self._rows, self._error_rows, self._width = max_progress_rows, max_error_rows, max_column_length
        self._every, self._infer = max_report_frequency, infer_limit
        self._intermediate = print_intermediate_tables is not False
        self._metric, self._mode, self._sorted = metric, mode, sort_by_metric
        self._last = 0.0
        self._start = time.time()

    def setup(
        self,
        start_time: Optional[float] = None,
        total_samples: Optional[int] = None,
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        **kwargs: Any,
    ) -> None:
        self._start = start_time or self._start
        self._total = self._total or total_samples
        self._metric, self._mode = self._metric or metric, self._mode or mode

    def add_metric_column(self, metric: str, representation: Optional[str] = None) -> None:
        """Shows one more metric, by another name if one is given."""
        if metric in self._metrics:
            raise ValueError(f"the column {metric} exists")
        self._metrics[metric] = representation or metric

    def add_parameter_column(self, parameter: str, representation: Optional[str] = None) -> None:
        """Shows one more parameter, by another name if one is given."""
        if parameter in self._params:
            raise ValueError(f"the column {parameter} exists")
        self._params[parameter] = representation or parameter

    def should_report(self, trials: List[Trial], done: bool = False) -> bool:
        if done:
            return True
        if not self._intermediate or time.time() - self._last < self._every:
            return False
        self._last = time.time()
        return True

    def report(self, trials: List[Trial], done: bool, *sys_info: Any) -> None:
        self._show(self._of(trials, *sys_info))

    def _show(self, table: Table) -> None:
        sys.stdout.write(table.text() + "\n")
        sys.stdout.flush()

    def _of(self, trials: List[Trial], *sys_info: Any) -> Table:
        states: Dict[str, int] = {}
        for trial in trials:
            states[trial.status] = states.get(trial.status, 0) + 1
        counts = ", ".join(f"{n} {state}" for state, n in states.items())
        head = [*map(str, sys_info), f"Number of trials: {len(trials)}/{self._total or len(trials)} ({counts})"]
        best = self._best(trials)
        if best:
            head.append(f"Current best trial: {best.trial_id} with {self._metric}={best.metric(self._metric or '')}")
        shown = self._order(trials)[: self._rows]
        left = len(trials) - len(shown)
        more = [f"... {left} more trials not shown"] if left else []
        return Table(head, self._table(shown), [*more, *self._errors(trials)])

    def _best(self, trials: List[Trial]) -> Optional[Trial]:
        name = self._metric or ""
        rated = [t for t in trials if isinstance(t.last_result.get(name), (int, float))]
        if not rated or self._mode not in ("min", "max"):
            return None
        choose = min if self._mode == "min" else max
        return choose(rated, key=lambda t: float(t.last_result[name]))

    def _order(self, trials: List[Trial]) -> List[Trial]:
        states = [Trial.RUNNING, Trial.PAUSED, Trial.PENDING, Trial.TERMINATED, Trial.ERROR]
        listed = sorted(trials, key=lambda t: (states.index(t.status), t.number))
        if self._sorted and self._metric and self._mode in ("min", "max"):
            sign, name = (1 if self._mode == "min" else -1), self._metric
            listed.sort(key=lambda t: sign * t.last_result.get(name, float("inf") * sign))
        return listed

    def _table(self, trials: List[Trial]) -> List[List[str]]:
        params = self._params or {n: n for n in dict.fromkeys(k for t in trials for k, _ in flat(t.config))}
        metrics = self._metrics or _inferred(trials, self._infer, self._metric)
        rows = [["Trial name", "status", *params.values(), *metrics.values()]]
        for t in trials:
            config = dict(flat(t.config))
            values = [config.get(n, "") for n in params] + [t.last_result.get(n, "") for n in metrics]
            rows.append([str(t), t.status, *(self._cell(v) for v in values)])
        return rows

    def _cell(self, value: Any) -> str:
        text = f"{value:.6g}" if isinstance(value, float) else str(value)
        return text if len(text) <= self._width else "..." + text[-(self._width - 3) :]

    def _errors(self, trials: List[Trial]) -> List[str]:
        failed = [t for t in trials if t.num_failures]
        lines = [f"{t}  {t.num_failures} failures  {t.error_file or ''}".rstrip() for t in failed[: self._error_rows]]
        return [f"Number of errored trials: {len(failed)}", *lines] if failed else []


class CLIReporter(_Table):
    """Prints a table every max_report_frequency seconds, and at the end."""


class JupyterNotebookReporter(_Table):
    """Shows the table in a notebook, and replaces the last one if overwrite is set; elsewhere it prints it."""

    def __init__(
        self,
        *,
        overwrite: bool = True,
        metric_columns: Columns = None,
        parameter_columns: Columns = None,
        total_samples: Optional[int] = None,
        max_progress_rows: int = 20,
        max_error_rows: int = 20,
        max_column_length: int = 20,
        max_report_frequency: int = 5,
        infer_limit: int = 3,
        print_intermediate_tables: Optional[bool] = None,
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        sort_by_metric: bool = False,
    ) -> None:
        super().__init__(
            metric_columns=metric_columns,
            parameter_columns=parameter_columns,
            total_samples=total_samples,
            max_progress_rows=max_progress_rows,
            max_error_rows=max_error_rows,
            max_column_length=max_column_length,
            max_report_frequency=max_report_frequency,
            infer_limit=infer_limit,
            print_intermediate_tables=print_intermediate_tables,
            metric=metric,
            mode=mode,
            sort_by_metric=sort_by_metric,
        )
        self._overwrite = overwrite
        self._shown: Any = None  # the place of the last table

    def _show(self, table: Table) -> None:
        if "ipykernel" not in sys.modules:
            super()._show(table)
            return
        from IPython.display import display  # type: ignore[import-not-found, unused-ignore]

        if self._shown is None or not self._overwrite:
            self._shown = display(table, display_id=True)
        else:
            self._shown.update(table)


def _columns(given: Columns) -> Dict[str, str]:
    return dict(given) if isinstance(given, Mapping) else {name: name for name in given or ()}


_TIMES = ("training_iteration", "time_total_s")
_OWN = ("time_this_iter_s", "timestamp", "pid", "done", "iterations_since_restore", "time_since_restore")


def _inferred(trials: List[Trial], most: int, metric: Optional[str]) -> Dict[str, str]:
    """Iteration, time, the metric that counts and a few others."""
    found: Dict[str, None] = dict.fromkeys([*_TIMES, *([metric] if metric else [])])
    for t in trials:
        for name, value in t.last_result.items():
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if number and name not in _OWN and len(found) < len(_TIMES) + most:
                found[name] = None
    return {name: {"training_iteration": "iter", "time_total_s": "total time (s)"}.get(name, name) for name in found}
