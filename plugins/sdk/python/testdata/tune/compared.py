"""Runs one of Ray's examples over Ray or over tunehost, with the same seeds, one trial at a time, and prints what it finds:

    python compared.py ray|tunehost EXAMPLE.py [ARGUMENTS]

Only arguments that an example leaves out are filled in."""

import importlib
import json
import os
import runpy
import sys

SEED = 7


def fill(owner, **given):
    """Makes calls of owner, a class, with these arguments, if they leave them out."""
    make = owner.__init__

    def filled(self, *args, **kwargs):
        make(self, *args, **{**given, **kwargs})

    owner.__init__ = filled


def limit(owner):
    """One trial at a time, whatever an example says."""
    make = owner.__init__
    owner.__init__ = lambda self, searcher, max_concurrent=0, *args, **kwargs: make(self, searcher, 1, *args, **kwargs)


def reuse(owner):
    """Ray's processes take seconds to start: one runs a function trial after trial. Classes would need a reset_config."""
    make = owner.__init__

    def made(self, trainable, *args, tune_config=None, **kwargs):
        if tune_config is not None and not isinstance(trainable, type):
            tune_config.reuse_actors = True
        make(self, trainable, *args, tune_config=tune_config, **kwargs)

    owner.__init__ = made


def told(value):
    """Numbers and texts, such that both write them in the same way."""
    if isinstance(value, dict):
        return {str(k): told(v) for k, v in sorted(value.items(), key=str)}
    return value if isinstance(value, (bool, int, float, str)) or value is None else str(value)


def facts(result, metric):
    """What a trial has reported, by its order, its parameters, and how long it ran."""
    values = [round(float(v), 9) for v in result.metrics_dataframe[metric]]
    return [told(result.config), values, result.metrics["training_iteration"]]


def prepared(of):
    """One CPU, and seeds."""
    search = importlib.import_module(f"{of}.tune.search")
    fill(search.BasicVariantGenerator, random_state=SEED)
    fill(importlib.import_module(f"{of}.tune.search.hyperopt").HyperOptSearch, random_state_seed=SEED)
    fill(importlib.import_module(f"{of}.tune.search.optuna").OptunaSearch, seed=SEED)
    schedulers = importlib.import_module(f"{of}.tune.schedulers")
    fill(schedulers.AsyncHyperBandScheduler, stop_last_trials=False)  # with which both have Ray's rule of a milestone
    limit(search.ConcurrencyLimiter)
    if of == "ray":
        reuse(importlib.import_module("ray.tune").Tuner)
    cluster = importlib.import_module("ray" if of == "ray" else "tunehost.tune.cluster")
    begin = cluster.init
    begin(num_cpus=1, **({"include_dashboard": False, "log_to_driver": False} if of == "ray" else {}))
    cluster.init = lambda *args, **kwargs: None


def watched(of):
    """Prints what Tuner.fit returns, the trials in an order of their own, and the best one."""
    tuner = importlib.import_module(f"{of}.tune").Tuner
    run = tuner.fit

    def fit(self):
        results = run(self)
        metric = results._metric if of == "tunehost" else results._experiment_analysis.default_metric
        found = sorted((facts(r, metric) for r in results), key=json.dumps)
        print("found", json.dumps([metric, found, facts(results.get_best_result(), metric)]))
        return results

    tuner.fit = fit


if __name__ == "__main__":
    of, script = sys.argv[1:3]
    prepared(of)
    watched(of)
    sys.argv = sys.argv[2:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    runpy.run_path(script, run_name="__main__")
