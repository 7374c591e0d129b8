"""What users do wrong, and what they are told: one line that says what and where, after frames of their own."""

import errno
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

import tunehost
from tunehost import tune
from tunehost.tune.search import Searcher


def loss(config):
    tune.report({"loss": config["x"]})


def fit(trainable, space=None, **config):
    return tune.Tuner(
        trainable,
        param_space={"x": 1} if space is None else space,
        tune_config=tune.TuneConfig(**{"metric": "loss", "mode": "min", **config}),
        run_config=tune.RunConfig(verbose=0),
    ).fit()


def runs(**config):
    tune_config = tune.TuneConfig(metric="loss", mode="min")
    return tune.Tuner(loss, param_space={"x": 1}, tune_config=tune_config, run_config=tune.RunConfig(**config))


def none_at_all():
    pass


def closes_over():
    lock = threading.Lock()

    def train(config):
        with lock:
            tune.report({"loss": 1})

    return train


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: tune.ASHAScheduler(max_time=3), "max_time"),
        (lambda: tune.TuneConfig(metric="loss", mode="minimize"), "mode is 'minimize': expected min or max"),
        (lambda: tune.uniform(1, 0), "lower is 1 and upper is 0: lower must be less"),
        (lambda: tune.loguniform(0, 1), "a logarithmic range must be above 0"),
        (lambda: fit(loss({"x": 1})), "pass the function itself, do not call it"),
        (lambda: fit(none_at_all), r"cannot be called as none_at_all\(config\)"),
        (lambda: fit(tune.with_parameters(loss, data=1)), r"cannot be called as loss\(config, data\).*data"),
        (lambda: fit(loss, [("x", 1)]), "expected a dict of parameters"),
        (lambda: fit(loss, {"x": tune.uniform}), r"x is the function tune.uniform: call it, as in tune.uniform\(lower, upper\)"),
        (lambda: fit(loss, {"a": {"b": tune.choice}}), r"a/b is the function tune.choice: .*tune.choice\(categories\)"),
        (lambda: fit(closes_over()), "because of its variable lock, a lock .*: create such objects where they are used"),
        (lambda: fit(loss, scheduler="asha2"), "there is no scheduler"),
        (lambda: fit(loss, scheduler=tune.schedulers.ASHAScheduler), r"as in AsyncHyperBandScheduler\(\)"),
        (lambda: tune.Tuner(loss, tune_config={"metric": "loss"}), "expected a tune.TuneConfig"),
        (lambda: tune.Tuner(loss, run_config=3), "expected a tune.RunConfig"),
        (lambda: tune.Tuner(loss, run_config=tune.RunConfig(callbacks=3)), "callbacks is 3: expected a list"),
        (lambda: tune.Tuner(loss, run_config=tune.RunConfig(name="a/b")), "expected a name without /"),
        (lambda: tune.Tuner(loss, run_config=tune.RunConfig(storage_path=5)), "expected the path of a directory"),
        (lambda: tune.choice(3), "choice has 3: expected a list of values"),
        (lambda: tune.grid_search(3), "grid_search has 3: expected a list of values"),
        (lambda: tune.uniform("a", 1), "lower is 'a': expected a number"),
        (lambda: tune.uniform("0", "1"), "lower is '0': expected a number"),
        (lambda: tune.TuneConfig(time_budget_s="10"), "time_budget_s is '10': expected a number of seconds"),
        (lambda: tune.ASHAScheduler(max_t="10"), "max_t is '10': expected a number"),
        (lambda: tune.schedulers.HyperBandScheduler(max_t="10"), "max_t is '10': expected a number"),
        (lambda: runs(failure_config={"max_failures": 2}), "failure_config is {.*}: expected a tune.FailureConfig"),
        (lambda: runs(checkpoint_config={"num_to_keep": 2}), "checkpoint_config is {.*}: expected a tune.CheckpointConfig"),
        (lambda: runs(stop={"loss": "a"}), "stop: loss is 'a': expected a number"),
        (lambda: runs(stop={"training_iteration": "a"}), "stop: training_iteration is 'a': expected a number"),
        (lambda: fit(loss, {"x": 1, "deep": {"y": tune.uniform(0, 1), "lock": threading.Lock()}}),
         "param_space cannot be pickled, because of its parameter deep/lock, a lock"),
        (lambda: tunehost.minimize("f", {"x": 1}), "f is 'f': expected a function"),
        (lambda: tunehost.minimize(loss, {"x": tune.uniform(0, 1)}, trials=1, points=[{"z": 1}]),
         "^points: 'z' is no parameter of the space; it has x$"),
        (lambda: fit(loss, {"x": 1}, trial_dirname_creator=lambda trial: "d/../../x"),
         r"trial_dirname_creator returned 'd/\.\./\.\./x': expected a name without /$"),
        (lambda: tunehost.minimize(loss, {"x": 1}, trials=0), "^trials is 0: expected a whole number from 1 on"),
        (lambda: tunehost.maximize(loss, {"x": 1}, trials=3.0), r"^trials is 3\.0: expected a whole number from 1 on"),
        (lambda: tunehost.minimize(loss, {"x": tune.uniform(0, 1)}, searcher="tpx"), "^searcher: there is no searcher"),
        (lambda: tunehost.minimize(loss, {"x": 1}, trials=1, resume=True), "resume continues the experiment of a name"),
        (lambda: tune.report(loss=1), r'write tune.report\(\{"loss": 1\}\)'),
    ],
)
def test_a_mistake_is_one_line(make, says):
    with pytest.raises(Exception, match=says) as raised:
        make()
    assert "\n" not in str(raised.value)


