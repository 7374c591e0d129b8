"""The errors of the front end."""

from __future__ import annotations

__all__ = ["TuneError", "Unsupported"]


class TuneError(Exception):
    """The experiment could not run, or a trial failed. The message says what to do."""


class Unsupported(TuneError, NotImplementedError):
    """Ray Tune has this, and tunehost.tune does not. The message names the way to do it here."""
