"""Callbacks: objects that hear what happens to trials."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from .trial import Trial

__all__ = ["Callback"]

Info = Any


class Callback:
    """The base class of callbacks. They run in the process that has called fit, in its main thread, after the fact. For
    an on_trial_result of a subclass a trial waits: what it changes in the result is reported so, and
    result["should_checkpoint"] = True makes the step of a class save a checkpoint. No trial waits for the other hooks, for
    a LoggerCallback, or on another machine than that of the script. After a crash, Tuner.restore(…) goes on with the first
    event that they have not heard; state that get_state returns is kept. An exception ends the experiment.

    iteration counts the events, trials are all trials so far. trial.path is the trial's directory.
    """

    reporter: Optional[str] = None  #: the reporter of tunehost that it is, if it need not be called

    def setup(
        self,
        stop: Any = None,
        num_samples: Optional[int] = None,
        total_num_samples: Optional[int] = None,
        **info: Info,
    ) -> None:
        """Called before anything else."""

    def on_step_begin(self, iteration: int, trials: List[Trial], **info: Info) -> None:
        """Called before each event."""

    def on_step_end(self, iteration: int, trials: List[Trial], **info: Info) -> None:
        """Called after each event."""

    def on_trial_start(self, iteration: int, trials: List[Trial], trial: Trial, **info: Info) -> None:
        """Called when a trial starts, also again."""

    def on_trial_restore(self, iteration: int, trials: List[Trial], trial: Trial, **info: Info) -> None:
        """Called when a trial starts from a checkpoint."""

    def on_trial_save(self, iteration: int, trials: List[Trial], trial: Trial, **info: Info) -> None:
        """Called when a checkpoint of a trial is safe."""

    def on_trial_result(
        self, iteration: int, trials: List[Trial], trial: Trial, result: Dict[str, Any], **info: Info
    ) -> None:
        """Called with each result."""

    def on_trial_complete(self, iteration: int, trials: List[Trial], trial: Trial, **info: Info) -> None:
        """Called when a trial has ended well, or was stopped."""

    def on_trial_recover(self, iteration: int, trials: List[Trial], trial: Trial, **info: Info) -> None:
        """Called when a trial has failed and will run again."""

    def on_trial_error(self, iteration: int, trials: List[Trial], trial: Trial, **info: Info) -> None:
        """Called when a trial has failed finally."""

    def on_checkpoint(
        self, iteration: int, trials: List[Trial], trial: Trial, checkpoint: Any, **info: Info
    ) -> None:
        """Called with each checkpoint."""

    def on_experiment_end(self, trials: List[Trial], **info: Info) -> None:
        """Called at the end."""

    def get_state(self) -> Optional[Dict[str, Any]]:
        """What Tuner.restore must give back; None: nothing."""
        return None

    def set_state(self, state: Dict[str, Any]) -> None:
        """Takes what get_state returned."""
