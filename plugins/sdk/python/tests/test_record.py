"""What the record has of a config: the values that were trained, or none."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Mapping

import pytest

from tunehost import tune
from tunehost.tune import TuneError, _encode, _experiment, _payload, _points
from tunehost.tune.schedulers import ResourceChangingScheduler
from tunehost.tune.schedulers.pb2 import PB2
from tunehost.tune.schedulers.resource_changing_scheduler import DistributeResources
from tunehost.tune.search import Searcher


class Own(Searcher):
    def suggest(self, trial_id: str) -> Any:
        return {}

    def on_trial_complete(self, *args: Any, **more: Any) -> None:
        pass


class Opaque:
    """A copy of an object is not equal to it."""

    def __repr__(self) -> str:
        return f"<opaque at {id(self):#x}>"


MODEL = tune.choice([{"kind": "a", "x": tune.uniform(0, 10)}, {"kind": "b", "y": tune.uniform(0, 5)}, "none"])


def built(space: Mapping[str, Any], **config: Any) -> _experiment.Experiment:
    config = {"metric": "loss", "mode": "min", "num_samples": 4, **config}
    return _experiment.build(lambda config: None, space, tune.TuneConfig(**config), tune.RunConfig())


def plan(space: Mapping[str, Any], **config: Any) -> _encode.Group:
    found: _encode.Group = _payload.loads(_payload.pickled(built(space, **config).plan, "the plan"))
    return found


def population(mutations: Mapping[str, Any], **more: Any) -> tune.PopulationBasedTraining:
    return tune.PopulationBasedTraining("training_iteration", perturbation_interval=4, hyperparam_mutations=mutations, **more)


@pytest.mark.parametrize("space, config, params, rest", [
    ({"x": tune.uniform(0, 1)}, {"x": 6.0, "y": 1}, {"x": 6.0}, {"y": 1}),
    ({"x": tune.loguniform(0.1, 1)}, {"x": -2}, {"x": -2.0}, {}),
    ({"x": tune.quniform(0, 1, 0.5)}, {"x": 0.3}, {"x": 0.3}, {}),
    ({"n": tune.randint(0, 5)}, {"n": 9.0}, {"n": 9}, {}),
    ({"n": {"x": tune.uniform(0, 1), "k": 1}}, {"n": {"x": 6, "own": 2}}, {"n/x": 6.0}, {"n": {"own": 2}}),
    ({"l": [tune.uniform(0, 1), 3]}, {"l": [6, 3]}, {"l/0": 6.0}, {}),
    ({"o": Opaque()}, {"o": 7}, {}, {"o": 7}),
    ({"s": tune.sample_from(lambda c: 1)}, {"s": 2}, {}, {"s": 2}),
    ({"m": MODEL}, {"m": {"kind": "b", "y": 6}}, None, {}),
    ({"m": MODEL}, {"m": "none"}, {"m": "none"}, {}),
])
def test_a_suggestion_is_recorded_as_it_is(
    space: Dict[str, Any], config: Dict[str, Any], params: Any, rest: Dict[str, Any]
) -> None:
    found, left = _points.record(plan(space, search_alg=Own()), config)
    assert left == rest
    if params is not None:
        assert found == params and [type(v) for v in found.values()] == [type(v) for v in params.values()]


@pytest.mark.parametrize("space, config, says", [
    ({"c": tune.choice([1, 2])}, {"c": 3}, "3 is none of the values of the parameter c: 1, 2"),
    ({"k": 0.01}, {"k": 0.5}, "0.5 is not the value of k, which is the constant 0.01 in param_space"),
    ({"x": tune.uniform(0, 1)}, {"x": "a"}, "'a' is no value of x: expected a number"),
    ({"x": tune.uniform(0, 1)}, {"x": math.nan}, "nan is no value of x: expected a number"),
    ({"n": tune.randint(0, 5)}, {"n": 2.5}, "2.5 is no value of n: expected a whole number"),
    ({"x": tune.uniform(0, 1)}, {"x": 10**400}, "0+ is no value of x: expected a number"),
    ({"n": tune.randint(0, 5)}, {"n": -(10**400)}, "0+ is no value of n: expected a whole number"),
    ({"x": tune.uniform(0, 1)}, {"x": 10**5000}, "a whole number of thousands of digits is no value of x"),
    ({"m": MODEL}, {"m": {"kind": "c", "y": 1}}, "is none of the values of the parameter m"),
    ({"m": MODEL}, {"m": {"kind": "b", "y": "a"}}, "m: 'a' is no value of m/y: expected a number"),
    ({"m": MODEL}, {"m": {"kind": "b"}}, "m: the dict lacks y$"),
])
def test_what_the_record_cannot_have_is_refused(space: Dict[str, Any], config: Dict[str, Any], says: str) -> None:
    with pytest.raises(TuneError, match=says):
        _points.record(plan(space, search_alg=Own()), config)


def test_a_conditional_value_keeps_its_parameters() -> None:
    tree = plan({"m": MODEL, "z": 1}, search_alg=Own())
    config = {"m": {"kind": "b", "y": 2.5}, "z": 1}
    params, rest = _points.record(tree, config)
    assert params["m_1/it/y"] == 2.5 and not rest
    nested: Dict[str, Any] = {"m": params["m"], "m_1": {"it": {"y": 2.5}}, "z": 1}
    assert _encode.decode(tree, nested) == config
    assert _points.encode_point(tree, {"m": {"kind": "b", "y": 2.5}}) == {"m": params["m"], "m_1": {"it": {"y": 2.5}}}


def test_objects_that_were_copied_are_known() -> None:
    tree = plan({"o": tune.choice([Opaque(), 5]), "m": tune.choice([{"f": Opaque(), "x": tune.uniform(0, 1)}])},
                search_alg=Own())
    params, rest = _points.record(tree, {"o": Opaque(), "m": {"f": Opaque(), "x": 0.5}})
    assert params["o"] == "<opaque at >" and params["m_0/it/x"] == 0.5 and set(rest) == {"o", "m"}


WIDER = tune.loguniform(1e-3, 0.5)
LR = {"uniform": [1e-3, 0.2], "open": True}


@pytest.mark.parametrize("space, mutations, form, points", [
    ({"lr": tune.uniform(1e-3, 0.2)}, WIDER, LR, None),
    ({"lr": tune.uniform(1e-3, 0.2)}, lambda: 0.3, LR, None),
    ({"lr": tune.uniform(1e-3, 0.2)}, [0.1, 0.3], LR, None),
    ({"lr": 0.1}, lambda: 0.3, {"uniform": [0.1, 0.3], "open": True}, {0.1}),
    ({"lr": 1}, lambda: 3, {"int": [1, 3], "open": True}, {1}),
    ({}, lambda: 3, {"int": [3, 3], "open": True}, {3}),
    ({"lr": tune.choice([0.01, 0.1])}, [0.01, 0.1, 0.3], {"ordinal": [0.01, 0.1, 0.3]}, {0.01, 0.1}),
    ({"lr": tune.choice(["a"])}, ["b", "a"], {"ordinal": ["b", "a"]}, {"a"}),
    ({"lr": tune.choice([0.01, 0.1])}, WIDER, {"loguniform": [1e-3, 0.5], "open": True}, {0.01, 0.1}),
])
def test_a_population_has_room_for_its_mutations(
    space: Dict[str, Any], mutations: Any, form: Dict[str, Any], points: Any
) -> None:
    """Trials start at what param_space has."""
    keys = built(space, scheduler=population({"lr": mutations}), num_samples=40).keys
    assert keys["scheduler"] == {"plugin": "@tune/scheduler"} and keys["space"] == {"lr": form}
    assert {p["lr"] for p in keys.get("points", ())} == (points or set())
    assert len(keys.get("points", ())) == (40 if points else 0)


@pytest.mark.parametrize("scheduler", [
    PB2("training_iteration", perturbation_interval=4, hyperparam_bounds={"lr": [1e-3, 0.5]}),
    tune.PopulationBasedTraining("time_total_s", hyperparam_mutations={"lr": tune.uniform(1e-3, 0.2)}),
    population({"lr": None}, custom_explore_fn=dict),
    ResourceChangingScheduler(population({"lr": tune.uniform(1e-3, 0.2)}), DistributeResources()),
])
def test_all_that_follow_the_rules_of_ray_have_it(scheduler: Any) -> None:
    assert built({"lr": tune.uniform(1e-3, 0.2)}, scheduler=scheduler).keys["space"]["lr"] == LR


def test_the_population_of_tunehost_stays_inside() -> None:
    keys = built({"lr": tune.uniform(1e-3, 0.2)}, scheduler=population({"lr": tune.uniform(1e-3, 0.2)})).keys
    assert keys["space"] == {"lr": {"uniform": [1e-3, 0.2]}} and keys["scheduler"]["plugin"] == "pbt"


def test_nested_mutations_start_at_what_the_space_has() -> None:
    mutations = {"net": {"w": [1, 2, 3], "d": tune.uniform(0, 1)}}
    keys = built({"net": {"w": 2, "d": 0.5, "other": 1}}, scheduler=population(mutations)).keys
    assert keys["space"]["net"] == {"w": {"ordinal": [1, 2, 3]}, "d": {"uniform": [0, 1], "open": True}, "other": 1}
    assert keys["points"] == [{"net": {"w": 2, "d": 0.5}}] * 4


def test_constants_that_a_function_may_change_are_not_recorded() -> None:
    explore = population({"lr": WIDER}, custom_explore_fn=dict)
    space = {"lr": tune.uniform(0, 1), "tag": "own", "m": MODEL, "n": {"k": 1, "x": tune.uniform(0, 1)}}
    made = built(space, scheduler=explore)
    shown: List[str] = sorted(made.keys["space"])
    assert "tag" not in shown and "k" not in made.keys["space"]["n"] and "_suggestion" in shown
    assert _points.record(made.plan, {"tag": "new", "n": {"k": 2, "x": 7}}) == ({"n/x": 7.0}, {"tag": "new", "n": {"k": 2}})


def test_no_trial_of_a_population_starts_with_a_suggestion() -> None:
    """Otherwise the host draws the number of a file that does not exist."""
    keys = built({"lr": tune.uniform(0, 1)}, scheduler=population({"lr": None}, custom_explore_fn=dict)).keys
    assert keys["points"] == [{"_suggestion": 0}] * 4