BEYOND = "a whole number of about 401 digits, which is beyond all floats"


@pytest.mark.parametrize("value, shown", [(None, "None"), ("good", "'good'"), ("0.5", "'0.5'"), ([1, 2], "[1, 2]"),
                                          (10**400, BEYOND), (-(10**5000), BEYOND.replace("401", "5001"))],
                         ids=["None", "good", "text", "list", "huge", "negative"])
def test_a_function_that_returns_no_number_is_named(value, shown):
    def f(params):
        return value

    line = f.__code__.co_firstlineno
    says = f"the function f ({__file__}, line {line}) returned {shown}: expected a number"
    with pytest.raises(RuntimeError, match=re.escape(says)) as raised:
        tunehost.minimize(f, {}, trials=1, verbose=0)
    assert ".py\"" not in str(raised.value)  # no frames of this package, and there are no others


@pytest.mark.parametrize("verbose", [0, 1])
def test_settings_that_change_nothing_are_told(capfd, verbose):
    """At every verbosity, once, and without places in a file that the user has not written."""
    space = {"x": tune.grid_search([1, 2])}
    tunehost.minimize(lambda p: p["x"], space, name="told", seed=1, verbose=0)
    capfd.readouterr()
    changed = {"seed": 5, "searcher": "tpe", "constraints": ["x < 3"]}
    tunehost.minimize(lambda p: p["x"], space, name="told", resume=True, verbose=verbose, **changed)
    lines = capfd.readouterr().err.splitlines()
    said = [line for line in lines if line.startswith("warning: ") and "this machine has" not in line]
    assert all(any(line.startswith(f"warning: the change of {key}") for line in said) for key in changed), said
    assert any(line.startswith("warning: searcher has no effect: ") for line in said) and len(said) == 4, said
    assert "yaml" not in str(said) and "--" not in str(said)


@pytest.mark.parametrize("verbose", [0, 1])
def test_checkpoints_that_nobody_makes_are_told_once(capfd, verbose):
    class Steps(tune.Trainable):
        def step(self):
            return {"loss": 1.0, "done": True}

    run = tune.RunConfig(verbose=verbose, checkpoint_config=tune.CheckpointConfig(checkpoint_frequency=1, checkpoint_at_end=True))
    tune.Tuner(Steps, param_space={"x": 1}, tune_config=tune.TuneConfig(metric="loss", mode="min"), run_config=run).fit()
    said = capfd.readouterr().err
    assert said.count("checkpoint.every has no effect") == said.count("checkpoint.at_end has no effect") == 1


def reports_thrice(config):
    for i in range(3):
        tune.report({"loss": config["x"] + i})


@pytest.mark.parametrize("verbose", [0, 1])
def test_trials_that_begin_again_for_want_of_a_checkpoint_are_told_once(capfd, verbose):
    tune.Tuner(
        reports_thrice,
        param_space={"x": tune.grid_search([1, 2, 3, 4, 5])},
        tune_config=tune.TuneConfig(metric="loss", mode="min", scheduler=tune.HyperBandScheduler(max_t=3)),
        run_config=tune.RunConfig(verbose=verbose),
    ).fit()
    told = r"warning: trial \d is paused and has made no checkpoint, so it will start from the beginning"
    assert len(re.findall(told, capfd.readouterr().err)) == 1


def test_run_tells_what_it_does_not_take_when_it_continues(capfd):
    first = {"config": {"x": tune.uniform(0, 1)}, "metric": "loss", "mode": "min", "name": "on", "verbose": 0}

    def said(**arguments):
        capfd.readouterr()
        assert len(tune.run(loss, resume=True, **{**first, **arguments}).trials) == 2
        return [line for line in capfd.readouterr().err.splitlines() if "this machine has" not in line]

    def stops(trial_id, result):
        return False

    tune.run(loss, num_samples=2, **first)
    assert said(num_samples=2) == said() == said(config=None) == []
    changed = {"num_samples": 5, "scheduler": tune.ASHAScheduler(), "stop": {"training_iteration": 5}, "time_budget_s": 3,
               "max_concurrent_trials": 1, "config": {"x": tune.uniform(0, 2)}, "restore": "there"}
    (line,) = said(**changed)
    assert line.startswith("warning: ") and line.endswith("ignored, as the experiment 'on' keeps what it has begun with")
    assert set(line[len("warning: "):line.rindex(": ")].split(", ")) == set(changed)
    (line,) = said(stop=stops, callbacks=[tune.Callback()])
    assert line.startswith("warning: stop, callbacks: ignored")
    (line,) = said(scheduler=tune.ASHAScheduler(), metric=None, mode=None)
    assert "what the call sets (" in line


