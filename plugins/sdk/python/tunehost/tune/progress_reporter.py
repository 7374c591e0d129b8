"""Ray's progress reporters. The progress on the terminal, and in notebooks, is tunehost's."""

from __future__ import annotations

from typing import Any

from .error import Unsupported

__all__ = ["CLIReporter", "JupyterNotebookReporter", "ProgressReporter"]


class ProgressReporter:
    """Ray's base class. Not supported: RunConfig(verbose=0) to 3 says how much is printed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise Unsupported(
            f"{type(self).__name__} is not supported: tunehost prints the progress; RunConfig(verbose=0) to 3 "
            "says how much"
        )


class CLIReporter(ProgressReporter):
    """Ray's table on a terminal. Not supported: see ProgressReporter."""


class JupyterNotebookReporter(ProgressReporter):
    """Ray's table in a notebook. Not supported: see ProgressReporter."""
