"""Experiments that tunehost.tune runs with the program itself. tune_test.go starts them."""

import builtins
import json
import os
import pickle
import random
import subprocess
import sys
import traceback
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import tunehost
from tunehost import _binary, tune
from tunehost.tune.error import of_trial
from tunehost.tune.stopper import CombinedStopper, FunctionStopper, MaximumIterationStopper, TrialPlateauStopper


def fit(trainable, space=None, run=None, **config):
    return tune.Tuner(
        trainable,
        param_space=space or {},
        tune_config=tune.TuneConfig(**config),
        run_config=tune.RunConfig(verbose=0, **(run or {})),
    ).fit()


def test_function_reports_and_is_stopped():
    """What the function cleans up after a stop is carried out."""

    def train(config):
        try:
            for i in range(10):
                tune.report({"loss": config["x"] + i, "note": "text", "val": {"acc": 0.5}})
        finally:
            Path("cleaned").write_text(os.getcwd())

    results = fit(
        train, {"x": tune.grid_search([1, 2])}, {"stop": {"training_iteration": 3}}, metric="loss", mode="min"
    )
    assert [r.metrics["training_iteration"] for r in results] == [3, 3]
    assert results.get_best_result().config == {"x": 1}
    for r in results:
        assert Path(r.path, "cleaned").read_text() == r.path
        assert r.metrics["note"] == "text" and r.metrics["val"]["acc"] == 0.5 and r.metrics["val/acc"] == 0.5
        assert [m["loss"] for m in r.results] == [r.config["x"] + i for i in range(3)]
    assert results.get_best_result("loss", "max", scope="all").metrics["loss"] == 4
    frame = results.get_dataframe()
    assert sorted(frame["config/x"]) == [1, 2] and len(frame) == 2


def test_values_with_names_of_results_are_kept():
    """A value that has a name of what results have besides is kept under another one, the same everywhere."""

    def train(config):
        taken = {"hostname": "mine", "pid": 7, "logdir": 1.5, "event_number": 8}
        tune.report({"loss": 1, "config": [1], "config/x": 55, **taken})

    result = fit(train, {"x": 0.5}, metric="loss", mode="min")
    kept = {
        "value/hostname": "mine",
        "metric/pid": 7,
        "metric/logdir": 1.5,
        "metric/event_number": 8,
        "value/config": [1],
        "metric/config/x": 55,
    }
    last = result[0].metrics
    assert {k: last[k] for k in kept} == kept and last["config"] == {"x": 0.5}
    assert last["pid"] != 7 and last["hostname"] != "mine" and "logdir" not in last
    for row in (result[0].metrics_dataframe.iloc[0], result.get_dataframe().iloc[0]):
        assert {k: row[k] for k in kept} == kept and row["config/x"] == 0.5
    assert result.get_dataframe()["logdir"][0] == result[0].path


def test_config_is_what_was_given():
    """Objects, tuples, constants and computed values reach the function as they are."""

    def activation(x):
        return x

    space = {
        "f": tune.choice([activation, np.tanh]),
        "t": (1, "a"),
        "n": None,
        "deep": {"lr": tune.loguniform(1e-3, 1), "k": {"z": [1]}},
        "items": [tune.randint(0, 3), "b"],
        "q": tune.quniform(0, 10, 5),
        "twice": tune.sample_from(lambda c: c["items"][0] * 2),
        "old": tune.sample_from(lambda spec: spec.config.q + 1),
        "noise": tune.sample_from(random.random),
        "opt": tune.choice([{"name": "sgd", "momentum": tune.uniform(0, 1)}, {"name": "adam"}]),
        "array": np.arange(3),
        "int": 7,
    }

    def train(config):
        ok = (
            callable(config["f"])
            and config["t"] == (1, "a")
            and config["n"] is None
            and config["deep"]["k"] == {"z": [1]}
            and 1e-3 <= config["deep"]["lr"] <= 1
            and config["items"][1] == "b"
            and type(config["items"][0]) is int
            and type(config["q"]) is float
            and config["twice"] == 2 * config["items"][0]
            and config["old"] == config["q"] + 1
            and (config["opt"] == {"name": "adam"} or 0 <= config["opt"]["momentum"] <= 1)
            and config["array"].sum() == 3
        )
        tune.report({"ok": int(ok), "noise": config["noise"]})

    results = fit(train, space, num_samples=8)
    assert [r.metrics["ok"] for r in results] == [1] * 8, results.errors
    assert all(r.config["noise"] == r.metrics["noise"] for r in results)
    assert {r.config["opt"]["name"] for r in results} == {"sgd", "adam"}


