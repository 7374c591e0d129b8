"""What comes back to users: numbers of the types that they gave, nothing that they have not named, also after Ctrl-C."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import tunehost
from tunehost import _binary, tune
from tunehost.tune import _host, _serving
from tunehost.tune.error import TuneError
from tunehost.tune.search import Searcher


def fit(trainable, space, callbacks=None, run=None, **config):
    return tune.Tuner(
        trainable,
        param_space=space,
        tune_config=tune.TuneConfig(metric="loss", mode="min", **config),
        run_config=tune.RunConfig(**{"verbose": 0, "name": "back", "callbacks": callbacks, **(run or {})}),
    ).fit()


def same(found, expected):
    """Whether numbers are the same, and of the same types."""
    assert repr({k: found[k] for k in expected}) == repr(expected)


REPORTED = {"loss": 3.0, "n": 3, "half": 0.5, "val": {"acc": 1.0, "right": 7}, "mixed": 2.0}


def reports(config):
    same(config, {"k": 3.0, "n": 3, "q": float(config["q"]), "list": [1.0, 2]})
    assert repr(config["c"]) in ("1.0", "2.0") and repr(config["m"]) in ("1", "2.0")
    tune.report({**REPORTED, "mixed": 1})
    tune.report(REPORTED)


SPACE = {
    "k": 3.0,
    "n": 3,
    "q": tune.quniform(0, 10, 1.0),
    "c": tune.choice([1.0, 2.0]),
    "m": tune.choice([1, 2.0]),
    "g": tune.grid_search([5.0]),
    "list": [1.0, 2],
}


class Hears(tune.Callback):
    """Also keeps what it has heard."""

    def __init__(self):
        self.last = {}

    def on_trial_complete(self, iteration, trials, trial, **info):
        self.last = trial.last_result


def test_numbers_have_the_types_that_were_given():
    heard = Hears()
    results = fit(reports, SPACE, [heard], num_samples=2)
    for r in results:
        same(r.config, {"k": 3.0, "n": 3, "list": [1.0, 2], "g": 5.0})
        assert {type(r.config[name]) for name in ("q", "c")} == {float}
        same(r.metrics, {**REPORTED, "training_iteration": 2})
        assert [type(one["mixed"]) for one in r.results] == [float, float]
    same(heard.last, REPORTED)
    frame = results.get_dataframe()
    kinds = {name: frame[name].dtype.kind for name in ("loss", "n", "val/acc", "val/right", "config/c", "config/n")}
    assert kinds == {"loss": "f", "n": "i", "val/acc": "f", "val/right": "i", "config/c": "f", "config/n": "i"}
    same(results[0].metrics_dataframe.iloc[-1].to_dict(), {"loss": 3.0, "n": 3})
    again = tune.ResultGrid(results.experiment_path)
    same(again[1].metrics, REPORTED)
    flat = {"half": 0.5, "loss": 3.0, "mixed": 2.0, "n": 3, "val/acc": 1.0, "val/right": 7}
    experiment = tunehost.Experiment.open(results.experiment_path)
    assert [repr(t["metrics"]) for t in experiment.trials()] == [repr(flat)] * 2
    same(experiment.curve(1)[-1]["metrics"], flat)
    same(experiment.best(), {"value": 3.0, "metrics": flat})
    same(experiment.status()["best"], {"value": 3.0, "metrics": flat})


class Asks(Searcher):
    """Writes what it is told."""

    def suggest(self, trial_id):
        return {"c": 2.0, "more": 4.0}

    def on_trial_complete(self, trial_id, result=None, error=False):
        same(result, {"n": 3, "loss": 3.0})
        same(result["config"], {"c": 2.0, "more": 4.0})
        Path(os.environ["SEEN"]).write_text("it has")


def of_search(config):
    tune.report({"loss": 3.0, "n": 3})


def test_a_searcher_gets_and_gives_them_and_its_numbers_are_not_shown(tmp_path, monkeypatch):
    """What it suggests beside the space is a file, whose number users do not see."""
    monkeypatch.setenv("SEEN", str(tmp_path / "seen"))
    results = fit(of_search, {"c": tune.choice([1.0, 2.0])}, search_alg=Asks())
    assert (tmp_path / "seen").read_text() == "it has"
    same(results[0].config, {"c": 2.0, "more": 4.0})
    experiment = tunehost.Experiment.open(results.experiment_path)
    shown = [results[0].metrics, results.get_dataframe().to_dict(), experiment.trials()[0]["params"]]
    shown += [experiment.best()["params"], experiment.status()["best"]["params"], list(experiment.dataframe().columns)]
    assert [one for one in shown if "_suggestion" in re.sub(r"/\S*", "", repr(one))] == []


def test_starting_points_may_be_written_as_other_numbers():
    algorithm = tune.search.BasicVariantGenerator(points_to_evaluate=[{"c": 2, "q": 4}])
    results = fit(of_search, {"c": tune.choice([1.0, 2.0]), "q": tune.quniform(0, 10, 1.0)}, search_alg=algorithm)
    same(results[0].config, {"c": 2.0, "q": 4.0})


@pytest.mark.parametrize("storage", [None, "none"])
def test_ask_and_tell_keeps_them(storage):
    space = {"c": tune.choice([1.0, 2.0]), "k": 3.0, "q": tune.quniform(0, 10, 1.0)}
    with tunehost.AskTell(space, metric="loss", mode="min", trials=2, storage=storage, name="told") as experiment:
        for trial in experiment:
            assert {type(value) for value in trial.params.values()} == {float}
            experiment.tell(trial, {"loss": 3.0, "size": 7})
        same(experiment.best()["metrics"], {"loss": 3.0, "size": 7})
        same(experiment.best(), {"value": 3.0})
        assert {type(value) for value in experiment.best()["params"].values()} == {float}


def test_a_script_reports_them(tmp_path):
    (tmp_path / "script.py").write_text("import tunehost; tunehost.report(loss=3.0, n=3)")
    file = tmp_path / "experiment.yaml"
    file.write_text(
        "version: 1\nname: scripted\nobjective: {metric: loss, mode: min}\nspace: {x: {uniform: [0, 1]}}\ntrials: 1\n"
        f"trainable: {{command: [{sys.executable}, {tmp_path}/script.py]}}\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(tunehost.__file__).parent.parent)}
    subprocess.run([_binary.find(), "run", str(file), "-v", "0"], check=True, env=environment)
    same(tunehost.Experiment.open("results/scripted").best()["metrics"], {"loss": 3.0, "n": 3})


def test_what_is_minimized_is_a_float():
    best = tunehost.minimize(lambda p: 2, {"x": tune.choice([1.0, 2.0])}, trials=1, name="two", verbose=0)
    assert repr(best.value) == "2.0" and repr(best.params) in ("{'x': 1.0}", "{'x': 2.0}")


INTERRUPTED = """
    import glob, os, signal, sys, threading, time
    from tunehost import tune

    def function(config):
        for i in range(10000):
            tune.report({"loss": float(i), "n": i})
            time.sleep(0.02)

    class Class(tune.Trainable):
        def step(self):
            time.sleep(0.02)
            return {"loss": float(self.iteration), "n": self.iteration}

    def strike():
        while len([f for f in glob.glob("results/cut/trials/*/result.jsonl") if os.path.getsize(f) > 1000]) < 2:
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=strike, daemon=True).start()
    results = tune.Tuner(
        {"function": function, "class": Class}[sys.argv[1]],
        tune_config=tune.TuneConfig(metric="loss", mode="max", num_samples=3, max_concurrent_trials=2),
        run_config=tune.RunConfig(name="cut", verbose=0),
    ).fit()
    ran = [r for r in results if r.results]
    print(len(results), [r.metrics["loss"] == r.metrics["n"] >= 2 for r in ran], len(results.get_dataframe().loss.dropna()))
    print(results.get_best_result().metrics["loss"] == max(r.metrics["loss"] for r in ran))