LARGE = tune.randint(2**60, 2**60 + 5)


@pytest.mark.parametrize("space, name", [
    ({"a": tune.uniform(0, 1), "x": LARGE}, "x"), ({"n": {"ü": LARGE}}, "n/ü"), ({"c": tune.choice([1, {"x": LARGE}])}, "c_1/it/x"),
    ({"x": tune.quniform(1, 2, 5)}, "x"),
])
def test_what_the_program_refuses_of_a_space_names_the_parameter(space, name):
    says = rf"^(param_)?space: {name}: (found the number \d+, expected one within|no multiple of the step)"
    with pytest.raises(tune.TuneError, match=says):
        fit(loss, space)
    with pytest.raises(tunehost.AskError, match=says):
        tunehost.AskTell(space, metric="loss", mode="min", trials=1)


def test_numbers_of_numpy_are_numbers_of_trials():
    numpy = pytest.importorskip("numpy")
    best = tunehost.minimize(lambda p: numpy.float32(p["x"]), {"x": tune.uniform(0, 1)}, trials=numpy.int64(2), verbose=0,
                             seed=numpy.int64(1), points=[{"x": 0.25}], constraints=["x < 0.5"], scheduler="asha")
    assert len(best.experiment.trials()) == 2 and best.experiment.trials()[0]["params"]["x"] == 0.25
    assert all(t["params"]["x"] < 0.5 for t in best.experiment.trials()) and not best.interrupted


def test_a_stop_rule_that_is_nearly_a_known_one_is_named(capsys):
    runs(stop={"training_iteratoin": 3})
    assert capsys.readouterr().err == "tunehost: stop has 'training_iteratoin': did you mean 'training_iteration'?\n"


def not_a_number(config):
    tune.report({"loss": float("nan") if config["x"] else 1})
    tune.report({"loss": float("nan")})


def test_values_that_are_no_numbers_are_not_the_fault_of_the_name():
    grid = fit(not_a_number, {"x": tune.grid_search([0, 0])})
    with pytest.raises(RuntimeError, match="no trial has a finite value of 'loss': with scope='last' all 2 are NaN; see scope="):
        grid.get_best_result()
    assert grid.get_best_result(scope="all").metrics_dataframe is not None


def test_an_analysis_takes_the_metric_of_the_experiment():
    grid = fit(loss, {"x": tune.grid_search([3, 2])})
    assert tune.ExperimentAnalysis(grid.experiment_path).best_config == {"x": 2}


SPACE = {"x": tune.uniform(0, 1), "c": tune.choice([1, len]), "n": {"lr": tune.loguniform(1e-3, 1), "deep": 20}, "o": abs}


@pytest.mark.parametrize(
    "changed, says",
    [
        ({"x": tune.uniform(0, 2)}, "x/uniform is .* and was "),
        ({"x": tune.quniform(0, 1, 0.5)}, "x is .* and was "),
        ({"c": tune.choice([1, abs])}, "c/choice is .* and was "),
        ({"n": {"lr": tune.loguniform(1e-3, 1), "deep": 30}}, "n/deep is 30 and was 20"),
        ({"n": {"lr": tune.loguniform(1e-2, 1), "deep": 20}}, "n/lr/loguniform is "),
        ({"y": 1}, r"other parameters than the experiment \(y\)"),
    ],
)
def test_another_space_does_not_continue(changed, says):
    def train(config):
        tune.report({"loss": config["x"]})

    dir = fit(train, SPACE).experiment_path
    tune.Tuner.restore(dir, train, param_space={**SPACE, "o": len})  # objects may be others
    with pytest.raises(tune.TuneError, match=says) as raised:
        tune.Tuner.restore(dir, train, param_space={**SPACE, **changed})
    assert "begin a new experiment" in str(raised.value)


INTERRUPTED = """
import os, pathlib, signal, sys, time, tunehost
from tunehost import tune

def f(p):
    if p["x"] == 0.5:  # the second point, until the file is there
        while not os.path.exists(p["here"] + "/go"):
            os.kill(int(pathlib.Path(p["here"], "pid").read_text()), signal.SIGINT)
            time.sleep(60)
    return p["x"]

if __name__ == "__main__":
    here, points, resume = os.getcwd(), [{"x": float(x)} for x in sys.argv[1].split(",")], len(sys.argv) > 2
    pathlib.Path("pid").write_text(str(os.getpid()))
    best = tunehost.minimize(f, {"x": tune.uniform(0, 1), "here": here}, trials=3, points=points, concurrency=1, seed=1,
                             name="mc", resume=resume, verbose=0)
    print(best.interrupted, len(best.experiment.trials()), {t["state"] for t in best.experiment.trials()})
"""


def call(tmp_path, *arguments):
    (tmp_path / "script.py").write_text(INTERRUPTED)
    return subprocess.run([sys.executable, "script.py", *arguments], cwd=tmp_path, capture_output=True, text=True)


