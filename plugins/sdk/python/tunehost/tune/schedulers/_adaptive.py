"""Schedulers with Ray's own rules, for arguments that those of tunehost do not have: another time_attr than
training_iteration, fractions, pauses. They run as schedulers of a user do."""

from __future__ import annotations

import math
import random
from typing import Any, Dict, List, Optional, Set, Tuple

from .._means import mean
from ..trial import Trial
from .trial_scheduler import FIFOScheduler, TrialScheduler


def check_numbers(**arguments: Any) -> None:
    """ValueError names an argument that is no number."""
    for name, value in arguments.items():
        if isinstance(value, (str, bytes, bool)) or not hasattr(value, "__float__"):
            raise ValueError(f"{name} is {value!r:.60}: expected a number")


class Adaptive(TrialScheduler):
    """What they have in common. A subclass is one of tunehost's if native returns its options, and if no hook of it
    was overridden."""

    needs_metric = True
    without_effect: str = ""  #: why it decides nothing, once a result has shown it

    def __init__(self, time_attr: str, metric: Optional[str], mode: Optional[str]) -> None:
        if mode not in (None, "min", "max"):
            raise ValueError(f"mode is {mode!r}: expected min or max")
        self.time_attr: str
        self.time_attr, self.metric, self.mode = time_attr, metric, mode
        self._reason = ""

    def native(self) -> Optional[Dict[str, Any]]:
        """The scheduler of tunehost and its options; None: its own rules are needed."""
        raise NotImplementedError

    def _chosen(self) -> Optional[Dict[str, Any]]:
        base = next(c for c in type(self).__mro__ if c.__module__.startswith("tunehost."))
        return None if self._is_own(base) else self.native()

    def entry(self) -> Dict[str, Any]:
        return self._chosen() or super().entry()

    def served(self) -> Dict[str, Any]:
        return {} if self._chosen() else super().served()

    def set_search_properties(self, metric: Optional[str], mode: Optional[str], **spec: Any) -> bool:
        self.metric, self.mode = self.metric or metric, self.mode or mode
        self.without_effect = ""  # it may have been said of an experiment before
        return True

    def score(self, result: Dict[str, Any]) -> Optional[float]:
        """The value of a result, larger is better; None if it has none."""
        value = result.get(self.metric or "")
        if value is None or math.isnan(value):
            return None
        return float(value if self.mode == "max" else -value)

    def time(self, result: Dict[str, Any]) -> Any:
        """The time_attr of a result, or None, of which it warns once: such results decide nothing."""
        found = result.get(self.time_attr)
        if found is None and not self.without_effect:
            self.without_effect = (
                f"time_attr={self.time_attr!r} of the scheduler has no effect on results without it; they have "
                f"{', '.join(sorted(map(str, result)))}"
            )
            from ... import _log

            _log.log.warning(self.without_effect)
        return found

    def text(self, score: float) -> str:
        """A score as the metric's value."""
        return f"{self.metric} {score if self.mode == 'max' else -score:.6g}"

    def on_trial_add(self, tune_controller: Any, trial: Trial) -> None:
        pass

    def on_trial_error(self, tune_controller: Any, trial: Trial) -> None:
        self.on_trial_remove(tune_controller, trial)

    def on_trial_complete(self, tune_controller: Any, trial: Trial, result: Dict[str, Any]) -> None:
        pass

    def on_trial_remove(self, tune_controller: Any, trial: Trial) -> None:
        pass

    def choose_trial_to_run(self, tune_controller: Any) -> Optional[Trial]:
        return FIFOScheduler.choose_trial_to_run(self, tune_controller)  # type: ignore[arg-type]


Rung = Tuple[float, Dict[str, float]]