def test_values_that_a_function_returns_or_yields():
    def returns(config):
        return {"score": 2.0}

    def yields(config):
        for i in range(3):
            yield {"score": i}

    assert fit(returns, metric="score", mode="max")[0].metrics["score"] == 2
    assert [m["score"] for m in fit(yields)[0].results] == [0, 1, 2]
    assert fit(lambda config: 3.0)[0].metrics["_metric"] == 3
    grid = fit(partial(lambda config, add: {"score": add}, add=5))
    assert grid[0].metrics["score"] == 5 and Path(grid.experiment_path).name.startswith("lambda_2")


NUMBERS = [0, 2.5, np.float32(0.5), np.float16(0.5), np.int64(3), np.array(2.5), Decimal("0.5"), Fraction(1, 2)]


def test_numbers_that_a_function_returns_are_those_that_it_may_report():
    """Also those of libraries, and after reports."""

    def train(config):
        tune.report({"_metric": 5})
        return NUMBERS[config["i"]]

    results = fit(train, {"i": tune.grid_search(list(range(len(NUMBERS))))})
    assert [[m["_metric"] for m in r.results] for r in results] == [[5, float(n)] for n in NUMBERS]


async def later(config):
    tune.report({"loss": 1})


NO_NUMBERS = {
    "[1, 2]": [1, 2], "'text'": "text", "True": True, "array([4.])": np.array([4.0]),
    "a whole number of about 401 digits, which is beyond all floats": 10**400,
}


@pytest.mark.parametrize("did", ["returned", "yielded"])
def test_what_a_function_returns_beside_numbers_is_named(did):
    """Also after reports: it is lost otherwise."""
    values = [*NO_NUMBERS.values()]

    def returned(config):
        tune.report({"loss": 1})
        return values[config["i"]] if config["i"] < len(values) else later(config)

    def yielded(config):
        yield {"loss": 1}
        yield values[config["i"]] if config["i"] < len(values) else later(config)

    train = returned if did == "returned" else yielded
    place = f"TypeError: the function {did} ({__file__}, line {train.__code__.co_firstlineno}) {did}"
    expected = "a number, a dict of metrics, or None" if did == "returned" else "a number or a dict of metrics"
    results = fit(train, {"i": tune.grid_search(list(range(len(values) + 1)))}, metric="loss", mode="min")
    *says, last = [str(r.error).splitlines()[0] for r in results]
    assert says == [f"{place} {value}: expected {expected}" for value in NO_NUMBERS]
    hint = "nobody awaits an async function: call asyncio.run in one that is not async"
    assert last == f"{place} a coroutine: expected {expected}; {hint}"


def test_failures_name_the_users_line():
    """A trial that fails is retried, and its error has the traceback of the user's code."""

    def train(config):
        count = len(list(Path(".").glob("try*")))
        Path(f"try{count}").touch()
        if count < config["fails"]:
            raise ZeroDivisionError("on purpose")
        tune.report({"loss": 1})

    results = fit(train, {"fails": tune.grid_search([1, 5])}, {"failure_config": tune.FailureConfig(max_failures=2)})
    assert [r.error is None for r in results] == [True, False]
    assert "ZeroDivisionError: on purpose" in str(results.errors[0]) and "test_tune.py" in str(results.errors[0])
    assert "_worker" not in str(results.errors[0])
    assert isinstance(results.errors[0], ZeroDivisionError) and isinstance(results.errors[0], tune.TuneError)
    with pytest.raises(ZeroDivisionError, match="on purpose"):
        fit(train, {"fails": 9}, {"failure_config": tune.FailureConfig(fail_fast="raise")})
    with pytest.raises(tune.TuneError, match="1 of 1 trials failed"):
        tune.run(train, config={"fails": 9}, verbose=0)


@pytest.mark.parametrize("name", [name for name, kind in vars(builtins).items()
                                  if isinstance(kind, type) and issubclass(kind, Exception)])
