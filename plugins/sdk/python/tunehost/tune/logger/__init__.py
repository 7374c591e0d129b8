"""Loggers with Ray Tune's names. tunehost always writes result.jsonl, progress.csv and params.json into each
trial's directory."""

from __future__ import annotations

from typing import Any, Dict

from ..callback import Callback
from ..error import Unsupported

__all__ = ["CSVLoggerCallback", "JsonLoggerCallback", "LoggerCallback", "TBXLoggerCallback"]


class LoggerCallback(Callback):
    """Ray's base class of loggers. Subclasses of one's own are not supported yet."""


class JsonLoggerCallback(LoggerCallback):
    """Results as JSON, in result.jsonl (Ray's name is result.json)."""

    reporter = "jsonl"


class CSVLoggerCallback(LoggerCallback):
    """Results as progress.csv."""

    reporter = "csv"


class TBXLoggerCallback(LoggerCallback):
    """Ray's TensorBoard logger. Not supported yet: read the results with pandas, or use the dashboard."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise Unsupported(
            "TBXLoggerCallback is not supported: write TensorBoard files in the trainable, in "
            "tune.get_context().get_trial_dir(), or look at the dashboard: tunehost serve"
        )


def reporters(callbacks: Any) -> Dict[str, Any]:
    """The key of the experiment file for a list of callbacks."""
    names = []
    for callback in callbacks or ():
        name = getattr(callback, "reporter", None)
        if name is None:
            raise Unsupported(
                f"the callback {type(callback).__name__} is not supported: read the results while the "
                "experiment runs, with tunehost.Experiment.open(DIR), or `tunehost run --json`"
            )
        names.append(name)
    return {"reporters": ["jsonl", *(n for n in dict.fromkeys(names) if n != "jsonl")]} if names else {}
