"""Search algorithms: what makes whole trials, as Ray has them around its searchers."""

from __future__ import annotations

import copy
from typing import Any, Dict, List, Mapping, Optional

from ..experiment import listed
from ..trial import Trial
from ._around import Around, own
from .searcher import Searcher


class SearchAlgorithm(Searcher):
    """The base class of search algorithms of one's own: implement next_trial, which returns a Trial with its config, or
    None when there is none yet; is_finished says that none will come. It runs as a Searcher does."""

    _finished = False

    @property
    def total_samples(self) -> int:
        """How many trials it will make; 0: not known."""
        return 0

    def add_configurations(self, experiments: Any) -> None:
        """Called once before next_trial, with {NAME: {"run": NAME, "config": param_space}}."""
        raise NotImplementedError(f"{type(self).__name__} has no method add_configurations")

    def next_trial(self) -> Optional[Trial]:
        """The next trial; None: there is none now."""
        raise NotImplementedError(f"{type(self).__name__} has no method next_trial")

    def on_trial_complete(self, trial_id: str, result: Optional[Dict[str, Any]] = None, error: bool = False) -> None:
        """Called at the end of a trial, with its last result; error: it has failed."""

    def is_finished(self) -> bool:
        """Whether no more trials will come."""
        return self._finished

    def set_finished(self) -> None:
        """No more trials will come."""
        self._finished = True

    def has_checkpoint(self, dirpath: str) -> bool:
        """Whether save_to_dir has written into a directory."""
        return False

    def served(self) -> Dict[str, Any]:
        return {"searcher": _Algorithm(self)}

    def set_search_properties(
        self, metric: Optional[str], mode: Optional[str], config: Dict[str, Any], **spec: Any
    ) -> bool:
        self._metric, self._mode = self._metric or metric, self._mode or mode
        self._space = config
        return True


class _Algorithm(Searcher):
    """A search algorithm as a searcher. It has ids of its own for its trials."""

    def __init__(self, algorithm: SearchAlgorithm) -> None:
        super().__init__(algorithm.metric, algorithm.mode)
        self.algorithm = algorithm
        self._ids: Dict[str, str] = {}
        self._begun = False

    def take_back(self, state: Dict[str, Any]) -> None:
        """Gives the user's algorithm the state that it had at the end."""
        vars(self.algorithm).update(vars(state["algorithm"]))
        self._ids = state["_ids"]

    def suggest(self, trial_id: str) -> Any:
        if not self._begun:
            self._begun = True
            spec = {"run": "trainable", "config": getattr(self.algorithm, "_space", {})}
            self.algorithm.add_configurations({"trainable": spec})
        trial = None if self.algorithm.is_finished() else self.algorithm.next_trial()
        if trial is None:
            return Searcher.FINISHED if self.algorithm.is_finished() else None
        self._ids[trial_id] = trial.trial_id
        return trial.config

    def on_trial_result(self, trial_id: str, result: Dict[str, Any]) -> None:
        self.algorithm.on_trial_result(self._ids[trial_id], result)

    def on_trial_complete(self, trial_id: str, result: Optional[Dict[str, Any]] = None, error: bool = False) -> None:
        self.algorithm.on_trial_complete(self._ids[trial_id], result=result, error=error)


class SearchGenerator(Around, SearchAlgorithm):
    """A searcher as a search algorithm: TuneConfig(search_alg=…) takes it as it takes the searcher."""

    CKPT_FILE_TMPL = "search_gen_state-{}.json"

    def __init__(self, searcher: Searcher) -> None:
        if not isinstance(searcher, Searcher):
            raise TypeError(f"SearchGenerator({searcher!r:.60}): expected a Searcher")
        super().__init__(searcher)
        self._configs: List[Mapping[str, Any]] = []
        self._made = 0
        self._total = 0

    @property
    def total_samples(self) -> int:
        return self._total

    def add_configurations(self, experiments: Any) -> None:
        """Takes experiments whose trials next_trial makes: an Experiment, a list of them, or dicts by names."""
        for experiment in listed(experiments):
            self._configs.append(experiment.arguments.get("config") or {})
            self._total += int(experiment.arguments.get("num_samples", 1))

    def next_trial(self) -> Optional[Trial]:
        if self.is_finished() or self._made >= self._total:
            self.set_finished()
            return None
        return self.create_trial_if_possible({"config": self._configs[0]})

    def create_trial_if_possible(self, experiment_spec: Mapping[str, Any]) -> Optional[Trial]:
        """The next trial of an experiment; None: the searcher has none now."""
        trial = Trial("trainable")
        config = own(self.searcher).suggest(trial.trial_id)
        if config == Searcher.FINISHED:
            self.set_finished()
        if not isinstance(config, Mapping):
            return None
        self._made += 1
        trial.set_config({**copy.deepcopy(dict(experiment_spec.get("config", {}))), **config})
        return trial

    def on_trial_complete(self, trial_id: str, result: Optional[Dict[str, Any]] = None, error: bool = False) -> None:
        own(self.searcher).on_trial_complete(trial_id, result=result, error=error)

    def set_search_properties(
        self, metric: Optional[str], mode: Optional[str], config: Dict[str, Any], **spec: Any
    ) -> bool:
        return Around.set_search_properties(self, metric, mode, config, **spec)

    def served(self) -> Dict[str, Any]:
        return Around.served(self)
