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
    """The kind of an event.

    A trial has these events, in this order:

    TRIAL_ADDED: it exists; params and point are set.
    TRIAL_STARTED: it runs, for the first time or again; attempt counts the starts.
    RESULT_REPORTED: it has reported; iteration, losses, seconds and, if asked for, metrics are set.
    CHECKPOINT_SAVED: a checkpoint of it is complete; iteration is set. Only schedulers are told.
    TRIAL_PAUSED: it does not run any more and may continue later, with TRIAL_STARTED.

    And one of these at its end:

    TRIAL_COMPLETED: it ended well or was stopped; losses are its last, () if it never reported.
    TRIAL_FAILED: it ended with an error and is not tried again.
    TRIAL_REMOVED: it ended while it was waiting or paused.

    A trial that failed and is tried again starts without an event before it: TRIAL_REQUEUED is for reporters. Trials
    run at the same time, so the events of one are mixed with those of others. Of the experiment:

    SEARCH_ENDED: the searcher suggests no more trials, so that a scheduler need not wait for others; only schedulers
    are told.
    EXPERIMENT_ENDED: no more events follow.
    """

    TRIAL_ADDED = 1
    TRIAL_STARTED = 2
    RESULT_REPORTED = 3
    TRIAL_PAUSED = 4
    TRIAL_COMPLETED = 5
    TRIAL_FAILED = 6
    TRIAL_REMOVED = 7
    CHECKPOINT_SAVED = 8
    TRIAL_REQUEUED = 9
    EXPERIMENT_ENDED = 10
    SEARCH_ENDED = 11


class ReportedKind(enum.IntEnum):
    """The kind of an event for reporters.

    EXPERIMENT_STARTED: a host runs it; resumed says that an earlier one had begun.
    TRIAL_ADDED: a trial exists.
    TRIAL_STARTED: it runs; restored is the iteration of the checkpoint from which, or 0.
    RESULT_REPORTED: it has reported; result is set.
    CHECKPOINT_SAVED: a checkpoint of it is complete; iteration is set.
    TRIAL_PAUSED: it does not run any more and may continue later.
    TRIAL_REQUEUED: it will run again, after a failure or an interruption.
    TRIAL_COMPLETED: it ended well or was stopped.
    TRIAL_FAILED: it ended with an error and is not tried again.
    TRIAL_REMOVED: it ended while it was not running.
    EXPERIMENT_ENDED: no host runs it any more; reason is finished, stopped, interrupted or failed.
    """

    EXPERIMENT_STARTED = 1
    EXPERIMENT_ENDED = 2
    TRIAL_ADDED = 3
    TRIAL_STARTED = 4
    RESULT_REPORTED = 5
    TRIAL_PAUSED = 6
    CHECKPOINT_SAVED = 7
    TRIAL_COMPLETED = 8
    TRIAL_FAILED = 9
    TRIAL_REQUEUED = 10
    TRIAL_REMOVED = 11


@dataclass
class ReporterEvent:
    """Something that happened, with all that a reporter needs. Its kind determines which fields are set.

    number: from 1, increasing, with gaps.
    kind: a ReportedKind; a later host may know more kinds, which a reporter ignores.
    time: seconds since 1970.
    trial: of a trial, after the event: number, id, dir, state, attempt, params and error.
    result: of RESULT_REPORTED: metrics, values (that are no numbers), totals, iteration, done, time_total_s,
        time_this_iter_s, pid, host, restored, iterations_since_restore, time_since_restore and again: whether the trial had reported
        this iteration before, and reports it once more since it continues from an earlier checkpoint.
    iteration: of CHECKPOINT_SAVED.
    restored: of TRIAL_STARTED: the iteration of the checkpoint from which it continues; 0: from none.
    resumed: of EXPERIMENT_STARTED: an earlier host had begun it.
    reason: why it happened, for people; of EXPERIMENT_ENDED, see there.
    """

    number: int
    kind: Union[ReportedKind, int]
    time: float = 0.0
    trial: Mapping[str, Any] = field(default_factory=dict)
    result: Mapping[str, Any] = field(default_factory=dict)
    iteration: int = 0
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
    """One event. Its kind determines which fields are set; see EventKind for the order of events.

    number: its place in the history, from 1, increasing, with gaps for events that only others receive.
    kind: an EventKind; a later host may know more kinds, which a plugin ignores.
    trial: the trial's number, from 0. Trials of other experiments, which a searcher may be told first
        (learn_from), count from 4294967295 downwards.
    attempt: counts the starts of the trial, from 1.
    iteration: of the result, from 1.
    point: the trial's parameters as a point (TRIAL_ADDED).
    losses: one for each objective; smaller is better, whatever the objective's mode. Never NaN: a value that is
        missing, NaN or infinite is +inf.
    metrics: the reported numbers by name, only if the plugin has set metrics = True.
    seconds: the trial's own training time so far.
    reason: why the trial ended, for people.
    space: the problem's space.
    seconds_told: whether all of seconds was told by the caller of ask and tell, and nothing of it measured, so that
        the same requests give the same seconds.
    again: a restarted trial reports this iteration once more; only plugins with again = True are told such results.
    """

    number: int
    kind: Union[EventKind, int]
    trial: int = 0
    attempt: int = 0
    iteration: int = 0
    point: Optional[Point] = None
    losses: Sequence[float] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    reason: str = ""
    space: Optional[Space] = field(default=None, repr=False)
    seconds_told: bool = False
    again: bool = False

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
    """A metric to minimise or to maximise. A smaller loss is better in both cases.

    metric: its name.
    maximize: whether larger values are better; its loss is then the negative value.
    """

    metric: str
    maximize: bool


@dataclass(frozen=True)
class Problem:
    """What a searcher or scheduler receives when it is opened.

    space: the parameters and the constraints.
    objectives: at least one.
    seed: the plugin's own.
    trials: how many are planned; 0: no number is set.
    concurrency: how many may run at a time; 0: no number is set.
    request: what each trial requests, in the form of the experiment file: {"cpu": "2"}. Empty if it is not known or
        consists of several bundles.
    capacity: the total resources when the experiment began, in the same form. Empty if another system runs the
        trials.
    """

    space: Space
    objectives: Sequence[Objective]
    seed: int
    trials: int
    concurrency: int
    request: Mapping[str, Any] = field(default_factory=dict)
    capacity: Mapping[str, Any] = field(default_factory=dict)


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
    """Asks for one suggestion.

    trial: the suggestion's number, from 0 in the order of the requests.
    seed: the only randomness that may be used for it; rng is a generator made from it.
    point: the values that are fixed, NaN for the others; None: nothing is fixed. given has them by name.
    space: the problem's space.
    """

    trial: int
    seed: int
    point: Optional[Point] = None
    space: Optional[Space] = field(default=None, repr=False)

    @cached_property
    def rng(self) -> Rand:
        """The generator of the request's seed: a random.Random."""
        return Rand(self.seed)

    @cached_property
    def given(self) -> Dict[str, Any]:
        """The fixed values, by name. They replace those of the answer."""
        return self.space.params(self.point) if self.space and self.point is not None else {}
