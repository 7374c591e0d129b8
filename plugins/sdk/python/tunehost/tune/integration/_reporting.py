"""What the callbacks of XGBoost and LightGBM have in common."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Callable, Dict, List, Mapping, Optional, Union

from ..checkpoint import Checkpoint
from ..session import report

Metrics = Union[None, str, List[str], Mapping[str, str]]
Processing = Optional[Callable[[Dict[str, Any]], Dict[str, Any]]]


class Reporting:
    """Reports metrics, and saves checkpoints in a file of a name."""

    def __init__(
        self, metrics: Metrics, filename: str, frequency: int, checkpoint_at_end: bool, processing: Processing
    ) -> None:
        self._metrics = [metrics] if isinstance(metrics, str) else metrics
        self._filename, self._frequency = filename, frequency
        self._checkpoint_at_end, self._processing = checkpoint_at_end, processing

    def _due(self, iteration: int) -> bool:
        """Whether a checkpoint is due after so many iterations."""
        return bool(self._frequency) and iteration % self._frequency == 0

    def _chosen(self, found: Dict[str, Any]) -> Dict[str, Any]:
        """The metrics that are reported, by their names."""
        if isinstance(self._metrics, Mapping):
            found = {name: found[theirs] for name, theirs in self._metrics.items()}
        elif self._metrics:
            found = {name: found[name] for name in self._metrics}
        return self._processing(found) if self._processing else found

    def _report(self, found: Dict[str, Any], model: Any = None) -> None:
        """Reports metrics, with a checkpoint of a model if it is given."""
        if model is None:
            report(found)
            return
        with tempfile.TemporaryDirectory() as dir:
            model.save_model(os.path.join(dir, self._filename))
            report(found, checkpoint=Checkpoint.from_directory(dir))