@pytest.mark.parametrize("rest", [": 'a' (x.py:3)", " (x.py:3)", "", "\nTraceback (most recent call last):"])
def test_failures_are_of_the_kind_that_was_raised(name, rest):
    """Whatever its arguments are, and with a text or without."""
    error = of_trial(name + rest)
    assert isinstance(error, getattr(builtins, name)) and isinstance(error, tune.TuneError)
    copied = pickle.loads(pickle.dumps(error))
    assert type(copied) is type(error) and str(copied) == str(error) == name + rest
    assert name in "".join(traceback.format_exception(type(error), error, None)) and repr(error)


@pytest.mark.parametrize("text", ["Own: bad", "print: bad", "Warning about x: bad", "KeyboardInterrupt: bad", "SystemExit", ""])
def test_other_failures_are_of_no_kind(text):
    error = of_trial(text)
    assert type(error) is tune.TuneError and str(error) == text


def test_failures_of_trials_are_of_their_kinds():
    def train(config):
        if config["kind"] == "decode":
            b"\xff".decode()
        raise NotImplementedError

    decode, unwritten = fit(train, {"kind": tune.grid_search(["decode", "unwritten"])}).errors
    assert isinstance(decode, UnicodeDecodeError) and "can't decode byte 0xff" in str(decode)
    assert isinstance(unwritten, NotImplementedError)


def test_a_temporary_checkpoint_is_kept():
    """A checkpoint may vanish as soon as report has returned."""
    import tempfile

    def train(config):
        start = 0
        if tune.get_checkpoint():
            with tune.get_checkpoint().as_directory() as dir:
                start = json.loads(Path(dir, "state.json").read_text())
        for i in range(start + 1, 7):
            with tempfile.TemporaryDirectory() as dir:
                Path(dir, "state.json").write_text(str(i))
                checkpoint = tune.Checkpoint.from_directory(dir)
                checkpoint.set_metadata({"i": i})
                tune.report({"loss": (i - 3) ** 2}, checkpoint=checkpoint)
            if i == 4 and start == 0:
                os._exit(3)

    results = fit(
        train,
        None,
        {
            "failure_config": tune.FailureConfig(max_failures=1),
            "checkpoint_config": tune.CheckpointConfig(num_to_keep=3),
        },
        metric="loss",
        mode="min",
        num_samples=4,
    )
    for r in results:
        assert [m["training_iteration"] for m in r.results] == [1, 2, 3, 4, 5, 6]
        assert r.checkpoint.get_metadata() == {"i": 6}
        assert [json.loads(Path(c.path, "state.json").read_text()) for c, _ in r.best_checkpoints] == [4, 5, 6]
        assert r.get_best_checkpoint("loss", "min").get_metadata() == {"i": 4}
        assert not list(Path(r.path).glob(".reported-*"))


class Counter(tune.Trainable):
    def setup(self, config, data=None):
        self.data, self.total = data, 0

    def step(self):
        self.total += int(self.data[self.iteration]) if self.data is not None else 1
        return {"total": self.total, "done": self.total >= self.config.get("until", 99)}

    def save_checkpoint(self, checkpoint_dir):
        return {"total": self.total}

    def load_checkpoint(self, checkpoint):
        self.total = checkpoint["total"]

    def cleanup(self):
        Path("cleaned").touch()


def test_class_trainable_with_parameters():
    """Objects of with_parameters are mapped: read-only, and not copied into each trial."""
    data = np.arange(100_000)
    results = fit(
        tune.with_parameters(Counter, data=data),
        {"until": tune.grid_search([3, 10])},
        {"checkpoint_config": tune.CheckpointConfig(checkpoint_frequency=2, checkpoint_at_end=True)},
    )
    assert [r.metrics["training_iteration"] for r in results] == [3, 5]
    assert all(Path(r.path, "cleaned").exists() and r.checkpoint for r in results)

    def train(config, data):
        return {"writeable": int(data.flags.writeable), "sum": int(data.sum())}

    assert (
        dict(fit(tune.with_parameters(train, data=data))[0].metrics).items() >= {
            "writeable": 0,
            "sum": int(data.sum()),
        }.items()
    )


def test_class_trainables_save_their_last_result():
    """As in Ray: with Tuner, unless something else is said, and not with tune.run."""
    said = tune.CheckpointConfig(checkpoint_at_end=False)
    space, saved = {"until": 3}, {}
    saved["tuner"] = fit(Counter, space)[0].checkpoint
    saved["kept"] = fit(Counter, space, {"checkpoint_config": tune.CheckpointConfig(num_to_keep=1)})[0].checkpoint
    saved["said"] = fit(Counter, space, {"checkpoint_config": said})[0].checkpoint
    saved["run"] = tune.run(Counter, config=space, verbose=0).trials[0].checkpoint
    assert [name for name, checkpoint in saved.items() if checkpoint] == ["tuner", "kept"]