def test_an_interrupted_minimize_continues_as_it_says(tmp_path):
    first = call(tmp_path, "0.75,0.5")
    assert first.stdout.startswith("True "), first.stderr
    assert "interrupted; minimize with the same arguments and resume=True, name='mc' continues" in first.stderr
    (tmp_path / "go").touch()
    assert call(tmp_path, "0.75,0.5", "resume").stdout == "False 3 {'TERMINATED'}\n"
    assert os.listdir(tmp_path / "results") == ["mc"]


def test_a_function_of_minimize_continues_with_restore(tmp_path):
    assert call(tmp_path, "0.75,0.5").stdout.startswith("True ")
    (tmp_path / "go").touch()
    results = tune.Tuner.restore(str(tmp_path / "results" / "mc"), lambda p: p["x"] + 1).fit()
    assert len(results) == 3 and not results.errors and sum(r.metrics["value"] > 1 for r in results) == 2


def test_an_interrupt_before_the_first_value(tmp_path):
    done = call(tmp_path, "0.5,0.75")
    assert done.stderr.splitlines()[-1].startswith("KeyboardInterrupt: interrupted before "), done.stderr


SPAWNED = """
import multiprocessing, tunehost
from tunehost import tune

class Model:
    weight = 3

def helper(x):
    return x + Model().weight

def f(p):
    import pickle
    return helper(p["x"]) + pickle.loads(pickle.dumps(Model())).weight

def search():
    print(tunehost.minimize(f, {"x": 1}, trials=1, verbose=0).value)

if __name__ == "__main__":
    process = multiprocessing.get_context("spawn").Process(target=search)
    process.start()
    process.join()
"""


def test_functions_of_the_script_in_a_process_that_was_spawned(tmp_path):
    (tmp_path / "script.py").write_text(SPAWNED)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "7.0\n", done.stderr


def text(config):
    tune.report({"loss": "0.5"})


def named(config):
    tune.report(loss=0.5)


def bare(config):
    tune.report(0.5)


def another(config):
    tune.report({"acc": 1})


def nothing(config):
    pass


def missing(config):
    tune.report({"loss": config["lr"]})


@pytest.mark.parametrize(
    "train, says, own",
    [
        (text, "loss is '0.5', which is not a number", True),
        (named, 'write tune.report({"loss": 0.5})', True),
        (bare, 'expected a dict of metrics, such as {"loss": 0.5}', True),
        (missing, "KeyError: 'lr'", True),
        (another, 'lacks the metric "loss", which the objective needs; it has acc', False),
        (nothing, "it ended without reporting loss", False),
    ],
)
def test_a_trial_says_what_went_wrong(train, says, own):
    """Where the user's code raised it, the first line has the place, and the traceback begins there."""
    results = fit(train)
    first, *rest = str(results[0].error).splitlines()
    assert says in first
    if own:
        line = train.__code__.co_firstlineno + 1
        assert first.endswith(f"test_mistakes.py:{line})")
        assert f'test_mistakes.py", line {line}' in rest[1] and not any("/tunehost/" in frame for frame in rest)
    with pytest.raises(RuntimeError, match="no trial has a value of 'nothing'"):
        fit(train, num_samples=2).get_best_result("nothing", "min")


def test_the_best_of_failures_says_why_they_failed():
    with pytest.raises(RuntimeError, match="no trial has a value of 'loss': 2 failed, the first with: .*KeyError: 'lr'"):
        fit(missing, num_samples=2).get_best_result()


def test_what_sample_from_raises_is_said_once():
    (result,) = fit(loss, {"x": tune.sample_from(lambda config: config["unknown"])})
    assert str(result.error).count("KeyError: 'unknown'") == 2 and "another exception" not in str(result.error)


def test_a_lambda_in_the_space_is_named(capsys):
    fit(lambda config: tune.report({"loss": config["f"]()}), {"f": lambda: 1})
    assert "f is a lambda, which the trainable gets as it is: write tune.sample_from(…)" in capsys.readouterr().err


class Divides(Searcher):
    def suggest(self, trial_id):
        return {"x": 1 / 0}

    def on_trial_complete(self, trial_id, result=None, error=False):
        pass


def test_objects_of_the_user_name_their_line():
    with pytest.raises(tune.TuneError, match=r"ZeroDivisionError: division by zero \(.*test_mistakes.py:\d+\)"):
        fit(loss, {"x": tune.uniform(0, 1)}, search_alg=Divides())


class Says(Divides):
    def __init__(self, said):
        super().__init__()
        self.said = said

    def suggest(self, trial_id):
        return self.said


@pytest.mark.parametrize("said", [5, "abc", '{"x": 0.5}', [0.5]])
def test_a_suggestion_that_is_no_config_is_named(said):
    says = re.escape(f"Says.suggest returned {said!r}: expected a dict, None or Searcher.FINISHED")
    with pytest.raises(tune.TuneError, match=says):
        fit(loss, {"x": tune.uniform(0, 1)}, search_alg=Says(said))


def test_a_searcher_may_be_finished():
    assert len(fit(loss, {"x": tune.uniform(0, 1)}, search_alg=Says(Searcher.FINISHED))) == 0


SCRIPT = """
from tunehost import tune

def train(config):
    tune.report({"loss": 1})

tune.Tuner(train, param_space={"x": tune.uniform}).fit()
"""


