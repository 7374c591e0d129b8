"""The experiment file of ask and tell, and the experiment that has one already."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Union

from ._asked import AskError
from ._plain import plain

__all__ = ["begun_space", "check_space", "entry", "modes", "objectives", "points", "whole"]


def modes(metric: Union[str, Mapping[str, str]], mode: Optional[str]) -> Dict[str, str]:
    """The modes of the metrics. AskError: one lacks its mode; what is good has no default, as in tune.TuneConfig."""
    if isinstance(metric, Mapping):
        if mode is not None:
            raise AskError(f"mode is {mode!r}, and metric has modes: leave mode out")
        return dict(metric)
    if mode is None:
        raise AskError('AskTell has a metric and no mode: write mode="min" or mode="max"')
    return {metric: mode}


def whole(trials: Any) -> Optional[int]:
    """How many trials the user wants, as a whole number. AskError: it is none."""
    from .tune import config

    number = int(trials) if isinstance(trials, float) and trials.is_integer() else trials
    try:
        expected = "expected a whole number from 1 on, or -1 for no limit"
        return None if trials is None else config.whole("trials", number, expected, -1, zero=False)
    except ValueError as e:
        raise AskError(str(e)) from None


def objectives(metrics: Mapping[str, str]) -> Dict[str, Any]:
    """The objectives in the experiment file, given the modes of the metrics."""
    found = [{"metric": metric, "mode": mode} for metric, mode in metrics.items()]
    return {"objective": found[0]} if len(found) == 1 else {"objectives": found}


def entry(value: Any, kind: str) -> Dict[str, Any]:
    """A searcher or scheduler in the experiment file. AskError: it is an object of this process."""
    from .tune._plugin import chosen

    choice = chosen(value, kind)
    if choice.served():
        raise AskError(
            f"the {kind} {type(value).__name__} is an object of this process, which ask and tell does not serve: name a {kind} "
            "of tunehost, or the path of a plugin (tunehost.serve)"
        )
    return choice.entry()


def points(plan: Any, settings: Mapping[str, Any]) -> Dict[str, Any]:
    """The points that are tried first, as the experiment file has them. AskError: they are none of the space."""
    from .tune._points import encode_points
    from .tune.error import TuneError

    try:
        return {"points": encode_points(plan, settings["points"])} if "points" in settings else {}
    except TuneError as e:
        raise AskError(str(e).replace("points_to_evaluate", "points")) from None


def begun_space(dir: str) -> Optional[Dict[str, Any]]:
    """The space of an experiment that AskTell has begun; None if it cannot be read."""
    try:
        return dict(json.loads(Path(dir, "experiment.yaml").read_text(encoding="utf-8"))["space"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None  # it may be damaged, too, which the program says


def check_space(dir: str, name: str, space: Mapping[str, Any]) -> None:
    """AskError: an experiment that exists has another space, and its trials are points of that."""
    begun = begun_space(dir)
    try:
        extended = dict(json.loads(Path(dir, "run.json").read_text(encoding="utf-8"))).get("extensions")
    except (OSError, ValueError, TypeError, RecursionError):
        return  # there is none, or it is damaged, which the program says
    given = json.loads(json.dumps(space, default=plain(AskError)))
    if begun is None or extended or given == begun:
        return
    other = "; ".join(how + ", ".join(keys) for how, keys in _differences(begun, given) if keys)
    raise AskError(f"the experiment {name!r} has begun with another space ({other}): choose another name")


def _differences(begun: Mapping[str, Any], given: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """How two spaces differ: what they have in common, and what only one of them has."""
    return [
        ("changed: ", [key for key in begun if key in given and begun[key] != given[key]]),
        ("only there: ", [key for key in begun if key not in given]),
        ("only here: ", [key for key in given if key not in begun]),
    ]
