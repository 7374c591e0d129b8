"""Hyperband by Ray's rules: for time_attr other than training_iteration, fractions, and trials that go on at the end."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Optional, Set, Tuple

from ..trial import Trial
from ._adaptive import Adaptive


class Bracket:
    """Trials that begin together, and halve together at each milestone."""

    def __init__(self, size: int, milestone: float, most: float, factor: float, halvings: int, stops_last: bool) -> None:
        self.size, self.milestone, self.halvings = size, milestone, halvings
        self._most, self._factor, self._stops_last = most, factor, stops_last
        self.live: Dict[str, Tuple[float, float]] = {}  #: time and score by trial
        self.resumes: Set[str] = set()  #: paused ones that train on

    def filled(self) -> bool:
        """Whether no more trials belong to it."""
        return len(self.live) >= self.size

    def done(self) -> bool:
        """Whether all have reached the milestone."""
        return all(time >= self.milestone for time, _ in self.live.values())

    def finished(self) -> bool:
        """Whether the last milestone is reached, and ends it."""
        return self._stops_last and self.halvings == 0 and self.done()

    def goes_on(self, trial: str) -> bool:
        """Whether a trial trains on as it is."""
        if not self._stops_last and self.halvings == 0:
            return True
        return self.live[trial][0] < self.milestone

    def halve(self) -> Tuple[List[str], List[str]]:
        """Begins the next round: the trials that stay, and the others."""
        self.halvings -= 1
        self.size = math.ceil(self.size / self._factor)
        self.milestone = int(min(self.milestone * self._factor, self._most))
        ranked = sorted(self.live, key=lambda t: self.live[t][1])
        return ranked[-self.size :], ranked[: -self.size]


class Hyperband(Adaptive):
    """Brackets that are filled one after the other; within one, a trial waits at a milestone until all are there."""

    max_t: float
    reduction_factor: float
    stop_last_trials: bool
    fewest_first = False  #: the brackets with many trials and small budgets come last
    _bands: Optional[List[List[Optional[Bracket]]]] = None

    def on_trial_add(self, tune_controller: Any, trial: Trial) -> None:
        if self._bands is None:
            self._bands = [[]]
            self._of: Dict[str, Bracket] = {}
            self._count = int(round(math.log(self.max_t) / math.log(self.reduction_factor))) + 1
        bracket = self._bands[-1][-1] if self._bands[-1] else None
        while bracket is None or bracket.filled():
            if len(self._bands[-1]) == self._count:
                self._bands.append([])
            bracket = self._bracket(len(self._bands[-1]))
            self._bands[-1].append(bracket)
        bracket.live[trial.trial_id] = (0.0, -math.inf)
        self._of[trial.trial_id] = bracket

    def _bracket(self, place: int) -> Optional[Bracket]:
        """The bracket at a place of a band; None if its first milestone would be 0."""
        s = self._count - 1 - place if self.fewest_first else place
        size = math.ceil(self._count / (s + 1) * self.reduction_factor**s)
        first = int(self.max_t * self.reduction_factor ** (-s))
        made = Bracket(size, first, self.max_t, self.reduction_factor, s, self.stop_last_trials)
        return made if first else None

    def on_trial_result(self, tune_controller: Any, trial: Trial, result: Dict[str, Any]) -> str:
        score, time = self.score(result), result.get(self.time_attr)
        if time is None:
            raise ValueError(f"a result has no {self.time_attr}, which is time_attr: report it")
        bracket = self._of[trial.trial_id]
        bracket.live[trial.trial_id] = (float(time), -math.inf if score is None else score)
        bracket.resumes.discard(trial.trial_id)
        if bracket.goes_on(trial.trial_id):
            return self.CONTINUE
        return self._process(tune_controller, bracket, trial.trial_id)

    def _process(self, tune_controller: Any, bracket: Bracket, current: str = "") -> str:
        """Halves a bracket whose trials have all reached the milestone."""
        at = f"the milestone {bracket.milestone:g} of {self.time_attr}"
        if not bracket.done():
            self._reason = f"it waits at {at} for the others of its bracket"
            return self.PAUSE
        stays, goes = ([], list(bracket.live)) if bracket.finished() else bracket.halve()
        ended = [t for t in stays if not bracket.goes_on(t) and bracket.finished()]
        for other in [*goes, *ended]:
            del bracket.live[other]
            if other != current:
                tune_controller.request_stop_trial(tune_controller.get_trial(other))
        bracket.resumes.update(t for t in stays if t != current and t not in ended)
        if current in goes or current in ended:
            self._reason = f"it has finished at {at}" if not stays else f"others are better at {at}"
            return self.STOP
        return self.CONTINUE

    def on_trial_complete(self, tune_controller: Any, trial: Trial, result: Dict[str, Any]) -> None:
        self.on_trial_remove(tune_controller, trial)

    def on_trial_remove(self, tune_controller: Any, trial: Trial) -> None:
        bracket = self._of[trial.trial_id]
        left = bracket.live.pop(trial.trial_id, None)
        if left is not None and bracket.live and not bracket.finished() and bracket.halvings:
            self._process(tune_controller, bracket)

    def choose_trial_to_run(self, tune_controller: Any) -> Optional[Trial]:
        for trial in tune_controller.get_trials():
            if trial.status == Trial.PAUSED and trial.trial_id in self._of[trial.trial_id].resumes:
                found: Trial = trial
                return found
        return None