class AsynchronousHalving(Adaptive):
    """A trial stops at a milestone if it is worse than all but the best fraction of those that were there before."""

    max_t: float
    grace_period: float
    reduction_factor: float
    brackets: int
    stop_last_trials: bool
    _rungs: Optional[List[List[Rung]]] = None  #: of each bracket, the highest first

    def _begin(self) -> List[List[Rung]]:
        factor, grace = self.reduction_factor, self.grace_period
        most = math.log(self.max_t / grace) / math.log(factor)
        self._of: Dict[str, List[Rung]] = {}
        return [
            [(grace * factor ** (k + s), {}) for k in reversed(range(int(most - s + 1)))] for s in range(self.brackets)
        ]

    def on_trial_add(self, tune_controller: Any, trial: Trial) -> None:
        if self._rungs is None:
            self._rungs = self._begin()
        largest = max(len(rungs) for rungs in self._rungs)
        weights = [math.e ** (len(rungs) - largest) for rungs in self._rungs]
        self._of[trial.trial_id] = random.choices(self._rungs, weights)[0]

    def on_trial_result(self, tune_controller: Any, trial: Trial, result: Dict[str, Any]) -> str:
        score, time = self.score(result), self.time(result)
        if score is None or time is None:
            return self.CONTINUE
        if time >= self.max_t and self.stop_last_trials:
            self._reason = f"finished: max_t is {self.max_t:g} of {self.time_attr}"
            return self.STOP
        return self.STOP if self._falls(trial, time, score) else self.CONTINUE

    def on_trial_complete(self, tune_controller: Any, trial: Trial, result: Dict[str, Any]) -> None:
        score, time = self.score(result), result.get(self.time_attr)
        if score is not None and time is not None:
            self._falls(trial, time, score)

    def _falls(self, trial: Trial, time: float, score: float) -> bool:
        """Whether the trial is too bad at the highest milestone that it has newly reached."""
        for milestone, scores in self._of[trial.trial_id]:
            if time < milestone:
                continue
            if trial.trial_id in scores:
                if not self.stop_last_trials:
                    return False
                continue
            worst = _percentile(list(scores.values()), 1 - 1 / self.reduction_factor)
            scores[trial.trial_id] = score
            falls = worst is not None and score < worst
            if falls and worst is not None:
                self._reason = f"{self.text(score)} at {time:g} of {self.time_attr} is worse than {self.text(worst)}"
            return falls
        return False


def _percentile(values: List[float], share: float) -> Optional[float]:
    """The value below which a share of the values is, linear between two of them; None if there is none."""
    if not values:
        return None
    values = sorted(values)
    place = share * (len(values) - 1)
    low = math.floor(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


class MedianRule(Adaptive):
    """A trial stops, or is paused, if its best result is worse than the median of the means of the others."""

    grace_period: float
    min_samples_required: int
    min_time_slice: float
    hard_stop: bool
    _results: Optional[Dict[str, List[Tuple[float, float]]]] = None  #: times and scores by trial

    def __init__(self, time_attr: str, metric: Optional[str], mode: Optional[str]) -> None:
        super().__init__(time_attr, metric, mode)
        self._fallen: Set[str] = set()
        self._paused_at: Dict[str, float] = {}

    def on_trial_result(self, tune_controller: Any, trial: Trial, result: Dict[str, Any]) -> str:
        if self._results is None:
            self._results = {}
        score, time = self.score(result), self.time(result)
        if score is None or time is None or trial.trial_id in self._fallen:
            return self.CONTINUE
        mine = self._results.setdefault(trial.trial_id, [])
        mine.append((time, score))
        if time < self.grace_period:
            return self.CONTINUE
        means = self._means(trial.trial_id, time)
        if len(means) < self.min_samples_required:
            return self._yield(tune_controller, trial, time)
        median, best = _percentile(means, 0.5), max(s for _, s in mine)
        if median is None or best >= median:
            return self.CONTINUE
        self._fallen.add(trial.trial_id)
        self._reason = f"its best {self.text(best)} is worse than the median {self.text(median)} of {len(means)} trials"
        return self.STOP if self.hard_stop else self.PAUSE

    def _means(self, but: str, time: float) -> List[float]:
        """The mean of each trial that has come as far, of its scores up to then."""
        found = []
        for trial, results in (self._results or {}).items():
            if trial == but or results[-1][0] < time:
                continue
            scores = [s for at, s in results if self.grace_period <= at <= time]
            middle = mean(scores) if scores else math.nan
            if math.isfinite(middle):
                found.append(middle)
        return found

    def _yield(self, tune_controller: Any, trial: Trial, time: float) -> str:
        """Makes room for trials that wait, if it has had its share."""
        waits = any(t.status in (Trial.PENDING, Trial.PAUSED) for t in tune_controller.get_live_trials())
        if not self.min_time_slice or not waits:
            return self.CONTINUE
        if time - self._paused_at.get(trial.trial_id, -math.inf) <= self.min_time_slice:
            return self.CONTINUE
        self._paused_at[trial.trial_id] = time
        self._reason = "it makes room for others, as there are too few to compare it with"
        return self.PAUSE
