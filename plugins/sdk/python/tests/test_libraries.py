"""Searchers of other libraries suggest what Ray's wrappers of the same libraries suggest."""

import json
import random
from typing import Any, Callable, Dict, List

import hyperopt
import nevergrad
import numpy
import optuna
import pytest
import ray.tune
from ray.tune.search.bayesopt import BayesOptSearch as RayBayesOpt
from ray.tune.search.hyperopt import HyperOptSearch as RayHyperOpt
from ray.tune.search.nevergrad import NevergradSearch as RayNevergrad
from ray.tune.search.optuna import OptunaSearch as RayOptuna
from ray.tune.search.zoopt import ZOOptSearch as RayZOOpt

from tunehost import tune
from tunehost.tune.search import Searcher, _methods

GOAL: Dict[str, Any] = {"metric": "loss", "mode": "max"}


def loss(config: Dict[str, Any]) -> float:
    return -sum((float(x) - 0.3) ** 2 for x in config.values() if isinstance(x, (int, float)))


def ask(searcher: Any, count: int) -> List[str]:
    """What a searcher suggests, when it is told the results one after the other."""
    found = []
    for i in range(count):
        config = searcher.suggest(str(i))
        if config in (None, Searcher.FINISHED):
            found.append(str(config))
            continue
        found.append(json.dumps(config, sort_keys=True, default=float))
        searcher.on_trial_complete(str(i), result={"loss": loss(config), "training_iteration": 1})
    return found


def library(searcher: Any, space: Any = None) -> Any:
    """The part of a searcher that drives the library."""
    assert searcher.library and searcher.served() == {"searcher": searcher.library}
    searcher.set_search_properties("loss", "max", space or {})
    return searcher.library


def conditional() -> Any:
    hp = hyperopt.hp
    return {
        "x": hp.uniform("x", -1, 1),
        "kind": hp.choice("kind", [{"name": "a", "y": hp.lognormal("y", 0, 1)}, {"name": "b"}]),
        "k": hp.choice("k", ["one", "two"]),
    }


def hyper(kind: Any) -> Any:
    return kind(conditional(), n_initial_points=5, random_state_seed=7, gamma=0.3, **GOAL)


def hyper_points(kind: Any) -> Any:
    space = {"x": hyperopt.hp.uniform("x", -1, 1), "k": hyperopt.hp.choice("k", ["one", "two"])}
    points = [{"x": 0.25, "k": "two"}, {"x": -0.5, "k": "one"}]
    return kind(space, points_to_evaluate=points, random_state_seed=7, **GOAL)


def bayes(kind: Any) -> Any:
    utility = {"kind": "ei", "kappa": 2.5, "xi": 0.1}
    return kind({"x": (-1, 1), "y": (0, 2)}, utility_kwargs=utility, random_state=3, random_search_steps=6, **GOAL)


def bayes_converged(kind: Any) -> Any:
    return kind({"x": (0, 1e-9)}, patience=2, skip_duplicate=False, repeat_float_precision=2, **GOAL)


def never(kind: Any) -> Any:
    space = nevergrad.p.Dict(x=nevergrad.p.Scalar(lower=-1, upper=1), k=nevergrad.p.Choice(["a", "b"]))
    space.random_state.seed(5)
    points = [{"x": 0.5, "k": "b"}]
    return kind(nevergrad.optimizers.OnePlusOne, {"budget": 30}, space, points_to_evaluate=points, **GOAL)


def never_made(kind: Any) -> Any:
    optimizer = nevergrad.optimizers.OnePlusOne(parametrization=2, budget=30)
    optimizer.parametrization.random_state.seed(5)
    return kind(optimizer, space=["x", "y"], **GOAL)


PAIRS = [
    (hyper, RayHyperOpt, _methods.HyperOptSearch),
    (hyper_points, RayHyperOpt, _methods.HyperOptSearch),
    (bayes, RayBayesOpt, _methods.BayesOptSearch),
    (bayes_converged, RayBayesOpt, _methods.BayesOptSearch),
    (never, RayNevergrad, _methods.NevergradSearch),
    (never_made, RayNevergrad, _methods.NevergradSearch),
]


@pytest.mark.parametrize("make, theirs, ours", PAIRS)
def test_the_same_suggestions(make: Callable[[Any], Any], theirs: Any, ours: Any) -> None:
    assert ask(library(make(ours)), 9) == ask(make(theirs), 9)


def test_the_same_suggestions_of_a_param_space() -> None:
    """Spaces of tune in both."""
    ours = _methods.BayesOptSearch(utility_kwargs={"kind": "ucb"}, random_state=1, random_search_steps=2, **GOAL)
    theirs = RayBayesOpt(utility_kwargs={"kind": "ucb"}, random_state=1, random_search_steps=2, **GOAL)
    theirs.set_search_properties(None, None, {"a": {"x": ray.tune.uniform(0, 1)}, "y": ray.tune.loguniform(1e-3, 1)})
    space = {"a": {"x": tune.uniform(0, 1)}, "y": tune.loguniform(1e-3, 1)}
    assert ask(library(ours, space), 5) == ask(theirs, 5)