"""


@pytest.mark.parametrize("kind", ["function", "class"])
def test_trials_that_ctrl_c_has_ended_have_their_results(tmp_path, kind):
    (tmp_path / "cut.py").write_text(textwrap.dedent(INTERRUPTED))
    resources = {**os.environ, "TUNEHOST_RESOURCES": "cpu=2"}
    done = subprocess.run([sys.executable, "cut.py", kind], capture_output=True, text=True, env=resources, timeout=300)
    assert done.stdout.splitlines() == ["3 [True, True] 2", "True"], done.stdout + done.stderr


def test_ctrl_c_before_an_experiment_begins(monkeypatch):
    """There are no results then, and nothing to restore; fit begins it again, under its name."""
    tuner = tune.Tuner(of_search, run_config=tune.RunConfig(verbose=0, name="soon"))
    with monkeypatch.context() as patch:
        patch.setattr(_host, "run", lambda *_: _host.INTERRUPTED)
        with pytest.raises(KeyboardInterrupt, match="before the experiment began"):
            tuner.fit()
    assert not Path("results/soon").exists()
    assert len(tuner.fit()) == 1 and Path("results/soon").exists()


def test_without_the_program_no_directory_takes_the_name(monkeypatch):
    tuner = tune.Tuner(of_search, run_config=tune.RunConfig(verbose=0, name="none"))
    with monkeypatch.context() as patch:
        patch.setenv("TUNEHOST_BINARY", "/nowhere/tunehost")
        with pytest.raises(tunehost.NotFound):
            tuner.fit()
    assert not Path("results/none").exists()


def test_a_process_that_takes_too_long_is_called_by_its_python_name(monkeypatch, capfd):
    served = _serving.trainer
    monkeypatch.setattr(_serving, "trainer", lambda: "import time; time.sleep(60)\n" + served())
    with pytest.raises(tune.TuneError) as refused:
        fit(of_search, {}, run={"deadlines": {"start": 1}, "verbose": 1})
    said = str(refused.value) + capfd.readouterr().err
    assert "the process of the trainable was not ready within 1s" in said and 'deadlines={"start": SECONDS}' in said
    assert "has not answered for" in said and "Describe" not in said and "deadlines.start" not in said


def test_ask_and_tell_needs_to_know_what_is_good():
    with pytest.raises(tunehost.AskError, match='write mode="min" or mode="max"'):
        tunehost.AskTell({"x": tune.uniform(0, 1)}, metric="loss")
    with pytest.raises(tunehost.AskError, match="leave mode out"):
        tunehost.AskTell({"x": tune.uniform(0, 1)}, metric={"loss": "min"}, mode="max")


def odd(config):
    tune.report({"loss": 2.0, "zero": -0.0, "in": {"zero": -0.0}, "big": 10**400, "m": 2**63, "text": "\ud800"})


def test_odd_values_come_back():
    results = tune.Tuner(odd, run_config=tune.RunConfig(verbose=0)).fit()
    found = results[0].metrics
    assert repr([found["zero"], found["in"]["zero"]]) == "[-0.0, -0.0]"
    assert (found["big"], found["m"], found["text"]) == (10**400, 2**63, "?")


def in_itself(config):
    metrics = {"loss": 1.0}
    metrics["mine"] = {"again": metrics}
    tune.report(metrics)


def test_a_dict_that_contains_itself_is_named():
    (error,) = tune.Tuner(in_itself, run_config=tune.RunConfig(verbose=0)).fit().errors
    assert "mine has more than 100 dicts in each other: does it contain itself?" in str(error)


class Fails(tune.Stopper):
    def __call__(self, trial_id, result):
        raise ValueError("on purpose")

    def stop_all(self):
        return False


def test_an_exception_of_a_stopper_is_the_stoppers():
    tuner = tune.Tuner(odd, run_config=tune.RunConfig(verbose=0, stop=Fails()))
    with pytest.raises(TuneError, match=r"the stopper failed 3 times .*; the last time: ValueError: on purpose") as raised:
        tuner.fit()
    assert "fifo" not in str(raised.value)


def test_the_working_directory_is_gone(tmp_path, monkeypatch):
    gone, there = tmp_path / "gone", tmp_path / "there"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    begins = [
        lambda: tune.Tuner(odd).fit(),
        lambda: tunehost.minimize(lambda p: p["x"], {"x": tune.uniform(0, 1)}, trials=1),
        lambda: tunehost.AskTell({"x": tune.uniform(0, 1)}, metric="loss", mode="min"),
        lambda: tunehost.Experiment.open("results/x"),
        lambda: tune.Tuner.restore("results/x"),
        lambda: tune.Checkpoint.from_directory("here"),
    ]
    for begin in begins:
        with pytest.raises(FileNotFoundError, match="the working directory was deleted: change into another one"):
            begin()
    results = tune.Tuner(odd, run_config=tune.RunConfig(verbose=0, storage_path=str(there))).fit()
    assert not results.errors and results[0].metrics["loss"] == 2


def deletes(config):
    tune.report({"loss": 3.0})
    shutil.rmtree(tune.get_context().get_trial_dir())
    tune.report({"loss": 1.0, "in": {"n": 2}})


def test_results_of_a_trial_that_deletes_its_directory_come_back():
    results = tune.Tuner(deletes, run_config=tune.RunConfig(verbose=0)).fit()
    assert [r["loss"] for r in results[0].results] == [3.0, 1.0] and not results.errors
    assert results[0].metrics["training_iteration"] == 2 and results[0].metrics["in/n"] == 2


@pytest.mark.parametrize("name", ["_suggestion", "_metric", "__x", "_"])
def test_names_that_begin_with_a_line_are_as_others(name):
    def train(config):
        tune.report({"loss": config[name] + config["net"][name]})

    space = {name: tune.randint(1, 10), "net": {name: tune.uniform(0, 1)}}
    results = tune.Tuner(
        train,
        param_space=space,
        tune_config=tune.TuneConfig(metric="loss", mode="min", num_samples=2),
        run_config=tune.RunConfig(verbose=0),
    ).fit()
    read = tunehost.Experiment.open(results.experiment_path)
    assert read.best()["params"] == results.get_best_result().config
    assert all(set(trial["params"]) == {name, "net"} for trial in read.trials())
    with tunehost.AskTell(space, "loss", "min", trials=1, name="told", storage="results") as session:
        asked = session.ask()
        session.tell(asked, 1.0)
        assert session.best()["params"] == asked.params and set(asked.params) == {name, "net"}
    assert tunehost.Experiment.open("results/told").best()["params"] == asked.params


def test_a_searcher_of_the_users_needs_one_of_them():
    class Own(tune.search.Searcher):
        def suggest(self, trial_id):
            return {"x": 1}

        def on_trial_complete(self, trial_id, result=None, error=False):
            pass

    with pytest.raises(tune.TuneError, match="the parameter _suggestion has a name .*: give it another name"):
        tune.Tuner(
            print,
            param_space={"_suggestion": tune.uniform(0, 1)},
            tune_config=tune.TuneConfig(metric="loss", mode="min", search_alg=Own()),
        )
