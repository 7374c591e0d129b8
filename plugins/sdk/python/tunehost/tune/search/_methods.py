"""Searchers that Ray takes from other libraries. Their methods are tunehost's own here."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from .._plugin import refuse
from ..error import TuneError, Unsupported
from ._libraries import BayesOpt, HyperOpt, Nevergrad, ZOOpt, configured, installed, only_domains
from ._optuna import Study
from ._translated import Method
from .searcher import Points

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
        several = metric is not None and not isinstance(metric, str) and len(metric) > 1
        given = (space, sampler, study_name, storage, evaluated_rewards)
        study: Optional[Study] = None
        if any(one is not None for one in given):
            study = Study(
                space, metric, mode, points_to_evaluate, sampler, study_name, storage, seed, evaluated_rewards
            )
            points_to_evaluate = None
        super().__init__("nsga2" if several else "tpe", {"repeats": True}, metric, mode, points_to_evaluate, seed)
        self.library = study

    def add_evaluated_point(
        self,
        parameters: Dict[str, Any],
        value: float,
        error: bool = False,
        pruned: bool = False,
        intermediate_values: Optional[List[float]] = None,
    ) -> None:
        """Tells it of a point that was measured elsewhere. It is Optuna itself from then on."""
        if not isinstance(self.library, Study):
            self.library: Any = Study(None, self.metric, self.mode, self.points, None, None, None, self.seed, None)
            self.points: Any = None
        self.library.add_evaluated_point(parameters, value, error, pruned, intermediate_values)


class HyperOptSearch(Method):
    """Tree-structured Parzen estimators: tunehost's `tpe`. With a space of hyperopt it is that library itself, in a
    process of its own."""

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
        own = space is None or only_domains(space)
        super().__init__(
            "tpe",
            {"startup": n_initial_points, "gamma": gamma, "repeats": True},
            metric,
            mode,
            points_to_evaluate if own else None,
            random_state_seed,
            space if own else None,
        )
        if not own:
            self.library: Any = HyperOpt(
                space, metric, mode, points_to_evaluate, n_initial_points, random_state_seed, gamma
            )


class BayesOptSearch(Method):
    """A Gaussian process: tunehost's `gp`. Choices and integers are allowed here. With a space of bounds, such as
    {"x": (0, 1)}, and with any other argument than the metric, the points and the seed, it is the library
    bayesian-optimization itself, in a process of its own."""

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
        ways = (verbose, patience, skip_duplicate, repeat_float_precision)
        bounds = space is not None and not only_domains(space)
        own = not bounds and utility_kwargs is None and analysis is None and ways == (0, 5, True, 5)
        super().__init__(
            "gp",
            {"startup": random_search_steps},
            metric,
            mode,
            points_to_evaluate if own else None,
            random_state,
            None if bounds else space,
        )
        if not own:
            self.library: Any = BayesOpt(
                space if bounds else None,
                metric,
                mode,
                points_to_evaluate,
                utility_kwargs,
                random_state,
                random_search_steps,
                verbose,
                patience,
                skip_duplicate,
                analysis,
                repeat_float_precision,
            )


class TuneBOHB(Method):
    """BOHB's searcher, for the scheduler HyperBandForBOHB: tunehost's `bohb`. space is a param_space, or a space of the
    library ConfigSpace without conditions. bohb_config may have min_points_in_model, top_n_percent, num_samples,
    random_fraction, bandwidth_factor and min_bandwidth."""

    _OPTIONS = {
        "top_n_percent": "good",
        "num_samples": "candidates",
        "random_fraction": "random",
        "bandwidth_factor": "bandwidth_factor",
        "min_points_in_model": "min_points",
        "min_bandwidth": "min_bandwidth",
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
                raise TypeError(f"bohb_config has no argument {name}: expected some of {', '.join(self._OPTIONS)}")
            if value is not None:
                options[self._OPTIONS[name]] = value / 100 if name == "top_n_percent" else value
        own = space if space is None or isinstance(space, Mapping) and only_domains(space) else configured(space)
        super().__init__("bohb", options, metric, mode, points_to_evaluate, seed, own, max_concurrent)


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
    """Evolution strategies: tunehost's `cmaes`, or the searcher of tunehost that optimizer names. With an optimizer of
    nevergrad it is that library itself, in a process of its own."""

    def __init__(
        self,
        optimizer: Any = None,
        optimizer_kwargs: Optional[Mapping[str, Any]] = None,
        space: Any = None,
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        points_to_evaluate: Points = None,
    ) -> None:
        own = optimizer is None or isinstance(optimizer, str)
        if own and space is not None and not only_domains(space):
            raise TuneError("NevergradSearch has a space of nevergrad and no optimizer of it: give one")
        name, options = (optimizer or "cmaes", optimizer_kwargs or {}) if own else ("cmaes", {})
        points = points_to_evaluate if own else None
        super().__init__(name, options, metric, mode, points, None, space if only_domains(space) else None)
        if not own:
            self.library: Any = Nevergrad(optimizer, optimizer_kwargs or {}, space, metric, mode, points_to_evaluate)


class ZOOptSearch(Method):
    """The library zoopt itself, in a process of its own. Where it is not installed, tunehost's `evolution`, whose budget
    is num_samples."""

    def __init__(
        self,
        algo: str = "asracos",
        budget: Optional[int] = None,
        dim_dict: Optional[Mapping[str, Any]] = None,
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        points_to_evaluate: Points = None,
        parallel_num: int = 1,
        **kwargs: Any,
    ) -> None:
        if budget is None:
            raise TuneError("ZOOptSearch needs a budget: the number of trials")
        if algo.lower() not in ("asracos", "sracos"):
            raise ValueError(f"algo is {algo!r}: expected asracos or sracos")
        space = dim_dict if only_domains(dim_dict) else None
        there = installed("zoopt")
        if not there and (dim_dict is not None and space is None or kwargs):
            raise TuneError("ZOOptSearch needs the library zoopt for these arguments: pip install zoopt")
        super().__init__("evolution", {}, metric, mode, None if there else points_to_evaluate, None, space)
        if there:
            dimensions = None if space else dim_dict
            self.library: Any = ZOOpt(
                algo.lower(), budget, dimensions, metric, mode, points_to_evaluate, parallel_num, kwargs
            )


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
