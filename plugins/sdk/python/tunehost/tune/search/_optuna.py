"""Optuna itself as a searcher, for what tunehost's own does not have: samplers, spaces that a function defines, a
storage of Optuna's. It needs the library optuna."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence

from ..error import TuneError
from ..sample import Categorical, Domain
from ._libraries import installed
from .searcher import Searcher


class Study(Searcher):
    """A study of Optuna, in a process of its own."""

    def __init__(
        self,
        space: Any,
        metric: Any,
        mode: Any,
        points: Optional[Sequence[Mapping[str, Any]]],
        sampler: Any,
        study_name: Optional[str],
        storage: Any,
        seed: Optional[int],
        rewards: Optional[Sequence[float]] = None,
    ) -> None:
        if not installed("optuna"):
            raise TuneError("OptunaSearch needs the library optuna for these arguments: pip install optuna")
        super().__init__(metric, mode)
        self._space, self._points, self._sampler = space, list(points or ()), sampler
        self._name, self._storage, self._seed = study_name, storage, seed
        self._known: List[Dict[str, Any]] = []  # points that were measured elsewhere
        if rewards is not None:
            if len(rewards) != len(self._points):
                raise ValueError(f"{len(rewards)} evaluated_rewards are given for {len(self._points)} points")
            for point, reward in zip(self._points, rewards):
                self.add_evaluated_point(dict(point), reward)
            self._points = []
        self._study: Any = None
        self._asked: Dict[str, Any] = {}
        if not callable(space) and space is not None and not isinstance(space, Mapping):
            raise TuneError(f"the space is {space!r:.60}: expected a function of an Optuna trial, or a dict of distributions")

    def set_search_properties(self, metric: Any, mode: Any, config: Dict[str, Any], **spec: Any) -> bool:
        self._metric, self._mode = self._metric or metric, self._mode or mode
        if self._space is None:
            self._space = {name: value for name, value in config.items() if isinstance(value, Domain)}
        return True

    def _begun(self) -> Any:
        """The study; it exists in the process that suggests only."""
        if self._study is None:
            import optuna

            modes = [self._mode] if isinstance(self._mode, str) else list(self._mode)
            to = optuna.study.StudyDirection
            names = [to.MINIMIZE if m == "min" else to.MAXIMIZE for m in modes]
            several = len(names) > 1
            sampler = self._sampler
            if sampler is None:
                sampler = (optuna.samplers.NSGAIISampler if several else optuna.samplers.TPESampler)(seed=self._seed)
            self._study = optuna.create_study(
                storage=self._storage,
                sampler=sampler,
                study_name=self._name,
                directions=names,
                load_if_exists=True,
            )
            for point in self._points:
                self._study.enqueue_trial(dict(point))
            if not callable(self._space):
                self._distributions = {name: _distribution(d) for name, d in self._space.items()}
                for known in self._known:
                    self._study.add_trial(self._measured(**known))
        return self._study

    def suggest(self, trial_id: str) -> Any:
        study = self._begun()
        if callable(self._space):
            trial = study.ask()
            constants: Any = self._space(trial)
            config = {**trial.params, **(constants or {})}
        else:
            trial = study.ask(fixed_distributions=self._distributions)
            config = dict(trial.params)
        self._asked[trial_id] = trial
        return config

    def _values(self, result: Mapping[str, Any]) -> List[float]:
        names = [self._metric] if isinstance(self._metric, str) else list(self._metric)
        return [float(result[name]) for name in names]

    def on_trial_result(self, trial_id: str, result: Dict[str, Any]) -> None:
        if isinstance(self._metric, str):
            self._asked[trial_id].report(self._values(result)[0], step=int(result["training_iteration"]))

    def on_trial_complete(self, trial_id: str, result: Optional[Dict[str, Any]] = None, error: bool = False) -> None:
        import optuna

        trial = self._asked.pop(trial_id)
        if error or not result:
            self._begun().tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            self._begun().tell(trial, self._values(result))

    def add_evaluated_point(
        self,
        parameters: Dict[str, Any],
        value: float,
        error: bool = False,
        pruned: bool = False,
        intermediate_values: Optional[List[float]] = None,
    ) -> None:
        if callable(self._space):
            raise TypeError("evaluated_rewards need a space with distributions, and this one is a function")
        given = {"parameters": dict(parameters), "value": value, "error": error, "pruned": pruned}
        self._known.append({**given, "intermediate_values": intermediate_values})

    def _measured(
        self, parameters: Dict[str, Any], value: float, error: bool, pruned: bool, intermediate_values: Any
    ) -> Any:
        """A finished trial of Optuna."""
        import optuna

        states = optuna.trial.TrialState
        return optuna.trial.create_trial(
            state=states.FAIL if error else states.PRUNED if pruned else states.COMPLETE,
            value=None if error else value,
            params=parameters,
            distributions={name: d for name, d in self._distributions.items() if name in parameters},
            intermediate_values=dict(enumerate(intermediate_values)) if intermediate_values else None,
        )


def _distribution(given: Any) -> Any:
    """A domain as a distribution of Optuna; a distribution as it is."""
    import optuna

    if not isinstance(given, Domain):
        return given
    if isinstance(given, Categorical):
        return optuna.distributions.CategoricalDistribution(given.categories)
    form = given.form()
    for kind, log in (("uniform", False), ("loguniform", True)):
        if kind in form:
            low, high = form[kind]
            step = None if log else form.get("step")
            return optuna.distributions.FloatDistribution(low, high, log=log, step=step)
    if "int" in form:
        low, high = form["int"]
        log = bool(form.get("log"))
        return optuna.distributions.IntDistribution(low, high, log=log, step=1 if log else int(form.get("step", 1)))
    raise TuneError(f"{given!r:.60} has no distribution in Optuna: give another domain")
