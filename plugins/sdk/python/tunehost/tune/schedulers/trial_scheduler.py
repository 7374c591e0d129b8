"""The base classes of schedulers."""

from __future__ import annotations

from typing import Any, Dict, Optional

from .._plugin import SERVED, Choice
from ..trial import Trial

__all__ = ["FIFOScheduler", "TrialScheduler"]

HOOKS = (
    "on_trial_add",
    "on_trial_error",
    "on_trial_result",
    "on_trial_complete",
    "on_trial_remove",
    "choose_trial_to_run",
)


class TrialScheduler(Choice):
    """The base class of schedulers of one's own. A subclass is pickled, and runs in a process of its own, which
    tunehost starts and restarts. It is told every event, in order, and again from the beginning after a
    restart if it has no save and restore and cannot be pickled. So its answers must depend only on what it is told,
    and on the modules random and numpy.random, which are seeded."""

    CONTINUE = "CONTINUE"  #: the trial goes on
    PAUSE = "PAUSE"  #: the trial saves a checkpoint and gives its resources to others
    STOP = "STOP"  #: the trial ends
    NOOP = "NOOP"  #: what the scheduler has ordered by the controller counts

    needs_metric = False
    _metric: Optional[str] = None
    _supports_buffered_results = True

    def __init__(self) -> None:
        pass

    @property
    def supports_buffered_results(self) -> bool:
        """Ray's question about buffered results; tunehost sends every result."""
        return self._supports_buffered_results

    def set_search_properties(self, metric: Optional[str], mode: Optional[str], **spec: Any) -> bool:
        """Called once with the metric and mode of TuneConfig; False refuses them."""
        if self._metric and metric:
            return False
        if metric:
            self._metric = metric
        return True

    def on_trial_add(self, tune_controller: Any, trial: Trial) -> None:
        """Called with each new trial."""
        raise NotImplementedError

    def on_trial_error(self, tune_controller: Any, trial: Trial) -> None:
        """Called when a trial has failed finally."""
        raise NotImplementedError

    def on_trial_result(self, tune_controller: Any, trial: Trial, result: Dict[str, Any]) -> str:
        """Called with each result; returns CONTINUE, PAUSE, STOP or NOOP."""
        raise NotImplementedError

    def on_trial_complete(self, tune_controller: Any, trial: Trial, result: Dict[str, Any]) -> None:
        """Called when a trial has ended well or was stopped, with its last result."""
        raise NotImplementedError

    def on_trial_remove(self, tune_controller: Any, trial: Trial) -> None:
        """Called when a trial that was waiting or paused has been taken away."""
        raise NotImplementedError

    def choose_trial_to_run(self, tune_controller: Any) -> Optional[Trial]:
        """Returns the trial that is to run next: one that is PAUSED is resumed. Trials that wait start by themselves,
        in their order."""
        raise NotImplementedError

    def debug_string(self) -> str:
        """One line about the scheduler."""
        return type(self).__name__

    def save(self, checkpoint_path: str) -> None:
        """Writes the state into a file. Without it the object is pickled."""
        raise NotImplementedError

    def restore(self, checkpoint_path: str) -> None:
        """Reads what save wrote."""
        raise NotImplementedError

    def entry(self) -> Dict[str, Any]:
        return {"plugin": SERVED + "scheduler"}

    def served(self) -> Dict[str, Any]:
        return {"scheduler": self}

    def _is_own(self, base: type) -> bool:
        """Whether a subclass of a bundled scheduler has hooks of its own."""
        return any(getattr(type(self), hook) is not getattr(base, hook) for hook in HOOKS)


class FIFOScheduler(TrialScheduler):
    """Lets every trial train to its end. A subclass may override any hook."""

    def on_trial_add(self, tune_controller: Any, trial: Trial) -> None:
        pass

    def on_trial_error(self, tune_controller: Any, trial: Trial) -> None:
        pass

    def on_trial_result(self, tune_controller: Any, trial: Trial, result: Dict[str, Any]) -> str:
        return TrialScheduler.CONTINUE

    def on_trial_complete(self, tune_controller: Any, trial: Trial, result: Dict[str, Any]) -> None:
        pass

    def on_trial_remove(self, tune_controller: Any, trial: Trial) -> None:
        pass

    def choose_trial_to_run(self, tune_controller: Any) -> Optional[Trial]:
        trials = tune_controller.get_trials()
        waiting = next((t for t in trials if t.status == Trial.PENDING), None)
        if waiting is not None or tune_controller._more():
            return waiting
        return next((t for t in trials if t.status == Trial.PAUSED), None)

    def debug_string(self) -> str:
        return f"Using FIFO scheduling algorithm ({type(self).__name__})."

    def entry(self) -> Dict[str, Any]:
        return super().entry() if self._is_own(FIFOScheduler) else {"plugin": "fifo"}

    def served(self) -> Dict[str, Any]:
        return super().served() if self._is_own(FIFOScheduler) else {}
