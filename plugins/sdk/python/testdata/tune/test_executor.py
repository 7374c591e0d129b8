"""Trials on a cluster that is played on this machine."""

import re

import pytest
import tunehost
from tunehost import tune

FAKE = {"plugin": "fake", "nodes": 2, "cpu": 1, "queue": 0}


def train(config):
    for i in range(2):
        tune.report({"loss": config["x"] + i})


def nodes(path):
    return {trial["node"] for trial in tunehost.Experiment.open(path).trials()}


@pytest.mark.parametrize("executor", ["fake", FAKE])
def test_tuner_runs_trials_on_it(executor):
    results = tune.Tuner(
        train,
        param_space={"x": tune.uniform(0, 1)},
        tune_config=tune.TuneConfig(metric="loss", mode="min", num_samples=4),
        run_config=tune.RunConfig(executor=executor, verbose=0),
    ).fit()
    assert len(results) == 4 and not results.errors
    assert all(re.match("fake-[0-9]+$", node) for node in nodes(results.experiment_path))


def test_so_do_run_and_minimize():
    analysis = tune.run(train, config={"x": 0.5}, metric="loss", mode="min", executor=FAKE, verbose=0, name="ran")
    assert analysis.best_result["loss"] == 1.5 and nodes("results/ran") <= {"fake-1", "fake-2"}
    best = tunehost.minimize(lambda p: p["x"], {"x": tune.uniform(0, 1)}, trials=2, executor=FAKE, verbose=0, name="least")
    assert best.value < 1 and nodes("results/least") <= {"fake-1", "fake-2"}
    best = tunehost.maximize(lambda p: p["x"], {"x": tune.uniform(0, 1)}, trials=2, executor="fake", verbose=0, name="most")
    assert best.value > 0 and all(node.startswith("fake-") for node in nodes("results/most"))


def test_an_experiment_continues_on_it():
    def once(resume, trials):
        return tunehost.minimize(lambda p: p["x"], {"x": tune.uniform(0, 1)}, trials=trials, executor=FAKE, verbose=0,
                                 name="again", resume=resume)

    once(False, 1)
    assert len(once(True, 3).experiment.trials()) == 3 and nodes("results/again") <= {"fake-1", "fake-2"}


@pytest.mark.parametrize(
    "executor, says",
    [
        ("nosuch", 'executor: there is no executor "nosuch"'),
        ({"nodes": 2}, 'executor: key "plugin" is missing'),
        ({"plugin": "fake", "nodez": 2}, 'executor: unknown option "nodez" of fake; did you mean "nodes"?'),
        ({"plugin": "fake", "idle": "soon"}, 'executor: found the text "soon", expected a time'),
        ({"plugin": "fake", "nodes": object()}, "its options are texts, numbers"),
        ({"plugin": "fake", "upload": ["data"]}, "is not supported: the nodes need"),
        ({1: 2}, "expected the name of an executor"),
        (7, "executor is 7: expected the name of an executor"),
        (tune, "expected the name of an executor"),
    ],
)
def test_a_mistake_is_one_line(executor, says):
    with pytest.raises(tune.TuneError, match=re.escape(says)) as raised:
        tune.run(train, config={"x": 0.5}, metric="loss", mode="min", executor=executor, verbose=0)
    assert "\n" not in str(raised.value)
