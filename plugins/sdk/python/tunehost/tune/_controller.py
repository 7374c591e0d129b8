"""What schedulers of a user see of the experiment: Ray's TuneController, as far as a scheduler needs it."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional

from .trial import Trial


class Capacity:
    """How much of each resource there is in all."""

    def __init__(self, amounts: Mapping[str, Any]) -> None:
        self._amounts = amounts

    def get_num_cpus(self) -> float:
        """The CPUs."""
        return float(self._amounts.get("cpu", 0))

    def get_num_gpus(self) -> float:
        """The GPUs."""
        return float(self._amounts.get("gpu", 0))


class Controller:
    """The trials so far, and orders about them."""

    def __init__(self, planned: int, capacity: Mapping[str, Any]) -> None:
        self._trials: Dict[int, Trial] = {}
        self._planned = planned  #: how many trials will come; 0: not known
        self._all_added = False  #: the searcher has no more to suggest
        self._capacity = dict(capacity)
        self._stops: Dict[int, str] = {}  #: orders to stop, with their reasons
        self._pauses: Dict[int, str] = {}
        self._ends: str = ""  #: the order to end the experiment
        self.search_alg: Any = None  #: the searcher is another plugin

    @property
    def _resource_updater(self) -> Capacity:
        """Ray's object that knows how much there is."""
        return Capacity(self._capacity)

    def get_trials(self) -> List[Trial]:
        """All trials so far, in their order."""
        return list(self._trials.values())

    @property
    def trials(self) -> List[Trial]:
        """The same."""
        return self.get_trials()

    def get_live_trials(self) -> List[Trial]:
        """The trials that have not ended."""
        return [t for t in self._trials.values() if not t.is_finished()]

    def get_trial(self, tid: str) -> Optional[Trial]:
        """A trial by its id."""
        return next((t for t in self._trials.values() if t.trial_id == tid), None)

    def is_finished(self) -> bool:
        """Whether all trials have ended and no more will come."""
        return not self._more() and not self.get_live_trials()

    def has_resources_for_trial(self, trial: Trial) -> bool:
        """Always true: tunehost starts a trial when there is room for it."""
        return True

    def request_stop_trial(self, trial: Trial) -> None:
        """Ends a trial: one that runs after its next result."""
        self._stops[trial.number] = "its scheduler has stopped it"

    stop_trial = request_stop_trial

    def pause_trial(self, trial: Trial, should_checkpoint: bool = True) -> None:
        """Pauses a trial after its present result, or after its next one."""
        self._pauses[trial.number] = "its scheduler has paused it"

    def request_stop_experiment(self) -> None:
        """Ends the experiment."""
        self._ends = "the scheduler has ended it"

    def _more(self) -> bool:
        """Whether trials will be added."""
        return not self._all_added and (self._planned <= 0 or len(self._trials) < self._planned)
