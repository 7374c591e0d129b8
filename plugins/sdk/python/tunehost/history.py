"""The trials so far, in a form that suits searchers and schedulers."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Callable, Dict, List, Optional, Sequence

from .events import Event, EventKind
from .space import Point, Space

__all__ = ["History", "TrialRecord"]


@dataclass
class TrialRecord:
    """What is known about one trial."""

    number: int
    point: Optional[Point] = None
    space: Optional[Space] = field(default=None, repr=False)
    losses: Sequence[float] = ()  #: the last ones told; () when there are none
    ended: bool = False
    failed: bool = False
    paused: bool = False
    results: Dict[int, float] = field(default_factory=dict, repr=False)  #: first losses by iteration

    @cached_property
    def params(self) -> Dict[str, Any]:
        """Its parameters by name."""
        return self.space.params(self.point) if self.space and self.point is not None else {}

    @property
    def loss(self) -> float:
        """The last loss of the first objective; infinite when there is none."""
        return self.losses[0] if self.losses else float("inf")


class History:
    """The trials by number."""

    def __init__(self) -> None:
        self.trials: Dict[int, TrialRecord] = {}

    def observe(self, event: Event) -> None:
        """Adds one event."""
        if event.kind in (EventKind.EXPERIMENT_ENDED, EventKind.SEARCH_ENDED):
            return
        trial = self.trials.setdefault(event.trial, TrialRecord(event.trial))
        note = _NOTES.get(event.kind)
        if note:
            note(trial, event)

    def losses_at(self, iteration: int) -> Dict[int, float]:
        """The first loss that each trial had at that iteration, by the trial's number."""
        return {t.number: t.results[iteration] for t in self.trials.values() if iteration in t.results}

    @property
    def best(self) -> Optional[TrialRecord]:
        """The trial with the smallest last loss among those that have one and did not fail; the
        first one if several are equal."""
        rated = [t for t in self.trials.values() if t.losses and t.point is not None and not t.failed]
        return min(rated, key=lambda t: (t.loss, t.number), default=None)

    @property
    def ended(self) -> List[TrialRecord]:
        """The trials that finished or were stopped."""
        return [t for t in self.trials.values() if t.ended and not t.failed]


def _added(trial: TrialRecord, event: Event) -> None:
    trial.point, trial.space = event.point, event.space


def _started(trial: TrialRecord, event: Event) -> None:
    trial.paused = trial.ended = trial.failed = False  # the user may run one that failed again


def _reported(trial: TrialRecord, event: Event) -> None:
    trial.losses = event.losses
    trial.results[event.iteration] = event.loss


def _paused(trial: TrialRecord, event: Event) -> None:
    trial.paused = True


def _completed(trial: TrialRecord, event: Event) -> None:
    trial.ended, trial.losses = True, event.losses or trial.losses


def _failed(trial: TrialRecord, event: Event) -> None:
    trial.ended = trial.failed = True


def _removed(trial: TrialRecord, event: Event) -> None:
    trial.ended = True


_NOTES: Dict[int, Callable[[TrialRecord, Event], None]] = {
    EventKind.TRIAL_ADDED: _added,
    EventKind.TRIAL_STARTED: _started,
    EventKind.RESULT_REPORTED: _reported,
    EventKind.TRIAL_PAUSED: _paused,
    EventKind.TRIAL_COMPLETED: _completed,
    EventKind.TRIAL_FAILED: _failed,
    EventKind.TRIAL_REMOVED: _removed,
}