def test_the_script_comes_first(tmp_path):
    """Of the traceback that a script prints, the first frame is its own, and the last line says what to do."""
    (tmp_path / "script.py").write_text(textwrap.dedent(SCRIPT))
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True)
    lines = done.stderr.strip().splitlines()
    assert done.returncode and re.search(r'script.py", line 7', lines[1])
    assert lines[-1].endswith("x is the function tune.uniform: call it, as in tune.uniform(lower, upper)")


def goes_on(config):
    try:
        for i in range(6):
            tune.report({"loss": 1 - i / 10, "done": i == 3})
    finally:
        Path("cleaned").touch()


def yields_on(config):
    for i in range(6):
        yield {"loss": 1 - i / 10, "done": i == 3}


@pytest.mark.parametrize("train", [goes_on, yields_on])
def test_a_report_after_the_last_one_ends_the_trial(train):
    """As with a stop rule: the function ends, and the trial has not failed."""
    (result,) = fit(train)
    assert not result.error and result.metrics["training_iteration"] == 4 and result.metrics["loss"] == 0.7
    assert train is yields_on or Path(result.path, "cleaned").exists()


def from_zero(config):
    for i in range(3):
        tune.report({"loss": 1, "training_iteration": i})


def constant(config):
    for _ in range(3):
        tune.report({"loss": 1, "training_iteration": 7})


def between(config):
    for _ in range(3):
        tune.report({"loss": 1, "training_iteration": 2.5})


@pytest.mark.parametrize(
    "train, says",
    [
        (from_zero, "training_iteration is 0: it counts from 1"),
        (constant, "training_iteration is 7 after 7: "),
        (between, "training_iteration is 2.5: it counts from 1"),
    ],
)
def test_an_iteration_that_cannot_be_is_named(train, says):
    (result,) = fit(train)
    first = str(result.error).splitlines()[0]
    assert says in first and first.endswith(f"test_mistakes.py:{train.__code__.co_firstlineno + 2})")


@pytest.mark.parametrize(
    "scheduler", [tune.ASHAScheduler(time_attr="epoch"), tune.MedianStoppingRule(time_attr="epoch")]
)
@pytest.mark.parametrize("verbose", [0, 1])
def test_a_setting_without_effect_is_said_at_every_verbosity(scheduler, verbose, capfd):
    """B-014: nobody reports what a stop rule and time_attr name."""
    tune.Tuner(
        loss,
        param_space={"x": tune.grid_search([1, 2])},
        tune_config=tune.TuneConfig(metric="loss", mode="min", scheduler=scheduler),
        run_config=tune.RunConfig(verbose=verbose, stop={"epochs": 3}),
    ).fit()
    said = capfd.readouterr().err
    assert len(re.findall('stop.epochs has no effect: trial [01] has reported no "epochs", but loss', said)) == 1
    assert len(re.findall("warning: .*time_attr='epoch' of the scheduler has no effect on results without it; they have ", said)) == 1


def sleeps(config):
    time.sleep(100)
    tune.report({"loss": 1})


def test_without_any_result_the_reason_is_said():
    grid = fit(sleeps, num_samples=2, time_budget_s=0.5)
    with pytest.raises(RuntimeError, match="no trial has a value of 'loss': none has reported .*the time budget is used up"):
        grid.get_best_result()


def kills_the_host(config):
    pid = os.getpid()
    while Path(f"/proc/{pid}/comm").read_text() != "tunehost\n":
        pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])  # the parent
    os.kill(pid, signal.SIGKILL)
    time.sleep(100)


def test_a_host_that_was_killed_says_how_to_continue():
    tuner = tune.Tuner(
        kills_the_host,
        param_space={"x": 1},
        tune_config=tune.TuneConfig(metric="loss", mode="min"),
        run_config=tune.RunConfig(verbose=0, name="killed"),
    )
    with pytest.raises(tune.TuneError, match=r"ended by signal 9 \(SIGKILL\); tune.Tuner.restore\('.*/killed', trainable\)"):
        tuner.fit()


def test_restore_keeps_silent(capfd):
    """RunConfig(verbose=0) holds for what continues."""
    fit(loss)
    (dir,) = Path("results").iterdir()
    tune.Tuner.restore(str(dir), loss).fit()
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")


def test_a_space_in_which_nothing_varies_is_warned_of():
    with pytest.warns(UserWarning, match=r"all trials are alike: .*\{'x': \(0, 10\)\}; a range is tune.uniform"):
        tunehost.minimize(lambda p: 1, {"x": (0, 10)}, trials=2, verbose=0)


@pytest.mark.parametrize("config, argument", [
    ({"max_concurrent_trials": -1}, "max_concurrent_trials: found the number -1"),
    ({"num_samples": 0}, "num_samples: found the number 0"),
    ({"time_budget_s": -2}, "time_budget_s: found the number -2"),
    ({"scheduler": "ashaa"}, 'scheduler: there is no scheduler "ashaa".*did you mean "asha"'),
])
def test_refusals_name_arguments(config, argument, capfd):
    """The program's positions in a file are the names of arguments, said once, and the refused experiment leaves
    nothing behind."""
    with pytest.raises(tune.TuneError, match=f"^{argument}") as raised:
        fit(loss, {"x": tune.uniform(0, 1)}, **config)
    assert "experiment.yaml" not in str(raised.value) and capfd.readouterr().err == ""
    assert os.listdir("results") == []


