"""Experiments as tune.run_experiments takes them."""

from __future__ import annotations

from typing import Any, Dict

from .trial import Trial

__all__ = ["Experiment", "Trial"]


class Experiment:
    """A trainable and the arguments of tune.run with which it runs."""

    def __init__(self, name: str, run: Any, **kwargs: Any) -> None:
        """name is that of the directory, run the trainable; the other arguments are those of tune.run."""
        self.name, self.run_identifier = name, run
        self.arguments: Dict[str, Any] = kwargs
