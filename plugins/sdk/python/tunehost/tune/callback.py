"""Callbacks of Ray Tune."""

from __future__ import annotations

from typing import Optional

__all__ = ["Callback"]


class Callback:
    """Ray's base class of what hears of trials. Subclasses of one's own are not supported yet: an experiment with
    one is refused. Use tunehost.Experiment.open(DIR), which also reads an experiment that runs."""

    reporter: Optional[str] = None  #: the reporter of tunehost that it becomes
