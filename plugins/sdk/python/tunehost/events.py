"""The events that searchers and schedulers receive, and their answers."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from .space import Point, Rand, Space

__all__ = ["EXHAUSTED", "WAIT", "Answer", "Command", "Decision", "Event", "EventKind", "Objective", "Problem",
           "ReportedKind", "ReporterEvent", "Request", "Status", "Suggestion"]


class EventKind(enum.IntEnum):
    """The kind of an event."""

    TRIAL_ADDED = 1  #: it exists; params and point are set
    TRIAL_STARTED = 2  #: it runs, for the first time or again (attempt counts)
    RESULT_REPORTED = 3  #: iteration, losses and metrics are set
    TRIAL_PAUSED = 4
    TRIAL_COMPLETED = 5  #: it ended well or was stopped; losses are its last
    TRIAL_FAILED = 6
    TRIAL_REMOVED = 7  #: it was taken away while it was waiting or paused
    CHECKPOINT_SAVED = 8
    TRIAL_REQUEUED = 9
    EXPERIMENT_ENDED = 10
    SEARCH_ENDED = 11  #: the searcher has no more to suggest


class ReportedKind(enum.IntEnum):
    """The kind of an event for reporters."""

    EXPERIMENT_STARTED = 1  #: a host runs it; resumed: an earlier one had begun
    EXPERIMENT_ENDED = 2  #: reason: finished, stopped, interrupted or failed
    TRIAL_ADDED = 3
    TRIAL_STARTED = 4  #: restored > 0: from the checkpoint of that iteration
    RESULT_REPORTED = 5
    TRIAL_PAUSED = 6
    CHECKPOINT_SAVED = 7  #: iteration
    TRIAL_COMPLETED = 8
    TRIAL_FAILED = 9  #: finally
    TRIAL_REQUEUED = 10  #: it will run again, after a failure or an interruption
    TRIAL_REMOVED = 11  #: it ended while it was not running


@dataclass
class ReporterEvent:
    """Something that happened, with all that a reporter needs. Its kind determines which fields are set."""

    number: int  #: from 1, increasing, with gaps
    kind: Union[ReportedKind, int]  #: a later host may know more kinds: ignore them
    time: float = 0.0  #: seconds since 1970
    trial: Mapping[str, Any] = field(default_factory=dict)
    """Of a trial, after the event: number, id, dir, state, attempt, params and error."""
    result: Mapping[str, Any] = field(default_factory=dict)
    """Of RESULT_REPORTED: metrics, values (that are no numbers), totals, iteration, done, time_total_s,
    time_this_iter_s, pid, host, restored, iterations_since_restore, time_since_restore and again."""
    iteration: int = 0  #: of a checkpoint
    restored: int = 0
    resumed: bool = False
    reason: str = ""


class Verdict(enum.IntEnum):
    """Whether a trial continues after a result."""

    CONTINUE = 0
    PAUSE = 1
    STOP = 2


@dataclass(frozen=True)
class Decision:
    """The decision on one result; Event.stop, pause and until make it."""

    event: int
    verdict: Verdict
    until: int = 0
    reason: str = ""


@dataclass
class Event:
    """One event. Its kind determines which fields are set."""

    number: int  #: its place in the history, from 1, without gaps
    kind: Union[EventKind, int]  #: a later host may know more kinds: ignore them
    trial: int = 0  #: the trial's number, from 0
    attempt: int = 0  #: counts the starts of the trial, from 1
    iteration: int = 0  #: of the result or checkpoint, from 1
    point: Optional[Point] = None  #: the trial's assignment (TRIAL_ADDED)
    losses: Sequence[float] = ()  #: one for each objective; smaller is better, never NaN
    metrics: Mapping[str, float] = field(default_factory=dict)  #: only if the plugin asked for them
    seconds: float = 0.0  #: the trial's own training time so far
    reason: str = ""
    space: Optional[Space] = field(default=None, repr=False)

    @cached_property
    def params(self) -> Dict[str, Any]:
        """The trial's parameters by name (TRIAL_ADDED); {} for other events."""
        return self.space.params(self.point) if self.space and self.point is not None else {}

    @property
    def loss(self) -> float:
        """The loss of the first objective; infinite when there is none."""
        return self.losses[0] if self.losses else float("inf")

    def stop(self, reason: str) -> Decision:
        """Ends the trial that reported this result."""
        return Decision(self.number, Verdict.STOP, reason=reason)

    def pause(self, reason: str) -> Decision:
        """Pauses the trial that reported this result, until Scheduler.resume."""
        return Decision(self.number, Verdict.PAUSE, reason=reason)

    def until(self, iteration: int) -> Decision:
        """The trial continues; results before this iteration need no decision and are not reported."""
        return Decision(self.number, Verdict.CONTINUE, until=iteration)


class CommandKind(enum.IntEnum):
    """The kind of a command."""

    RESUME = 1
    STOP_TRIAL = 2
    EXPLOIT = 3
    RESIZE = 4
    STOP_ALL = 5


@dataclass(frozen=True)
class Command:
    """A command that does not answer a result; Scheduler.resume and similar methods make it."""

    kind: CommandKind
    trial: int
    donor: int = 0
    iteration: int = 0
    point: Optional[Point] = None
    resources: Optional[Mapping[str, Any]] = None
    reason: str = ""


@dataclass(frozen=True)
class Objective:
    """A metric to minimise or to maximise. A smaller loss is better in both cases."""

    metric: str
    maximize: bool


@dataclass(frozen=True)
class Problem:
    """What a searcher or scheduler receives when it is opened."""

    space: Space
    objectives: Sequence[Objective]
    seed: int  #: the plugin's own
    trials: int  #: how many are planned; 0 when unbounded
    concurrency: int  #: how many may run at a time; 0 when not bounded
    request: Mapping[str, Any] = field(default_factory=dict)
    """What each trial requests, in the form of the experiment file: ``{"cpu": "2"}``.
    Empty if it is not known or consists of several bundles."""
    capacity: Mapping[str, Any] = field(default_factory=dict)
    """The total resources when the experiment began, in the same form. Empty if
    another system runs the trials."""


class Status(enum.IntEnum):
    """What a searcher may answer instead of a suggestion."""

    READY = 0
    WAIT = 1
    EXHAUSTED = 2


WAIT = Status.WAIT  #: nothing now; ask again after something has happened
EXHAUSTED = Status.EXHAUSTED  #: nothing ever again

Suggestion = Union[Mapping[str, Any], Point, Status]
"""Params as a dict (missing ones are drawn at random), a point, WAIT or EXHAUSTED."""

Answer = List[Suggestion]


@dataclass
class Request:
    """Asks for one suggestion."""

    trial: int  #: the suggestion's number, from 0 in the order of the requests
    seed: int  #: the only randomness that may be used for it
    point: Optional[Point] = None  #: values that are fixed are not NaN; None: nothing is
    space: Optional[Space] = field(default=None, repr=False)

    @cached_property
    def rng(self) -> Rand:
        """The generator of the request's seed: a random.Random."""
        return Rand(self.seed)

    @cached_property
    def given(self) -> Dict[str, Any]:
        """The fixed values, by name. They replace those of the answer."""
        return self.space.params(self.point) if self.space and self.point is not None else {}
