"""Trainings that are interrupted and continue, for tests of all integrations: it needs no library of one."""

from pathlib import Path

import numpy as np

from tunehost import tune


def fit(train, stop=None, failures=0, **config):
    return tune.Tuner(
        train,
        param_space=config,
        tune_config=tune.TuneConfig(metric="loss", mode="min"),
        run_config=tune.RunConfig(
            verbose=0, stop=stop, failure_config=tune.FailureConfig(max_failures=failures)
        ),
    ).fit()


def curve(result):
    return [(r["training_iteration"], r["loss"]) for r in result.results]


def checked(train, iterations):
    """A training that is interrupted and continues has the results of one that is not; a stop ends it."""
    whole = fit(train, crash=0)[0]
    assert whole.error is None, whole.error
    assert [i for i, _ in curve(whole)] == list(range(1, iterations + 1))
    again = fit(train, failures=1, crash=iterations - 1)[0]
    assert again.error is None, again.error
    assert Path(again.path, "crashed").exists(), "it did not crash"
    assert [i for i, _ in curve(again)] == list(range(1, iterations + 1))
    assert np.allclose([v for _, v in curve(again)], [v for _, v in curve(whole)], rtol=1e-3)
    stopped = fit(train, stop={"training_iteration": 2}, crash=0)[0]
    assert stopped.error is None and len(curve(stopped)) == 2
    assert not Path(stopped.path, "finished").exists(), "the training went on after the stop"
    assert Path(whole.path, "finished").exists()


class Crash(Exception):
    pass


def crashes(config, iteration):
    """Fails once, after the report of an iteration."""
    if 0 < iteration == config["crash"] and not Path("crashed").exists():
        Path("crashed").touch()
        raise Crash