@pytest.mark.parametrize("run, config, says", [
    ({"name": 3}, {}, "name is 3: expected a text"),
    ({"name": ".."}, {}, r"name is '\.\.': expected the name of a new directory"),
    ({"name": "a\0b"}, {}, "name is .*: expected the name of a new directory"),
    ({"name": "a" * 300}, {}, "cannot begin in .*File name too long.*choose another storage_path or name"),
    ({"storage_path": __file__}, {}, "cannot begin in .*test_mistakes.py.*choose another storage_path"),
    ({}, {"metric": 3}, "metric or mode is 3: expected a name"),
])
def test_places_and_names_that_cannot_be(run, config, says):
    config = {"metric": "loss", "mode": "min", **config}
    with pytest.raises(tune.TuneError, match=says):
        tune.Tuner(loss, param_space={"x": 1}, tune_config=tune.TuneConfig(**config),
                   run_config=tune.RunConfig(verbose=0, **run)).fit()


def test_a_disk_that_is_full_at_the_start(monkeypatch):
    """It is said in one line, and no directory takes the name."""
    def full(*args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tunehost.tune._payload.replace", full)
    with pytest.raises(tune.TuneError, match="cannot begin in .*No space left on device.*make room"):
        fit(loss)
    assert os.listdir("results") == []


def test_dataframes_without_pandas(monkeypatch):
    grid = fit(loss)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        grid.get_dataframe()


def test_refusals_of_ask_and_tell_name_arguments(capfd):
    with pytest.raises(tunehost.AskError, match="^concurrency: found the number -1"):
        tunehost.AskTell({"x": tune.uniform(0, 1)}, metric="loss", mode="min", concurrency=-1)
    assert capfd.readouterr().err == ""


def evil(path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(path),)

    return pickle.dumps(Evil())


def readers(dir):
    yield lambda: tune.Tuner.restore(dir, loss)
    yield lambda: tune.ExperimentAnalysis(dir)
    yield lambda: [r.config for r in tune.ResultGrid(dir)]


@pytest.mark.parametrize("file", ["tune/space.pkl", "tune/payload.pkl", "trial"])
@pytest.mark.parametrize("how, says", [("mode", "can be written to by others"), ("owner", "belongs to another user")])
def test_code_of_others_does_not_run(file, how, says, tmp_path):
    """What others could have written into an experiment's directory is not unpickled."""
    if how == "owner" and os.geteuid() != 0:
        pytest.skip("only root can give files to others")
    grid = fit(loss, {"x": tune.uniform(0, 1)})
    dir = shutil.copytree(grid.experiment_path, tmp_path / "copy")
    path = Path(dir, file) if file != "trial" else next(Path(dir, "trials").iterdir()) / "params.pkl"
    path.write_bytes(evil(tmp_path / "ran"))
    for place in (dir, dir / "tune", dir / "trials", path.parent):
        place.chmod(0o755)
    for place in (path, dir / "tune" / "payload.pkl"):
        place.chmod(0o666) if how == "mode" else os.chown(place, 1234, -1)
    for read in readers(str(dir)):
        with pytest.raises(tune.TuneError, match=says):
            read()
    assert not (tmp_path / "ran").exists()
    if how == "mode":  # a folder that nobody else can enter is one's own
        dir.chmod(0o700)
        (dir / "tune" / "payload.pkl").write_bytes(Path(grid.experiment_path, "tune", "payload.pkl").read_bytes())
        if file == "tune/payload.pkl":
            tune.Tuner.restore(str(dir), loss)


def test_links_and_pipes_are_not_read(tmp_path):
    grid = fit(loss, {"x": tune.uniform(0, 1)})
    file = Path(grid[0].path, "result.jsonl")
    file.unlink()
    file.symlink_to("/etc/hostname")
    with pytest.raises(tune.TuneError, match="follows no links"):
        tune.ResultGrid(grid.experiment_path)[0].metrics
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(tune.TuneError, match="opens no pipes"):
        tune.ResultGrid(grid.experiment_path)[0].metrics


def test_files_are_private():
    before = os.umask(0)
    try:
        grid = fit(loss, {"x": tune.uniform(0, 1)})
    finally:
        os.umask(before)
    dir = Path(grid.experiment_path)
    for place in (dir, dir / "tune", dir / "tune" / "plugin"):
        assert place.stat().st_mode & 0o077 == 0, place
    for name in ("payload.pkl", "space.pkl", "experiment.yaml", "tuner.json", "plugin/serve.py"):
        assert (dir / "tune" / name).stat().st_mode & 0o077 == 0, name


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Python itself reads what trials say")
def test_a_trial_that_writes_rubbish_fails():
    def train(config):
        for fd in range(3, 50):
            try:
                os.write(fd, b"GET / HTTP/1.1\r\n\r\n")
            except OSError:
                pass
        tune.report({"loss": 1})

    assert "its process cannot be understood" in str(fit(train).errors[0])


def forks(config):
    for i in range(10):
        if os.fork() == 0:
            return {"loss": -1}  # a process that comes back, as in sloppy code around os.fork
        tune.report({"loss": i})


class ForksInSteps(tune.Trainable):
    def setup(self, config):
        self.steps = 0

    def step(self):
        self.steps += 1
        os.fork()
        return {"loss": self.steps - 1, "done": self.steps == 10}


@pytest.mark.parametrize("train", [forks, ForksInSteps])
def test_forked_processes_that_return_report_nothing(train):
    (result,) = fit(train)
    assert not result.error and [one["loss"] for one in result.results] == list(range(10))


def tells_a_story(config):
    tune.report({"loss": 1, "story": "x" * 70_000, "note": "short"})


@pytest.mark.parametrize("verbose", [0, 1])
def test_a_value_that_is_too_long_is_warned_of_at_every_verbosity(verbose, capfd):
    """It is said once; what continues says nothing of what was said before."""
    grid = tune.Tuner(
        tells_a_story,
        param_space={"x": tune.grid_search([1, 2])},
        tune_config=tune.TuneConfig(metric="loss", mode="min"),
        run_config=tune.RunConfig(verbose=verbose),
    ).fit()
    said = capfd.readouterr().err
    assert [r.metrics.get("story") for r in grid] == [None] * 2 and grid[0].metrics["note"] == "short"
    assert len(re.findall("warning: trial [01]: story: left out, because .* 64 KiB in total: write .* into files", said)) == 1
    tune.Tuner.restore(grid.experiment_path, tells_a_story).fit()
    assert "story" not in capfd.readouterr().err


QUIET = """
import sys
from tunehost import tune

def train(config):
    tune.report({"loss": 1, "long": "x" * 70000})  # of which fit warns

CLOSE
results = tune.Tuner(train, param_space={"x": 1}, tune_config=tune.TuneConfig(metric="loss", mode="min"),
                     run_config=tune.RunConfig(verbose=VERBOSE)).fit()
open("found", "w").write(str(results[0].metrics["loss"]))
"""


@pytest.mark.parametrize("verbose", ["0", "1"])
@pytest.mark.parametrize("how", ["2>&-", ">&- 2>&-", "sys.stderr = None", "sys.stderr.close()"])
def test_without_stderr_the_results_are_there(how, verbose, tmp_path):
    """As in a program without a console, and in one that has closed what it does not need."""
    shell, close = (how, "") if "&" in how else ("", how)
    (tmp_path / "script.py").write_text(QUIET.replace("CLOSE", close).replace("VERBOSE", verbose))
    done = subprocess.run(["sh", "-c", f"exec {sys.executable} script.py {shell}"], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0 and (tmp_path / "found").read_text() == "1", done


def terminated(config):
    tune.report({"loss": 1})
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)
    tune.report({"loss": 2})


def all_terminated(config):
    for pid in (os.getpid(), os.getppid()):
        os.kill(pid, signal.SIGTERM)
    time.sleep(3)
    tune.report({"loss": 2})


def by_number(config):
    os.close(2)
    raise ValueError("on purpose")


def by_name(config):
    sys.stderr.close()
    raise ValueError("on purpose")


@pytest.mark.parametrize("train", [by_number, by_name])
def test_an_error_is_told_without_stderr(train):
    (result,) = fit(train)
    assert str(result.error).startswith("ValueError: on purpose")


def test_what_cannot_be_pickled_takes_no_name():
    for _ in range(2):
        with pytest.raises(tune.TuneError, match="cannot be pickled"):
            tunehost.minimize(closes_over(), {"x": tune.uniform(0, 1)}, name="free", trials=1, verbose=0)
    assert not os.path.exists("results/free") and not os.path.exists("results/free-2")


def test_a_trial_that_a_signal_ends_says_so():
    """Nobody who kills a process has to know of SIGKILL."""
    (result,) = fit(terminated)
    assert "its process was ended by signal 15 (SIGTERM)" in str(result.error) and result.metrics["loss"] == 1


def test_a_signal_to_all_processes_leaves_the_end_to_the_host():
    """As engines of clusters send it to a job that ends soon: trials save first."""
    (result,) = fit(all_terminated)
    assert not result.error and result.metrics["loss"] == 2


OF_MAIN = """
import multiprocessing, pickle
from concurrent.futures import ProcessPoolExecutor
from tunehost import tune

class Model:
    def __init__(self): self.weight = 3

def square(x): return x * x

def main(x): return x + 1  # the name of a function that starts the process, too

def train(config):
    with open("model.pkl", "wb") as f:
        pickle.dump(Model(), f)
    with open("model.pkl", "rb") as f:
        weight = pickle.load(f).weight
    with multiprocessing.get_context("fork").Pool(2) as pool:
        total = sum(pool.map(square, range(3)))
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        total += pool.submit(main, 1).result()
    return {"loss": weight, "total": total}

if __name__ == "__main__":
    result = tune.Tuner(train, param_space={"x": 1}, tune_config=tune.TuneConfig(metric="loss", mode="min"),
                        run_config=tune.RunConfig(verbose=0)).fit()[0]
    with open(result.path + "/model.pkl", "rb") as f:
        print(result.metrics["loss"], result.metrics["total"], pickle.load(f).weight)
"""


def test_functions_and_classes_of_the_script_can_be_pickled_in_trials(tmp_path):
    """For checkpoints and pools; the script itself can read what they have written."""
    (tmp_path / "script.py").write_text(OF_MAIN)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "3 7 3\n", done.stderr


def test_a_crash_of_the_program_is_in_the_exception(tmp_path, monkeypatch):
    """The log of the caller has nothing else of it."""
    program = tmp_path / "tunehost"
    program.write_text("#!/bin/sh\nprintf 'fatal error: failed to reserve page summary memory\\n\\nruntime stack:\\nmore\\n' >&2; exit 2\n")
    program.chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setattr("tunehost._binary.find", lambda: str(program))
        with pytest.raises(tune.TuneError, match=r"status 2 \(fatal error: failed .*\): it needs more memory or address space"):
            fit(loss)


def test_a_folder_of_everybody_is_refused_in_the_words_of_python(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    with pytest.raises(tune.TuneError, match="everybody can write to .*run chmod o-w") as raised:
        tune.Tuner(loss, param_space={"x": 1}, tune_config=tune.TuneConfig(metric="loss", mode="min"),
                   run_config=tune.RunConfig(verbose=0, storage_path=shared)).fit()
    assert "--" not in str(raised.value)


def interrupts(config):
    tune.report({"loss": 1})
    os.kill(config["script"], signal.SIGINT)
    time.sleep(60)


def test_a_second_interrupt_while_results_are_read(monkeypatch):
    """The host has ended, and what is there comes back."""
    from tunehost.tune import _serving

    monkeypatch.setattr(_serving, "without_effect", lambda folder: os.kill(os.getpid(), signal.SIGINT) or "")
    before = signal.getsignal(signal.SIGINT)
    (result,) = fit(interrupts, {"script": os.getpid()})
    assert result.metrics["loss"] == 1 and signal.getsignal(signal.SIGINT) is before


def prints_in_vain(config):
    with open("/dev/full", "w") as full:
        for fd in (1, 2):
            os.dup2(full.fileno(), fd)
    print("x" * 100_000, flush=True)
    print("y", file=sys.stderr)
    tune.report({"loss": 1})
    if config["fails"]:
        raise ValueError("of its own")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a system without this file")
def test_prints_onto_a_full_disk_are_lost_and_the_trial_goes_on():
    good, bad = fit(prints_in_vain, {"fails": tune.grid_search([False, True])})
    assert not good.error and good.metrics["loss"] == 1
    assert "ValueError: of its own" in str(bad.error)


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def raises_mute(config):
    raise Mute


def test_an_exception_without_a_text_is_named():
    first = str(fit(raises_mute).errors[0]).splitlines()[0]
    assert first.startswith("Mute") and first.endswith(f"test_mistakes.py:{raises_mute.__code__.co_firstlineno + 1})")


@pytest.mark.parametrize(
    "begins, call",
    [
        ("tune.Tuner(train, param_space={'x': 1}, tune_config=tune.TuneConfig(metric='loss', mode='min')).fit()", "fit"),
        ("tune.run(train, config={'x': 1}, metric='loss', mode='min')", "fit"),
        ("tunehost.minimize(score, {'x': tune.uniform(0, 1)}, trials=1)", "fit"),
    ],
)
def test_a_module_that_fits_while_it_is_imported_is_named(tmp_path, begins, call):
    (tmp_path / "mine.py").write_text(
        "import tunehost\nfrom tunehost import tune\n\n\n"
        "def train(config):\n    tune.report({'loss': config['x']})\n\n\n"
        f"def score(config):\n    return config['x']\n\n\n{begins}\n"
    )
    done = subprocess.run([sys.executable, "-c", "import mine"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"the module mine calls {call} while it is imported" in done.stderr.splitlines()[-1]
    assert len(list(tmp_path.rglob("experiment.yaml"))) <= 1


def from_threads(config):
    def one(k):
        tune.report({"loss": k})

    threads = [threading.Thread(target=one, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    tune.report({"loss": 8})


def test_several_threads_report():
    for result in fit(from_threads, num_samples=3):
        assert result.error is None
        assert sorted(m["loss"] for m in result.results) == list(range(9))


def test_a_parameter_that_is_too_large_is_named():
    with pytest.raises(tune.TuneError, match="'big' of param_space takes .* tune.with_parameters"):
        fit(loss, {"x": 1, "big": "a" * (2 << 20)})
    assert not list(Path("results").glob("loss_*"))
    assert fit(tune.with_parameters(lambda config, big: loss(config), big="a" * (2 << 20)))[0].error is None


@pytest.mark.parametrize("name", ["train", "air"])
def test_names_beside_ray_tune_are_told(name):
    with pytest.raises(ImportError, match="write from tunehost import tune"):
        exec(f"from tunehost import {name}")
