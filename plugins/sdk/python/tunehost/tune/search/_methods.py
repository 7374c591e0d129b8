"""Searchers that Ray takes from other libraries. Their methods are tunehost's own here."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Sequence, Union

from .._plugin import refuse
from ..error import Unsupported
from . import Method, Points
from ._optuna import Study

_Metric = Union[None, str, Sequence[str]]


class OptunaSearch(Method):
    """Bayesian search with tree-structured Parzen estimators, as Optuna's default: tunehost's `tpe`; with several
    metrics `nsga2`. With a sampler, a storage, a study_name, or a space that is a function or has distributions, it is
    Optuna itself, whose library must be installed, in a process of its own."""

    def __init__(
        self,
        space: Any = None,
        metric: _Metric = None,
        mode: _Metric = None,
        points_to_evaluate: Points = None,
        sampler: Any = None,
        study_name: Optional[str] = None,
        storage: Any = None,
        seed: Optional[int] = None,
        evaluated_rewards: Any = None,
    ) -> None:
        refuse(
            "OptunaSearch",
            {"evaluated_rewards": None},
            {"evaluated_rewards": evaluated_rewards},
            {"evaluated_rewards": "the values of points are measured again"},
        )
        several = metric is not None and not isinstance(metric, str) and len(metric) > 1
        library = any(given is not None for given in (space, sampler, study_name, storage))
        self._study: Optional[Study] = None
        if library:
            self._study = Study(space, metric, mode, points_to_evaluate, sampler, study_name, storage, seed)
            points_to_evaluate = None
        super().__init__("nsga2" if several else "tpe", {"repeats": True}, metric, mode, points_to_evaluate, seed)

    def entry(self) -> Dict[str, Any]:
        return self._study.entry() if self._study else super().entry()

    def served(self) -> Dict[str, Any]:
        return self._study.served() if self._study else {}

    def set_search_properties(self, metric: Any, mode: Any, config: Dict[str, Any], **spec: Any) -> bool:
        return self._study is not None and self._study.set_search_properties(metric, mode, config, **spec)


class HyperOptSearch(Method):
    """Tree-structured Parzen estimators: tunehost's `tpe`."""

    def __init__(
        self,
        space: Any = None,
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        points_to_evaluate: Points = None,
        n_initial_points: int = 20,
        random_state_seed: Optional[int] = None,
        gamma: float = 0.25,
    ) -> None:
        super().__init__(
            "tpe",
            {"startup": n_initial_points, "gamma": gamma, "repeats": True},
            metric,
            mode,
            points_to_evaluate,
            random_state_seed,
            space,
        )


class BayesOptSearch(Method):
    """A Gaussian process: tunehost's `gp`. Choices and integers are allowed here."""

    def __init__(
        self,
        space: Any = None,
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        points_to_evaluate: Points = None,
        utility_kwargs: Optional[Mapping[str, Any]] = None,
        random_state: int = 42,
        random_search_steps: int = 10,
        verbose: int = 0,
        patience: int = 5,
        skip_duplicate: bool = True,
        analysis: Any = None,
        repeat_float_precision: int = 5,
    ) -> None:
        refuse(
            "BayesOptSearch",
            {"utility_kwargs": None, "analysis": None},
            {"utility_kwargs": utility_kwargs, "analysis": analysis},
            {
                "utility_kwargs": "gp suggests the largest expected improvement",
                "analysis": "name the directories of other experiments with learn_from in the experiment file",
            },
        )
        refuse(
            "BayesOptSearch",
            {"verbose": 0, "patience": 5, "skip_duplicate": True, "repeat_float_precision": 5},
            {
                "verbose": verbose,
                "patience": patience,
                "skip_duplicate": skip_duplicate,
                "repeat_float_precision": repeat_float_precision,
            },
            dict.fromkeys(
                ("verbose", "patience", "skip_duplicate", "repeat_float_precision"),
                "gp does not try the same point twice; leave it out",
            ),
        )
        super().__init__(
            "gp", {"startup": random_search_steps}, metric, mode, points_to_evaluate, random_state, space
        )


