"""Tells searchers of the user of results that came after their last suggestions: no more were asked of them."""

from __future__ import annotations

import math
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List

from . import _nested
from .result_grid import ResultGrid

if TYPE_CHECKING:
    from ..events import Objective
    from ._served import Untold
    from .result import Result

_ENDED = ("TERMINATED", "ERROR")


def tell(dir: Path, searcher: Any, untold: Untold) -> None:
    """Tells a searcher the rest of an experiment."""
    for number, group in groupby(ResultGrid(str(dir)), lambda result: result._trial["number"] // untold.runs):
        runs = list(group)
        if number not in untold.told or len(runs) < untold.runs or any(_state(r) not in _ENDED for r in runs):
            continue
        if untold.runs > 1:
            _tell_together(searcher, runs, untold)
        else:
            _tell_trial(searcher, runs[0], untold.told[number])


def _state(run: Result) -> str:
    return str(run._trial["state"])


def _tell_trial(searcher: Any, result: Result, told: Any) -> None:
    """Tells the results after those that were told, and the end."""
    results = [dict(_nested.flat({k: v for k, v in r.items() if k != "config"})) for r in result.results]
    for one in results:
        if (one["attempt"], one["training_iteration"]) > told:
            searcher.on_trial_result(result.trial_id, {**one, "config": result.config})
    failed = _state(result) == "ERROR"
    last = {**results[-1], "config": result.config, "done": True} if results and not failed else None
    searcher.on_trial_complete(result.trial_id, result=last, error=failed)


def _tell_together(searcher: Any, runs: List[Result], untold: Untold) -> None:
    """Tells the end of a suggestion that ran several times: the means over the runs that have not failed."""
    ended = [r for r in runs if _state(r) == "TERMINATED"]
    results = [dict(_nested.flat(r.results[-1])) for r in ended if r.results]
    means = {o.metric: _mean(o, results) for o in untold.objectives}
    last = {**means, "done": True} if results else None
    searcher.on_trial_complete(runs[0].trial_id, result=last, error=not ended)


def _mean(objective: Objective, results: List[Dict[str, Any]]) -> float:
    """A mean as the program has it: the worst value where one cannot be compared."""
    mean = sum(float(r.get(objective.metric, math.nan)) / len(results) for r in results)
    return mean if math.isfinite(mean) else -math.inf if objective.maximize else math.inf
