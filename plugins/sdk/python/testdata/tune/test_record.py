"""The record, commands and Experiment have the values that were trained. tune_test.go starts these tests."""

import json
import random
import subprocess
from pathlib import Path

import pytest

import tunehost
from tunehost import _binary, tune
from tunehost.tune.schedulers.pb2 import PB2
from tunehost.tune.search import Searcher


class Walks(tune.Trainable):
    """Reports what it trains with."""

    def setup(self, config):
        self.config, self.n = config, 0

    def step(self):
        self.n += 1
        return {"loss": self.n * self.config["lr"], "seen": self.config["lr"]}

    def save_checkpoint(self, dir):
        return {"n": self.n}

    def load_checkpoint(self, state):
        self.n = state["n"]


def fit(trainable, space, **config):
    every = {"checkpoint_config": tune.CheckpointConfig(checkpoint_frequency=2)} if isinstance(trainable, type) else {}
    return tune.Tuner(
        trainable,
        param_space=space,
        tune_config=tune.TuneConfig(metric="loss", mode="max", seed=1, **config),
        run_config=tune.RunConfig(name="one", verbose=0, stop={"training_iteration": 12}, **every),
    ).fit()


def program(*arguments):
    return subprocess.run([_binary.find(), *arguments], capture_output=True, text=True, check=True).stdout


def check(results, name="lr"):
    """Everybody has the value of each trial that its last result was trained with."""
    assert not results.errors
    seen = [r.metrics["seen"] for r in results]
    experiment = tunehost.Experiment.open("results/one")
    trials = sorted(experiment.trials(), key=lambda t: t["number"])
    assert [r.config[name] for r in results] == seen == [t["params"][name] for t in trials]
    assert list(experiment.dataframe().sort_values("number")[f"params/{name}"]) == seen
    best = experiment.best()
    assert best["params"][name] == experiment.status()["best"]["params"][name] == seen[best["number"]]
    for trial, value in zip(trials, seen):
        assert json.loads(Path(trial["dir"], "params.json").read_text())[name] == value
    return seen


def of_ray(mutations, **more):
    return tune.PopulationBasedTraining(
        "training_iteration", perturbation_interval=2, synch=True, hyperparam_mutations={"lr": mutations}, **more
    )


@pytest.mark.parametrize("space, scheduler", [
    (tune.uniform(1e-3, 0.2), of_ray(tune.loguniform(1e-3, 0.5))),
    (0.1, of_ray(lambda: random.uniform(0.1, 0.2))),
    (tune.choice([0.01, 0.1]), of_ray([0.01, 0.1, 0.3])),
    (tune.uniform(0.01, 0.1), of_ray(None, custom_explore_fn=lambda config: {**config, "lr": config["lr"] + 100})),
    (tune.uniform(1e-3, 0.05), PB2("training_iteration", perturbation_interval=2, hyperparam_bounds={"lr": [1e-3, 0.5]},
                                   synch=True)),
])
def test_a_population_beyond_param_space(space, scheduler):
    results = fit(Walks, {"lr": space}, num_samples=4, scheduler=scheduler)
    seen = check(results)
    assert max(seen) > 0.1
    changed = 0
    for number, value in enumerate(seen):
        policy = program("lineage", "results/one", str(number), "--policy")
        changes = [json.loads(line.strip()[2:]) for line in policy.splitlines() if '"iteration"' in line]
        changed += len(changes)
        assert not changes or changes[-1]["params"]["lr"] == value
    assert changed


class Says(Searcher):
    def __init__(self, *configs):
        super().__init__()
        self.configs = list(configs)

    def suggest(self, trial_id):
        return self.configs.pop(0) if self.configs else Searcher.FINISHED

    def on_trial_complete(self, trial_id, result=None, error=False):
        pass


def train(config):
    tune.report({"loss": config["lr"], "seen": config["lr"]})


def test_a_searcher_beyond_param_space():
    says = Says({"lr": 6.0, "own": 1}, {"lr": -7}, {"lr": 0.5})
    results = fit(train, {"lr": tune.loguniform(0.1, 1), "k": 2}, num_samples=3, search_alg=says)
    assert check(results) == [6, -7, 0.5] and [r.config["k"] for r in results] == [2] * 3
    rows = json.loads("[" + ",".join(program("trials", "results/one", "--json").splitlines()) + "]")
    assert [row["params"]["lr"] for row in sorted(rows, key=lambda row: row["number"])] == [6, -7, 0.5]


@pytest.mark.parametrize("space, says", [
    ({"lr": tune.choice([0.1, 0.2])}, "Says: 0.3 is none of the values of the parameter lr: 0.1, 0.2"),
    ({"lr": 0.1}, "Says: 0.3 is not the value of lr, which is the constant 0.1"),
])
def test_a_suggestion_that_cannot_be_recorded_is_refused(space, says):
    with pytest.raises(tune.TuneError, match=says) as refused:
        fit(train, space, num_samples=1, search_alg=Says({"lr": 0.3}))
    assert "\n" not in str(refused.value)


def deep(config):
    tune.report({"loss": 1, "seen": config["model"]["y"]})


def test_conditional_suggestions_are_recorded():
    model = tune.choice([{"kind": "a", "x": tune.uniform(0, 10)}, {"kind": "b", "y": tune.uniform(0, 5)}])
    results = fit(deep, {"model": model}, num_samples=2, search_alg=Says(*[{"model": {"kind": "b", "y": y}} for y in (2, 6)]))
    assert [r.config["model"] for r in results] == [{"kind": "b", "y": 2.0}, {"kind": "b", "y": 6.0}]
    rows = [json.loads(line) for line in program("trials", "results/one", "--json").splitlines()]
    assert sorted(row["params"]["model_1"]["it"]["y"] for row in rows) == [2, 6]
    assert {row["params"]["model"] for row in rows} == {"{'kind': 'b'}"}