def test_points_of_optuna_with_their_values() -> None:
    distributions = {"x": optuna.distributions.FloatDistribution(-1, 1)}
    points: List[Dict[str, Any]] = [{"x": 0.1}, {"x": -0.9}, {"x": 0.4}]

    def made(kind: Any) -> Any:
        sampler = optuna.samplers.TPESampler(seed=4, n_startup_trials=3)
        rewards = [loss(p) for p in points]
        return kind(distributions, sampler=sampler, points_to_evaluate=points, evaluated_rewards=rewards, **GOAL)

    ours, theirs = library(made(_methods.OptunaSearch)), made(RayOptuna)
    assert ask(ours, 4) == ask(theirs, 4) and len(ours._study.trials) == 7
    more = _methods.OptunaSearch(**GOAL)
    more.add_evaluated_point({"x": 0.2}, 1.0, intermediate_values=[0.5, 1.0])
    space = {"x": tune.uniform(0, 1)}
    assert len(ask(library(more, space), 1)) == 1 and library(more)._study.trials[0].value == 1.0


def test_zoopt() -> None:
    """It draws from the generators of the whole process."""

    def made(kind: Any, of: Any) -> Any:
        searcher = kind(budget=30, parallel_num=1, **GOAL)
        space = {"x": of.uniform(-1, 1), "n": of.randint(0, 9), "k": of.choice(["a", "b"])}
        searcher.set_search_properties("loss", "max", space)
        random.seed(3)
        numpy.random.seed(3)
        return searcher

    found = ask(made(_methods.ZOOptSearch, tune).library, 25)
    assert found == ask(made(RayZOOpt, ray.tune), 25) and len(set(found)) > 3


def test_results_of_another_experiment() -> None:
    class Analysis:
        trials = [type("T", (), {"config": {"x": 0.2}, "metric_analysis": {"loss": {"max": 0.5}}})]

    ours = library(_methods.BayesOptSearch({"x": (0, 1)}, analysis=Analysis(), **GOAL))
    assert list(ours.optimizer.space.target) == [0.5]


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert _methods.OptunaSearch(seed=1).entry()["plugin"] == "tpe"
    for arguments in ({"study_name": "s"}, {"space": lambda trial: None}):
        with pytest.raises(tune.TuneError, match="OptunaSearch needs the library optuna .*: pip install optuna"):
            _methods.OptunaSearch(**arguments)
    with pytest.raises(tune.TuneError, match="pip install hyperopt"):
        _methods.HyperOptSearch(conditional())
    assert _methods.ZOOptSearch(budget=3).entry() == {"plugin": "evolution"}


def test_a_space_of_tune_is_a_param_space() -> None:
    space = {"x": tune.uniform(0, 1)}
    for searcher in (_methods.HyperOptSearch(space), _methods.BayesOptSearch(space), _methods.TuneBOHB(space)):
        assert searcher.library is None and searcher.own_space == space
    tuner = tune.Tuner(
        lambda config: None,
        param_space={"k": 1},
        tune_config=tune.TuneConfig(search_alg=_methods.HyperOptSearch(space), metric="loss", mode="min"),
    )
    assert tuner._experiment and tuner._experiment.keys["space"] == {"k": 1, "x": {"uniform": [0, 1]}}


def test_a_space_of_configspace() -> None:
    import ConfigSpace

    space = ConfigSpace.ConfigurationSpace(
        {"lr": ConfigSpace.Float("lr", (1e-4, 1), log=True), "n": (1, 9), "x": (0.0, 2.0), "k": ["a", "b"], "c": 7}
    )
    config = {"min_points_in_model": 9, "min_bandwidth": 0.01, "top_n_percent": 20, "random_fraction": 0.5}
    searcher = _methods.TuneBOHB(space, config, "loss", "max", seed=3)
    own = {name: d.form() if hasattr(d, "form") else d for name, d in searcher.own_space.items()}
    assert own == {
        "lr": {"loguniform": [1e-4, 1]},
        "n": {"int": [1, 9]},
        "x": {"uniform": [0, 2]},
        "k": {"choice": ["a", "b"]},
        "c": 7,
    }
    options = {"min_points": 9, "min_bandwidth": 0.01, "good": 0.2, "random": 0.5, "repeats": True}
    assert searcher.entry() == {"plugin": "bohb", **options}
    with pytest.raises(TypeError):
        _methods.TuneBOHB(bohb_config={"nonsense": 1})