def saves(config):
    for i, loss in enumerate([5, 1, 4, 2, 3], 1):
        Path("new").mkdir(exist_ok=True)
        Path("new/state.json").write_text(str(i))
        tune.report({"loss": loss}, checkpoint=tune.Checkpoint.from_directory("new"))


@pytest.mark.parametrize(
    "config, expected",
    [
        ({"num_to_keep": 2, "checkpoint_score_attribute": "loss", "checkpoint_score_order": "min"}, [2, 1]),
        ({"num_to_keep": 2, "checkpoint_score_attribute": "loss"}, [4, 5]),
        ({"checkpoint_score_attribute": "loss", "checkpoint_score_order": "min"}, [5, 4, 3, 2, 1]),
        ({"num_to_keep": 2}, [2, 3]),
        ({}, [5, 1, 4, 2, 3]),
    ],
)
def test_the_best_checkpoints_are_in_the_order_of_their_scores(config, expected):
    """As in Ray, the best one is the last."""
    result = fit(saves, None, {"checkpoint_config": tune.CheckpointConfig(**config)})[0]
    assert [metrics["loss"] for _, metrics in result.best_checkpoints] == expected
    assert all(Path(c.path, "state.json").exists() for c, _ in result.best_checkpoints)
    assert Path(result.checkpoint.path, "state.json").read_text() == "5"


def test_population_and_hyperband_pause_and_continue():
    pbt = tune.PopulationBasedTraining(
        time_attr="training_iteration",
        perturbation_interval=2,
        synch=True,
        hyperparam_mutations={"lr": tune.uniform(0.1, 1), "kind": ["a", "b"]},
    )

    class Learns(Counter):
        def step(self):
            self.total += self.config["lr"]
            return {"total": self.total}

    results = fit(
        Learns,
        {"lr": 0.5, "kind": "a"},
        {"stop": {"training_iteration": 8}},
        metric="total",
        mode="max",
        scheduler=pbt,
        num_samples=4,
    )
    assert not results.errors and len(results) == 4
    assert {r.config["lr"] for r in results} != {0.5}
    band = fit(
        Counter, {"until": 9}, metric="total", mode="max", num_samples=6, scheduler=tune.HyperBandScheduler(max_t=9)
    )
    assert not band.errors and max(r.metrics["training_iteration"] for r in band) == 9


class Draws(Counter):
    """A trial that goes on with other parameters, once it is among the worst."""

    def step(self):
        self.total += self.config["lr"]
        return {"total": self.total, "used": self.config["lr"], "drew": self.config["noise"]}


@pytest.mark.parametrize("noise", [0.5, tune.sample_from(lambda spec: random.random())], ids=["constant", "computed"])
def test_results_have_the_parameters_with_which_they_were_made(noise):
    """Those of a population change. The files of trials, the record and configs that are not in it agree."""
    results = fit(
        Draws,
        {"lr": tune.uniform(0, 1), "noise": noise},
        {"stop": {"training_iteration": 6}},
        metric="total",
        mode="max",
        num_samples=4,
        scheduler=tune.PopulationBasedTraining(
            time_attr="training_iteration",
            perturbation_interval=2,
            synch=True,
            hyperparam_mutations={"lr": lambda: 5.0},
        ),
    )
    assert not results.errors
    changed = 0
    for r in results:
        frame = r.metrics_dataframe
        assert frame["config/lr"].tolist() == frame["used"].tolist()
        assert frame["config/noise"].tolist() == frame["drew"].tolist()
        assert r.config["lr"] == r.metrics["used"] == r.metrics["config"]["lr"]
        changed += len(set(frame["used"])) > 1
    assert changed
    for frame in (
        results.get_dataframe(filter_metric="total", filter_mode="min"),
        tune.ExperimentAnalysis(results.experiment_path).dataframe("total", "min"),
    ):
        assert frame["training_iteration"].tolist() == [1] * 4
        assert frame["config/lr"].tolist() == frame["used"].tolist()
        assert frame["config/noise"].tolist() == frame["drew"].tolist()
    for r in results if noise == 0.5 else ():
        Path(r.path, "result.jsonl").unlink()
        frame = tune.Result.from_path(r.path).metrics_dataframe
        assert frame["config/lr"].tolist() == frame["used"].tolist()