class TuneBOHB(Method):
    """BOHB's searcher, for the scheduler HyperBandForBOHB: tunehost's `bohb`. bohb_config may have min_points_in_model
    left out, top_n_percent, num_samples, random_fraction and bandwidth_factor."""

    _OPTIONS = {
        "top_n_percent": "good",
        "num_samples": "candidates",
        "random_fraction": "random",
        "bandwidth_factor": "bandwidth_factor",
    }

    def __init__(
        self,
        space: Any = None,
        bohb_config: Optional[Mapping[str, Any]] = None,
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        points_to_evaluate: Points = None,
        seed: Optional[int] = None,
        max_concurrent: int = 0,
    ) -> None:
        options: Dict[str, Any] = {"repeats": True}
        for name, value in (bohb_config or {}).items():
            if name not in self._OPTIONS:
                raise Unsupported(f"TuneBOHB(bohb_config={{{name!r}: …}}) is not supported: leave it out")
            options[self._OPTIONS[name]] = value / 100 if name == "top_n_percent" else value
        super().__init__("bohb", options, metric, mode, points_to_evaluate, seed, space, max_concurrent)


class AxSearch(Method):
    """A Gaussian process: tunehost's `gp`. The arguments of an Ax client are not supported."""

    def __init__(
        self,
        space: Any = None,
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        points_to_evaluate: Points = None,
        parameter_constraints: Optional[Sequence[Any]] = None,
        outcome_constraints: Optional[Sequence[Any]] = None,
        ax_client: Any = None,
        **ax_kwargs: Any,
    ) -> None:
        refuse(
            "AxSearch",
            {"parameter_constraints": None, "outcome_constraints": None, "ax_client": None},
            {
                "parameter_constraints": parameter_constraints or None,
                "outcome_constraints": outcome_constraints or None,
                "ax_client": ax_client,
            },
            {
                "parameter_constraints": "write `constraints` in an experiment file (Tuner.to_yaml() shows it)",
                "outcome_constraints": "make the constraint a metric, and pass several metrics",
                "ax_client": "the searcher is tunehost's own",
            },
        )
        if ax_kwargs:
            raise Unsupported(f"AxSearch({next(iter(ax_kwargs))}=…) is not supported: the searcher is tunehost's own")
        super().__init__("gp", {}, metric, mode, points_to_evaluate, None, space)


class HEBOSearch(Method):
    """Bayesian optimisation: tunehost's `gp`."""

    def __init__(
        self,
        space: Any = None,
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        points_to_evaluate: Points = None,
        evaluated_rewards: Any = None,
        random_state_seed: Optional[int] = None,
        max_concurrent: int = 8,
        **kwargs: Any,
    ) -> None:
        refuse(
            "HEBOSearch",
            {"evaluated_rewards": None},
            {"evaluated_rewards": evaluated_rewards},
            {"evaluated_rewards": "the values of points are measured again"},
        )
        if kwargs:
            raise Unsupported(f"HEBOSearch({next(iter(kwargs))}=…) is not supported: the searcher is tunehost's own")
        super().__init__("gp", {}, metric, mode, points_to_evaluate, random_state_seed, space, max_concurrent)


class NevergradSearch(Method):
    """Evolution strategies: tunehost's `cmaes`. optimizer must be left out, or be the name of a searcher of
    tunehost."""

    def __init__(
        self,
        optimizer: Any = None,
        optimizer_kwargs: Optional[Mapping[str, Any]] = None,
        space: Any = None,
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        points_to_evaluate: Points = None,
    ) -> None:
        if optimizer is not None and not isinstance(optimizer, str):
            raise Unsupported(
                f"NevergradSearch(optimizer={optimizer!r:.60}) is not supported: leave it out for cmaes, or name a "
                'searcher of tunehost, such as "evolution"'
            )
        super().__init__(optimizer or "cmaes", optimizer_kwargs or {}, metric, mode, points_to_evaluate, None, space)


class ZOOptSearch(Method):
    """Ray's wrapper of ZOOpt. Not supported: pass search_alg="evolution"."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise Unsupported('ZOOptSearch is not supported: pass search_alg="evolution" or another searcher of tunehost')


NAMES: Mapping[str, Any] = {
    "ax": AxSearch,
    "hyperopt": HyperOptSearch,
    "bayesopt": BayesOptSearch,
    "bohb": TuneBOHB,
    "nevergrad": NevergradSearch,
    "optuna": OptunaSearch,
    "zoopt": ZOOptSearch,
    "hebo": HEBOSearch,
}
