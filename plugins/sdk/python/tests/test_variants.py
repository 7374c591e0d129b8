"""BasicVariantGenerator draws what Ray's draws with the same random_state."""

import json
from typing import Any, Dict, List

import numpy as np
import pytest
import ray.tune
import yaml
from ray.tune.search import sample, variant_generator

from tunehost import tune
from tunehost.tune import _encode
from tunehost.tune.search import BasicVariantGenerator


def space(of: Any) -> Dict[str, Any]:
    """A space with every kind of parameter, of tunehost's or Ray's functions."""
    return {
        "lr": of.loguniform(1e-4, 1e-1),
        "z": of.grid_search([7, 8, 9]),
        "net": {
            "units": of.randint(3, 99),
            "drop": of.quniform(0, 1, 0.05),
            "act": of.grid_search(["relu", "tanh"]),
            "deep": {"q": of.qrandint(8, 64, 8), "kind": of.choice(["a", "b", None])},
        },
        "fixed": {"a": 1, "b": [2, 3]},
        "noise": of.randn(3, 2),
        "rounded": of.qrandn(3, 2, 0.25),
        "layers": of.lograndint(1, 50),
        "wide": of.qlograndint(4, 512, 4),
        "ones": of.qrandint(1, 4),
        "logs": of.qlograndint(1, 4, 1),
        "scale": of.qloguniform(0.01, 10, 0.01),
        "x": of.uniform(-1, 1),
    }


POINTS: List[Dict[str, Any]] = [{"lr": 0.01, "net": {"act": "tanh"}}, {"x": 0.5, "z": 8, "net": {"units": 5}}]


def of_ray(samples: int, points: List[Dict[str, Any]], constant: bool, state: Any) -> List[Dict[str, Any]]:
    """The configs of Ray's BasicVariantGenerator."""
    state = sample._BackwardsCompatibleNumpyRng(state)
    spec = {"config": space(ray.tune)}
    found = []
    for i in range(samples):
        if i < len(points):
            made = variant_generator._get_preset_variants(spec, points[i], constant, state)
        else:
            made = variant_generator.generate_variants(spec, constant, state)
        found += [one["config"] for _, one in made]
    return found


def of_tunehost(samples: int, points: List[Dict[str, Any]], constant: bool, state: Any) -> List[Dict[str, Any]]:
    """The configs of the points in the experiment file: the trials are these and no others."""
    alg = BasicVariantGenerator(points, constant_grid_search=constant, random_state=state)
    config = tune.TuneConfig(metric="loss", mode="min", num_samples=samples, search_alg=alg)
    tuner = tune.Tuner(lambda config: None, param_space=space(tune), tune_config=config)
    file = yaml.safe_load(tuner.to_yaml())
    assert file["trials"] == len(file["points"]) and "grid" not in json.dumps(file["space"])
    plan = tuner._experiment.plan  # type: ignore[union-attr]
    return [_encode.decode(plan, point) for point in file["points"]]


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("points", [[], POINTS])
@pytest.mark.parametrize("state", [lambda: 3, lambda: np.random.RandomState(4), lambda: np.random.default_rng(5)])
def test_the_same_configs(constant: bool, points: List[Dict[str, Any]], state: Any) -> None:
    ours = of_tunehost(4, points, constant, state())
    assert ours == of_ray(4, points, constant, state()) and len({json.dumps(c) for c in ours}) > 12


def test_a_generator_is_used_once() -> None:
    """to_yaml and fit have the same configs, and a searcher may serve two experiments."""
    alg = BasicVariantGenerator(random_state=np.random.RandomState(4))
    config = tune.TuneConfig(num_samples=2, search_alg=alg)
    made = [tune.Tuner(lambda config: None, param_space={"x": tune.uniform(0, 1)}, tune_config=config) for _ in "ab"]
    texts = [[line for line in tuner.to_yaml().splitlines() if '{"x"' in line] for tuner in made]
    assert texts[0] == texts[1] and len(texts[0]) == 2


@pytest.mark.parametrize(
    "given", [{"x": tune.choice([tune.uniform(0, 1), 2])}, {"x": [tune.uniform(0, 1)]}, {"x": tune.sample_from(lambda c: 1)}]
)
def test_other_spaces_are_drawn_by_tunehost(given: Dict[str, Any]) -> None:
    config = tune.TuneConfig(num_samples=3, search_alg=BasicVariantGenerator(random_state=5))
    file = yaml.safe_load(tune.Tuner(lambda config: None, param_space=given, tune_config=config).to_yaml())
    assert file["trials"] == 3 and file["seed"] == 5