def test_resources_that_depend_on_the_config():
    def train(config):
        found = tune.get_context().get_trial_resources().required_resources
        tune.report({"cpus": found["CPU"]})

    asked = tune.with_resources(train, lambda config: {"cpu": config["n"]})
    assert [r.metrics["cpus"] for r in fit(asked, {"n": tune.grid_search([1, 2])})] == [1, 2]
    assert fit(tune.with_resources(train, {"cpu": 2}))[0].metrics["cpus"] == 2
    group = tune.PlacementGroupFactory([{"CPU": 1}, {"CPU": 1}])
    assert fit(tune.with_resources(train, group))[0].metrics["cpus"] == 2


def test_stop_rules():
    def train(config):
        for i in range(20):
            tune.report({"loss": i, "acc": i})

    def stopped(stop, **more):
        return [r.metrics["training_iteration"] for r in fit(train, None, {"stop": stop}, **more)]

    assert stopped({"loss": 4}, metric="loss", mode="min") == [5]
    assert stopped({"acc": 3}, metric="loss", mode="min") == [4]
    assert stopped(lambda trial_id, result: result["acc"] >= 2) == [3]
    assert stopped(CombinedStopper(MaximumIterationStopper(7), FunctionStopper(lambda i, r: r["acc"] == 9))) == [7]


def test_every_searcher_and_scheduler_is_known():
    """What a class of Ray's names becomes is a plugin of tunehost with options that it has."""
    from tunehost.tune import schedulers, search
    from tunehost.tune.search import _methods

    made = [{"search_alg": cls()} for name, cls in _methods.NAMES.items() if name != "zoopt"]
    made += [
        {"search_alg": s}
        for s in (
            search.BasicVariantGenerator(random_state=3),
            search.ConcurrencyLimiter(search.create_searcher("optuna"), 1),
            search.Repeater(search.BasicVariantGenerator(), 2, set_index=False),
            _methods.HyperOptSearch(n_initial_points=5),
            _methods.TuneBOHB(bohb_config={"top_n_percent": 20, "num_samples": 9}),
            "sobol",
            {"plugin": "gp", "startup": 4},
        )
    ]
    every = {"time_attr": "training_iteration"}
    made += [
        {"scheduler": s}
        for s in (
            tune.ASHAScheduler(max_t=40, grace_period=2, brackets=2),
            schedulers.HyperBandForBOHB(max_t=4),
            tune.FIFOScheduler(),
            tune.HyperBandScheduler(),
            schedulers.MedianStoppingRule(grace_period=2, **every),
            schedulers.Plugin("patience"),
            schedulers.ResourceChangingScheduler(tune.ASHAScheduler(max_t=4)),
            "pasha",
            tune.PB2(perturbation_interval=2, hyperparam_bounds={"x": [0, 1]}, **every),
            tune.PopulationBasedTraining(
                perturbation_interval=2, hyperparam_mutations={"x": None, "k": [1, 2, 3]}, **every
            ),
        )
    ]
    for config in made:
        tuner = tune.Tuner(
            Counter,
            param_space={"x": tune.uniform(0, 1), "k": 2},
            tune_config=tune.TuneConfig(metric="total", mode="max", num_samples=2, **config),
            run_config=tune.RunConfig(stop=TrialPlateauStopper("total"), failure_config=tune.FailureConfig(1)),
        )
        lines = [line for line in tuner.to_yaml().splitlines() if not line.startswith("trainable")]
        Path("file.yaml").write_text("\n".join(["trainable: {plugin: chaos, options: {any_params: true}}", *lines]))
        done = subprocess.run([_binary.find(), "validate", "file.yaml"], capture_output=True, text=True)
        assert done.returncode == 0, (config, done.stderr)


def test_points_run_first():
    from tunehost.tune.search.optuna import OptunaSearch

    def train(config):
        tune.report({"loss": config["x"]})

    results = fit(
        train,
        {"x": tune.uniform(0, 1), "k": tune.choice([len, max])},
        metric="loss",
        mode="min",
        num_samples=3,
        search_alg=OptunaSearch(points_to_evaluate=[{"x": 0.25, "k": max}]),
    )
    assert results[0].config == {"x": 0.25, "k": max} and len(results) == 3


def test_minimize_and_experiment():
    best = tunehost.minimize(
        lambda p: (p["x"] - 3) ** 2, {"x": tune.uniform(0, 10)}, trials=20, seed=1, name="mine", verbose=0
    )
    assert best.value == (best.params["x"] - 3) ** 2
    e = tunehost.Experiment.open("results/mine")
    assert e.status()["state"] == "finished" and len(e.trials()) == 20
    assert e.best()["value"] == min(t["metrics"]["value"] for t in e.trials()) == best.value
    assert e.dataframe()["params/x"].between(0, 10).all() and e.curves("value").shape == (1, 20)
    assert tunehost.maximize(lambda p: p["x"], {"x": tune.grid_search([1, 5])}, verbose=0).value == 5
    with pytest.raises(tunehost.ReadError, match="there is no experiment here"):
        tunehost.Experiment.open("results")
    with pytest.raises(RuntimeError, match="all 2 trials failed"):
        tunehost.minimize(lambda p: p["nothing"], {}, trials=2, verbose=0)


def test_minimize_takes_what_a_trial_reports():
    """A dict has the value and more; an array of one number is a number."""
    numpy = pytest.importorskip("numpy")
    space = {"x": tune.grid_search([1, 2])}
    best = tunehost.minimize(lambda p: {"value": numpy.array([p["x"]]), "aux": 7, "note": "n"}, space, name="more", verbose=0)
    assert best.value == 1 and best.experiment.best()["metrics"] == {"value": 1, "aux": 7}
    with pytest.raises(RuntimeError, match="returned {'loss': 1}: expected a number, or a dict with a number as \"value\""):
        tunehost.minimize(lambda p: {"loss": 1}, space, verbose=0)


@pytest.mark.parametrize("trials, made", [(4, 4), (5, 4), (1, 2), (None, 2)])
def test_minimize_counts_trials_with_grids(recwarn, trials, made):
    space = {"x": tune.grid_search([1, 2]), "y": tune.sample_from(lambda: 3)} if trials else {"x": tune.grid_search([1, 2])}
    best = tunehost.minimize(lambda p: p["x"], space, trials=trials, name="counted", verbose=0)
    assert len(best.experiment.trials()) == made
    says = [str(w.message) for w in recwarn if "combinations" in str(w.message)]
    assert [text.split(":")[0] for text in says] == ([] if made == trials or not trials else [f"trials={trials} makes {made} trials"])


def test_minimize_goes_on_with_the_trials_that_it_had(monkeypatch):
    """The experiment has begun when trials was how often each combination is tried."""
    space = {"x": tune.grid_search([1, 2])}
    with monkeypatch.context() as old:
        old.setattr("tunehost._grids.rounds", lambda trials, *_, **__: trials)
        tunehost.minimize(lambda p: p["x"], space, trials=3, name="old", verbose=0)
    with pytest.warns(UserWarning, match="trials=3 makes 6 trials: the experiment has begun with as many for each"):
        best = tunehost.minimize(lambda p: p["x"], space, trials=3, name="old", resume=True, verbose=0)
    assert len(best.experiment.trials()) == 6


def test_values_that_the_record_has_as_texts_keep_their_types():
    space = {"c": tune.grid_search([None, 0.1, (1,), abs]), "d": {"e": tune.choice([1, True])}}
    best = tunehost.minimize(lambda p: 1.0, space, trials=4, name="typed", verbose=0)
    values = [t["params"]["c"] for t in best.experiment.trials()]
    assert values == [None, 0.1, (1,), "abs"] == list(best.experiment.dataframe()["params/c"])
    assert best.experiment.best()["params"] == best.params == best.experiment.status()["best"]["params"]


def test_failed_trials_go_on_after_restore():
    def train(config):
        if not Path(config["flag"]).exists():
            raise RuntimeError("not yet")
        tune.report({"loss": 1})

    flag = os.path.abspath("flag")
    results = fit(train, {"flag": flag}, {"name": "again"}, num_samples=2)
    assert results.num_errors == 2 and tune.Tuner.can_restore("results/again")
    Path(flag).touch()
    assert tune.Tuner.restore("results/again", train).fit().num_errors == 2
    assert tune.Tuner.restore("results/again", train, restart_errored=True).fit().num_errors == 0
    assert not tune.Tuner.can_restore("results")
    with pytest.raises(tune.TuneError, match="there is no experiment"):
        tune.Tuner.restore("results", train)
    assert fit(train, {"flag": flag}, {"name": "again"}).experiment_path.endswith("results/again-2")


def test_a_step_asks_for_a_checkpoint():
    """Ray's key of a result: the class is saved with just this result."""

    class Asks(Counter):
        def step(self):
            return {**super().step(), "should_checkpoint": self.total == 2}

    (result,) = fit(Asks, {"until": 4})
    assert [m["total"] for _, m in result.best_checkpoints] == [2, 4] and result.metrics["total"] == 4


def test_run_starts_from_a_checkpoint_and_resumes():
    def train(config):
        start = int(Path(tune.get_checkpoint().path, "n").read_text()) if tune.get_checkpoint() else 0
        if start == 7 and not Path(config["flag"]).exists():
            raise RuntimeError("not yet")
        tune.report({"start": start})

    Path("made").mkdir()
    Path("made/n").write_text("7")
    config = {"flag": os.path.abspath("flag")}
    first = tune.run(train, config=config, name="from", restore="made", verbose=0, raise_on_failed_trial=False)
    assert "not yet" in str(first.trials[0].error)
    Path("flag").touch()
    errored = tune.ResumeConfig(errored=tune.ResumeConfig.ResumeType.RESTART)
    again = tune.run(train, config=config, name="from", resume=True, resume_config=errored, verbose=0)
    assert again.trials[0].metrics["start"] == 7
    with pytest.raises(tune.TuneError, match="there is no checkpoint"):
        tune.run(train, restore="nowhere")
    with pytest.raises(tune.TuneError, match="resume is not"):
        tune.run(train, resume_config=errored)


def test_refusals_of_the_program_are_errors():
    with pytest.raises(tune.TuneError, match="cpu"):
        fit(tune.with_resources(lambda c: None, {"cpu": 10_000}))
    lock = __import__("threading").Lock()
    with pytest.raises(tune.TuneError, match="cannot be pickled"):
        fit(lambda c: lock.acquire())
    with pytest.raises(tune.TuneError, match="need"):
        fit(lambda c: None, scheduler=tune.ASHAScheduler())


SPAWNS = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from beside import more
from tunehost import tune

class Box:
    value = 3

def boxed(box):
    return box.value

def train(config):
    context = multiprocessing.get_context(config["how"])
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        tune.report({"loss": pool.submit(more, 1).result() + pool.submit(boxed, Box()).result()})

if __name__ == "__main__":
    space = {"how": tune.grid_search(["spawn", "forkserver"])}
    results = tune.Tuner(train, param_space=space, tune_config=tune.TuneConfig(metric="loss", mode="min")).fit()
    print("losses", *(r.metrics.get("loss", r.error) for r in results))
"""


def test_trials_spawn_processes():
    """They import no trial, and find the functions of the script and of modules."""
    Path("beside.py").write_text("def more(x):\n    return x + 1\n")
    Path("script.py").write_text(SPAWNS)
    said = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, timeout=60)
    assert "losses 5 5" in said.stdout, said.stdout + said.stderr


PLUGIN = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
import tunehost

def more(x):
    return x + 1

@tunehost.trainable(name="spawning", version="1.0.0")
def spawning(run):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(run.params["how"])) as pool:
        run.report({"loss": pool.submit(more, 1).result()})

tunehost.serve(spawning)
"""


def test_plugins_spawn_processes():
    """serve is in the last line, as the README has it: a process that a trial has spawned is no plugin."""
    Path("plugin").mkdir()
    Path("plugin/serve.py").write_text(PLUGIN)
    manifest = {"kind": "trainable", "name": "spawning", "version": "1.0.0", "command": [sys.executable, "serve.py"],
                "env": ["PYTHONPATH"]}
    Path("plugin/plugin.yaml").write_text(json.dumps(manifest))
    experiment = {"version": 1, "name": "spawns", "objective": {"metric": "loss", "mode": "min"}, "trials": 1,
                  "trainable": {"plugin": os.path.abspath("plugin")}, "space": {"how": {"grid": ["spawn", "forkserver"]}}}
    Path("spawns.yaml").write_text(json.dumps(experiment))
    said = subprocess.run([_binary.find(), "run", "spawns.yaml"], capture_output=True, text=True, timeout=60)
    assert said.returncode == 0, said.stdout + said.stderr
