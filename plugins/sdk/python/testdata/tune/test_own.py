"""Schedulers, searchers, stoppers, callbacks, loggers and reporters that a user writes. tune_test.go starts them."""

import json
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import pytest

from tunehost import _binary, tune
from tunehost.tune import cluster
from tunehost.tune.logger import CSVLoggerCallback, JsonLoggerCallback, LoggerCallback, TBXLoggerCallback, pretty_print
from tunehost.tune.logger._tensorboard import checksum
from tunehost.tune.result import SHOULD_CHECKPOINT
from tunehost.tune.schedulers import FIFOScheduler, TrialScheduler
from tunehost.tune.search import BasicVariantGenerator, ConcurrencyLimiter, Repeater, Searcher
from tunehost.tune.stopper import ExperimentPlateauStopper, MaximumIterationStopper, TrialPlateauStopper

HERE = Path(__file__).parent


def fit(trainable, space=None, run=None, **config):
    return tune.Tuner(
        trainable,
        param_space=space or {},
        tune_config=tune.TuneConfig(**config),
        run_config=tune.RunConfig(verbose=0, **(run or {})),
    ).fit()


def train(config):
    for i in range(10):
        tune.report({"loss": config["x"] + i, "note": "text"})


class StopsOdd(FIFOScheduler):
    """Stops each second trial after three iterations."""

    def __init__(self):
        super().__init__()
        self.heard = []

    def on_trial_add(self, tune_controller, trial):
        self.heard.append(("add", trial.config["x"]))

    def on_trial_result(self, tune_controller, trial, result):
        assert trial.status == trial.RUNNING and result["config"] == trial.config
        assert result["loss"] == trial.config["x"] + result["training_iteration"] - 1
        self.heard.append((trial.trial_id, result["training_iteration"]))
        odd = trial.config["x"] % 2 == 1
        return TrialScheduler.STOP if odd and result["training_iteration"] == 3 else TrialScheduler.CONTINUE


def test_a_scheduler_of_ones_own():
    scheduler = StopsOdd()
    results = fit(train, {"x": tune.grid_search([0, 1, 2, 3])}, scheduler=scheduler)
    assert [r.metrics["training_iteration"] for r in results] == [10, 3, 10, 3]
    assert "StopsOdd has stopped it at iteration 3" in results[1]._trial["reason"]
    assert ("add", 3) in scheduler.heard and (results[1].trial_id, 3) in scheduler.heard  # its state came back


class Left(StopsOdd):
    """Does something while it is pickled at the end of its process."""

    def __init__(self, act):
        super().__init__()
        self.act, self.ended = act, False

    def __getstate__(self):
        ends = any(f.name == "end" and f.filename.endswith("_served.py") for f in traceback.extract_stack())
        if ends:
            self.act()
        return {**vars(self), "ended": ends}


def rests():
    time.sleep(2.5)


def dies():
    os.kill(os.getpid(), signal.SIGKILL)


def fails():
    raise ValueError("on purpose")


@pytest.mark.parametrize("act, why", [
    (rests, None),
    (dies, "its process ended before it had written it"),
    (fails, "on purpose"),
])
def test_a_state_comes_back_or_a_line_says_that_it_did_not(act, why, capfd):
    scheduler = Left(act)
    results = fit(train, {"x": tune.grid_search([0, 1, 2, 3])}, scheduler=scheduler)
    assert len(results) == 4 and not results.errors and scheduler.ended is (why is None)
    lines = [line for line in capfd.readouterr().err.splitlines() if "lacks its state" in line]
    if why is None:
        assert lines == []
    else:
        assert len(lines) == 1 and lines[0].startswith("warning: the scheduler Left lacks") and why in lines[0]




class InTurns(FIFOScheduler):
    """Every trial trains two iterations and then makes room for another one."""

    def on_trial_result(self, tune_controller, trial, result):
        assert len(tune_controller.get_live_trials()) >= 1
        turn = result["training_iteration"] % 2 == 0
        return TrialScheduler.PAUSE if turn else TrialScheduler.CONTINUE

    def choose_trial_to_run(self, tune_controller):
        paused = [t for t in tune_controller.get_trials() if t.status == t.PAUSED]
        return min(paused, key=lambda t: t.last_result["training_iteration"], default=None)


class Steps(tune.Trainable):
    def setup(self, config):
        self.n = 0

    def step(self):
        self.n += 1
        return {"n": self.n, "done": self.n >= 6}

    def save_checkpoint(self, checkpoint_dir):
        return {"n": self.n}

    def load_checkpoint(self, checkpoint):
        self.n = checkpoint["n"]


def test_a_scheduler_pauses_and_chooses():
    results = fit(Steps, {"x": tune.grid_search([0, 1, 2])}, scheduler=InTurns(), max_concurrent_trials=1)
    assert [[m["n"] for m in r.results] for r in results] == [[1, 2, 3, 4, 5, 6]] * 3


class Walk(Searcher):
    """Suggests what no space could express."""

    def __init__(self, most=6):
        super().__init__(metric="loss", mode="min")
        self.asked, self.told, self.seen, self.most = [], {}, {}, most
        self.space = None

    def set_search_properties(self, metric, mode, config, **spec):
        self.space = sorted(config)
        return True

    def suggest(self, trial_id):
        if len(self.asked) == self.most:
            return Searcher.FINISHED
        self.asked.append(trial_id)
        return {"x": random.uniform(0, 1), "free": ("tuple", len(self.asked)), "far": 77.5}

    def on_trial_result(self, trial_id, result):
        self.seen[trial_id] = self.seen.get(trial_id, 0) + 1

    def on_trial_complete(self, trial_id, result=None, error=False):
        self.told[trial_id] = None if error else result["loss"]


SPACE = {"x": tune.uniform(0, 1), "far": tune.uniform(0, 50), "const": "c"}


def short(config):
    for i in range(3):
        tune.report({"loss": config["x"], "far": config["far"]})
    if config["free"][1] == 2:
        raise ValueError("on purpose")


def test_a_searcher_of_ones_own():
    searcher = Walk()
    results = fit(short, SPACE, num_samples=20, search_alg=searcher, metric="loss", mode="min")
    assert len(results) == 6 and searcher.asked == [r.trial_id for r in results]
    assert [r.config["free"] for r in results] == [("tuple", i + 1) for i in range(6)]
    assert all(r.config["far"] == 77.5 == r.metrics["far"] and r.config["const"] == "c" for r in results)
    assert [r.metrics["loss"] for r in results] == [r._trial["params"]["x"] for r in results]
    assert searcher.space == ["const", "far", "x"] and results.num_errors == 1
    first = results[0].trial_id
    assert searcher.told[first] == results[0].metrics["loss"] and searcher.seen[first] == 3


def test_limits_and_repeats_around_a_searcher(capsys):
    batch = ConcurrencyLimiter(Walk(), 2, batch=True)
    assert len(fit(short, SPACE, num_samples=6, search_alg=batch)) == 6
    assert len(batch.searcher.told) >= 4
    assert len(fit(short, SPACE, num_samples=3, search_alg=ConcurrencyLimiter(Walk(), 1))) == 3
    walk = Walk()
    again = fit(short, SPACE, num_samples=7, search_alg=Repeater(walk, 3))
    assert "num_samples=7 is no multiple of Repeater's repeat=3: 6 trials run" in capsys.readouterr().err
    assert [r.config["__trial_index__"] for r in again] == [0, 1, 2] * 2 and len(walk.asked) == 2
    assert [r.config["free"][1] for r in again] == [1, 1, 1, 2, 2, 2]


class Numbered(Searcher):
    """Suggests 1, 2, 3 …, and keeps what it is told of each."""

    def __init__(self, most):
        super().__init__(metric="loss", mode="min")
        self.most, self.ids, self.told = most, {}, []

    def suggest(self, trial_id):
        if len(self.ids) == self.most:
            return Searcher.FINISHED
        self.ids[trial_id] = len(self.ids) + 1
        return {"x": float(len(self.ids))}

    def on_trial_result(self, trial_id, result):
        self.told.append((self.ids[trial_id], result["training_iteration"], result["loss"]))

    def on_trial_complete(self, trial_id, result=None, error=False):
        self.told.append((self.ids[trial_id], "end", None if error else result["loss"]))


@pytest.mark.parametrize("around", [lambda s: s, lambda s: ConcurrencyLimiter(s, 2)])
def test_a_repeater_tells_each_point_its_own_mean(around):
    """Also of the points whose numbers are those of earlier trials, and of the last one, which ends after all suggestions."""
    def index(config):
        if config["x"] == 2 and config["__trial_index__"] == 0:
            raise ValueError("on purpose")
        tune.report({"loss": 10 * config["x"] + config["__trial_index__"]})

    counts = Numbered(4)
    results = fit(index, {"x": tune.uniform(0, 9)}, num_samples=12, search_alg=around(Repeater(counts, 3)), metric="loss", mode="min")
    assert sorted(counts.told) == [(1, "end", 11), (2, "end", 21.5), (3, "end", 31), (4, "end", 41)]
    assert list(counts.ids) == [r.trial_id for r in results][::3]


class Notes(FIFOScheduler):
    """Keeps the results that it is told."""

    def __init__(self):
        super().__init__()
        self.told = []

    def on_trial_result(self, tune_controller, trial, result):
        self.told.append((result["training_iteration"], result["loss"]))
        return self.CONTINUE


def second_differs(config):
    """Fails the first time, and has other values the second time."""
    again = os.path.exists("again")
    Path("again").touch()
    for i in (1, 2, 3):
        tune.report({"loss": 100 * again + i})
        if i == 2 and not again:
            raise ValueError("on purpose")


def test_a_retried_trial_is_told_again():
    notes, counts = Notes(), Numbered(2)
    run = {"stop": lambda trial_id, result: result["loss"] == 102, "failure_config": tune.FailureConfig(max_failures=1)}
    results = fit(second_differs, {"x": tune.uniform(0, 9)}, run, search_alg=counts, scheduler=notes, num_samples=2, max_concurrent_trials=1)
    told = [(1, 1), (2, 2), (1, 101), (2, 102)]
    assert notes.told == told * 2 and [r.metrics["loss"] for r in results] == [102, 102]
    assert counts.told[:5] == [(1, i, loss) for i, loss in [*told, ("end", 102)]]
    assert counts.told[-3:] == [(2, 1, 101), (2, 2, 102), (2, "end", 102)]  # after its last suggestion


def test_optuna_itself_is_a_searcher():
    """A space that is a function, and a sampler, are those of the library."""
    import optuna

    def space(trial):
        kind = trial.suggest_categorical("kind", ["a", "b"])
        if kind == "a":
            trial.suggest_float("only", 1, 2)
        trial.suggest_float("x", 0, 1)
        return {"free": ("own", 1), "far": 3}

    def train(config):
        assert ("only" in config) == (config["kind"] == "a")
        tune.report({"loss": config["x"]})

    search = tune.create_searcher("optuna", space=space, metric="loss", mode="min", seed=3)
    results = fit(train, num_samples=6, search_alg=ConcurrencyLimiter(search, 1))
    assert not results.errors and {r.config["free"] for r in results} == {("own", 1)}
    sampler = optuna.samplers.GridSampler({"x": [0.25, 0.5, 0.75]})
    grid = tune.create_searcher("optuna", sampler=sampler)
    tried = fit(
        lambda config: {"loss": config["x"]},
        {"x": tune.uniform(0, 1)},
        num_samples=3,
        search_alg=ConcurrencyLimiter(grid, 1),
        metric="loss",
        mode="min",
    )
    assert sorted(r.config["x"] for r in tried) == [0.25, 0.5, 0.75]


def test_a_script_says_what_it_may_use():
    def train(config):
        time.sleep(0.2)
        tune.report({"at": time.time()})

    cluster.init(num_cpus=1, configure_logging=False)
    try:
        ends = [r.metrics["at"] for r in fit(train, num_samples=3)]
    finally:
        cluster.shutdown()
    assert min(b - a for a, b in zip(sorted(ends), sorted(ends)[1:])) >= 0.2 and not cluster.is_initialized()


class Together(tune.Stopper):
    """Ends the experiment when all trials together have reported 25 results; none reports more than 8."""

    def __init__(self):
        self.n = 0

    def __call__(self, trial_id, result):
        self.n += 1
        return result["training_iteration"] >= 8

    def stop_all(self):
        return self.n >= 25


def test_stoppers_of_ones_own():
    stopper = Together()
    results = fit(train, {"x": tune.grid_search([0, 1, 2, 3, 4, 5])}, {"stop": stopper}, max_concurrent_trials=1)
    assert [len(r.results) for r in results][:3] == [8, 8, 8] and sum(len(r.results) for r in results) < 30
    both = tune.stopper.CombinedStopper(MaximumIterationStopper(6), Together())
    assert [len(r.results) for r in fit(train, {"x": 1}, {"stop": both})] == [6]


def test_bundled_stoppers_decide_as_ray_does():
    """The values are those of ray.tune.stopper 2.60."""
    plateau = TrialPlateauStopper("v", std=0.1, num_results=2, grace_period=3, metric_threshold=5, mode="max")
    values = [9, 9, 4, 4, 4, 6, 6]
    assert [plateau("a", {"v": v}) for v in values] == [False, False, False, False, False, False, True]
    whole = ExperimentPlateauStopper("v", std=0.01, top=3, mode="min", patience=2)
    assert [whole("a", {"v": v}) for v in [3, 1, 1, 1, 2]] == [False, False, False, False, True]


def test_the_best_of_all_results_ends_the_experiment():
    def flat(config):
        for i in range(50):
            tune.report({"v": 1.0})

    stop = ExperimentPlateauStopper("v", std=0.01, top=4)
    results = fit(flat, None, {"stop": stop}, num_samples=8, max_concurrent_trials=1)
    assert sum(len(r.results) for r in results) < 20


def learns(config):
    start = 0
    if tune.get_checkpoint():
        start = json.loads(Path(tune.get_checkpoint().path, "state.json").read_text())
    # A trial that continues from a whole one's checkpoint reports once, so that its score is of its own config.
    for i in range(min(start, 11) + 1, 13):
        os.makedirs("new", exist_ok=True)
        Path("new/state.json").write_text(str(i))
        tune.report({"score": config["x"] * i, "steps": i * 10}, checkpoint=tune.Checkpoint.from_directory("new"))


def test_asynchronous_halving_by_another_time():
    """The worse of two stops at 10 steps, as Ray's rule has it: fractions and other times are served."""
    scheduler = tune.ASHAScheduler(time_attr="steps", max_t=80, grace_period=10, reduction_factor=2.5)
    results = fit(
        learns,
        {"x": tune.grid_search([5, 1, 2, 9])},
        metric="score",
        mode="max",
        scheduler=scheduler,
        max_concurrent_trials=1,
    )
    assert [r.metrics["steps"] for r in results] == [80, 10, 10, 80]
    assert "score 1 at 10 of steps is worse than score 5" in results[1]._trial["reason"]


def test_the_median_rule_by_another_time():
    scheduler = tune.MedianStoppingRule(time_attr="steps", grace_period=30, min_samples_required=2)
    results = fit(
        learns,
        {"x": tune.grid_search([5, 6, 1, 9])},
        metric="score",
        mode="max",
        scheduler=scheduler,
        max_concurrent_trials=1,
    )
    assert [r.metrics["steps"] for r in results] == [120, 120, 30, 120]


def test_a_population_explores_by_a_function():
    """The config that custom_explore_fn returns is the trial's, also where the space does not have it."""

    def explore(config):
        config["tag"] = "explored"
        config["x"] = config["x"] + 100
        return config

    pbt = tune.PopulationBasedTraining(
        time_attr="steps",
        perturbation_interval=20,
        hyperparam_mutations={"x": tune.uniform(0, 10), "k": lambda: 7, "deep": {"d": [1, 2, 3]}},
        custom_explore_fn=explore,
    )
    points = [{"x": x} for x in (0.01, 0.02, 0.03, 9)]  # the first is always the worst, and the last the best
    results = fit(
        learns,
        {"x": tune.uniform(0, 10), "k": 7, "deep": {"d": 2}, "tag": "own"},
        search_alg=BasicVariantGenerator(points_to_evaluate=points),
        metric="score",
        mode="max",
        num_samples=4,
        scheduler=pbt,
        max_concurrent_trials=2,
    )
    assert not results.errors and [r.metrics["steps"] for r in results] == [120] * 4
    changed = [r for r in results if r.config["tag"] == "explored"]
    assert changed and all(r.config["x"] > 100 for r in changed)
    assert all(r.metrics["score"] == r.config["x"] * 12 for r in results)


def test_a_policy_of_ray_is_trained_again():
    """The rows are of a file that Ray's PopulationBasedTraining has written: the last chain of tags counts."""
    rows = [
        ["7", "2", 1, 1, {"x": 8}, {"x": 9}],
        ["4", "1", 3, 3, {"x": 1}, {"x": 2}],
        ["0", "4", 6, 6, {"x": 2}, {"x": 5}],
    ]
    Path("policy.txt").write_text("".join(json.dumps(row) + "\n" for row in rows))
    replay = tune.schedulers.PopulationBasedTrainingReplay("policy.txt")
    (result,) = fit(learns, scheduler=replay)
    scores = {m["training_iteration"]: m["score"] / m["training_iteration"] for m in result.results}
    assert scores[1] == 1 and scores[5] == 2 and scores[12] == 5


class Counts(tune.Callback):
    def __init__(self):
        self.counts, self.results = {}, []

    def __getattribute__(self, name):
        if name.startswith("on_") and name not in ("on_trial_result", "on_step_begin", "on_step_end"):
            counts = object.__getattribute__(self, "counts")
            return lambda **info: counts.update({name: counts.get(name, 0) + 1})
        return object.__getattribute__(self, name)

    def on_trial_result(self, iteration, trials, trial, result, **info):
        assert trial in trials and result["config"] == trial.config and Path(trial.path).is_dir()
        self.results.append((trial.trial_id, result["training_iteration"], result["note"]))


class Ends(LoggerCallback):
    def __init__(self):
        self.ended = []

    def log_trial_end(self, trial, failed=False):
        self.ended.append((str(trial), trial.status, failed))


def saves(config):
    for i in range(4):
        with tempfile.TemporaryDirectory() as dir:
            checkpoint = tune.Checkpoint.from_directory(dir) if i == 3 else None
            tune.report({"loss": config["x"], "note": "n"}, checkpoint=checkpoint)
    if config["x"] == 2:
        raise ValueError("on purpose")


def test_callbacks_and_loggers(capsys):
    counts, ends = Counts(), Ends()
    results = fit(
        saves,
        {"x": tune.grid_search([0, 1, 2])},
        {
            "name": "told",
            "callbacks": [counts, ends, TBXLoggerCallback(), JsonLoggerCallback(), CSVLoggerCallback()],
            "progress_reporter": tune.CLIReporter(metric_columns=["loss"], max_report_frequency=1),
        },
        metric="loss",
        mode="min",
        trial_name_creator=lambda trial: f"T{trial.number}",
        trial_dirname_creator=lambda trial: f"named-{trial.number}",
    )
    assert counts.counts == {
        "on_trial_start": 3,
        "on_trial_save": 3,
        "on_checkpoint": 3,
        "on_trial_complete": 2,
        "on_trial_error": 1,
        "on_experiment_end": 1,
    }
    assert sorted(counts.results) == sorted((r.trial_id, i, "n") for r in results for i in range(1, 5))
    ended = [("T0", "TERMINATED", False), ("T1", "TERMINATED", False), ("T2", "ERROR", True)]
    assert sorted(ends.ended) == ended
    shown = capsys.readouterr().out
    assert "Number of trials: 3/3" in shown and "T2" in shown and "Current best trial" in shown
    for number, r in enumerate(results):
        assert os.path.realpath(f"results/told/named-{number}") == os.path.realpath(r.path)
        lines = [json.loads(line) for line in Path(r.path, "result.json").read_text().splitlines()]
        assert [line["training_iteration"] for line in lines] == [1, 2, 3, 4]
        assert Path(r.path, "progress.csv").exists()
        (events,) = Path(r.path).glob("events.out.tfevents.*")
        assert scalars(events.read_bytes()) == 8  # the version, four results, and three records of parameters
    assert "loss: 2" in pretty_print(results[2].metrics)


def scalars(data):
    """The number of records of a TensorBoard file; every checksum is looked at."""
    at = n = 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        assert checksum(data[at : at + 8]) == struct.unpack_from("<I", data, at + 8)[0]
        record = data[at + 12 : at + 12 + length]
        assert checksum(record) == struct.unpack_from("<I", data, at + 12 + length)[0]
        at, n = at + 16 + length, n + 1
    return n


def test_checksums_are_those_of_tensorflow():
    """CRC-32C of "123456789" is e3069283 (RFC 3720)."""
    crc = 0xE3069283
    assert checksum(b"123456789") == ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def test_an_exception_in_a_callback_ends_the_experiment():
    class Broken(tune.Callback):
        def on_trial_result(self, iteration, trials, trial, result, **info):
            raise KeyError("on purpose")

    def forever(config):
        while True:
            time.sleep(0.01)
            tune.report({"loss": 1})

    with pytest.raises(KeyError, match="on purpose"):
        fit(forever, None, {"callbacks": [Broken()]})


def test_nothing_is_lost_when_everything_is_killed(tmp_path):
    """B-080, B-127: kill -9 of the script and its host in the middle; restore goes on with the objects' state."""
    script = [sys.executable, str(HERE / "own.py")]
    run = subprocess.Popen([*script, "run"], start_new_session=True)
    events = tmp_path / "kept/own/tune/state/events.jsonl"
    end = time.monotonic() + 120
    while not events.exists() or events.read_text().count("RESULT_REPORTED") < 15:
        assert time.monotonic() < end and run.poll() is None
        time.sleep(0.02)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    while '"state":"interrupted"' not in status():
        assert time.monotonic() < end
        time.sleep(0.1)
    done = subprocess.run([*script, "restore"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    heard = [json.loads(line) for line in Path("heard").read_text().splitlines()]
    assert {tuple(h) for h in heard} == {(n, i) for n in range(8) for i in range(1, 6 if n % 2 else 9)}
    assert heard.index([7, 5]) > 0 and json.loads(done.stdout.splitlines()[-1]) == {"suggested": 8, "stopped": 4}


def status():
    command = [sys.executable, "-m", "tunehost", "status", "kept/own", "--json"]
    return subprocess.run(command, capture_output=True, text=True).stdout


class Improves(tune.Callback):
    """Saves a checkpoint where the loss is smaller than ever, and notes what it has heard."""

    def __init__(self):
        self.best, self.heard = {}, []

    def on_trial_result(self, iteration, trials, trial, result, **info):
        assert trial in trials and trial.status == trial.RUNNING and result["config"] == trial.config
        self.heard.append((trial.config["k"], result["training_iteration"]))
        result["seen"] = len([k for k, _ in self.heard if k == trial.config["k"]])
        result["val"]["twice"] = result["loss"] * 2
        result["done"] = True  # no callback ends a trial
        if result["loss"] < self.best.get(trial.trial_id, 10):
            self.best[trial.trial_id] = result["loss"]
            result[SHOULD_CHECKPOINT] = True

    def get_state(self):
        return {"best": self.best, "heard": self.heard}

    def set_state(self, state):
        self.best, self.heard = state["best"], state["heard"]


class Ups(tune.Trainable):
    LOSSES = [5, 7, 3, 4, 2, 9]

    def setup(self, config):
        self.n = 0

    def step(self):
        self.n += 1
        return {"loss": self.LOSSES[self.n - 1] + self.config["k"], "val": {"n": self.n}, "done": self.n == 6}

    def save_checkpoint(self, dir):
        Path(dir, "n").write_text(str(self.n))

    def load_checkpoint(self, dir):
        self.n = int(Path(dir, "n").read_text())


class Logs(LoggerCallback):
    def __init__(self):
        self.seen = []

    def log_trial_result(self, iteration, trial, result):
        self.seen.append((trial.config["k"], result["seen"], result["val"].get("n")))


def test_trials_wait_for_callbacks():
    """What a callback changes in a result is reported so, and a checkpoint that it wants is saved of that very step."""
    improves, logs = Improves(), Logs()
    space = {"k": tune.grid_search([0, 1])}
    results = fit(Ups, space, {"callbacks": [logs, improves]}, metric="loss", mode="min", max_concurrent_trials=2)
    assert not results.errors
    for result in results:
        k = result.config["k"]
        assert [at for one, at in improves.heard if one == k] == [1, 2, 3, 4, 5, 6]  # each result once
        assert [m["seen"] for m in result.results] == [1, 2, 3, 4, 5, 6] == [s for one, s, _ in logs.seen if one == k]
        assert SHOULD_CHECKPOINT not in result.metrics and result.metrics["val"] == {"n": 6, "twice": 2 * (9 + k)}
        saved = [Path(checkpoint.path, "n").read_text() for checkpoint, _ in result.best_checkpoints]
        assert sorted(saved) == ["1", "3", "5", "6"]  # the last one is saved in any case


def adds(config):
    for i in range(3):
        tune.report({"loss": i, "val": {}})


def test_functions_wait_for_callbacks():
    improves = Improves()
    (result,) = fit(adds, {"k": 3}, {"callbacks": [improves]}, metric="loss", mode="min")
    assert improves.heard == [(3, 1), (3, 2), (3, 3)] and [m["seen"] for m in result.results] == [1, 2, 3]
    assert result.checkpoint is None


def test_nobody_waits_for_a_script_that_is_gone():
    """`tunehost resume` continues an experiment without the script, and its callbacks."""
    (result,) = fit(adds, {"k": 3}, {"callbacks": [Improves()], "name": "gone"}, metric="loss", mode="min")
    subprocess.run([_binary.find(), "resume", "results/gone", "--copy", "0"], check=True, capture_output=True)
    first, second = tune.ResultGrid("results/gone")
    assert [m.get("seen") for m in first.results] == [1, 2, 3] and "seen" not in second.metrics and len(second.results) == 3


class Named(tune.Callback):
    """Takes what it is told by name, as callbacks of Ray do."""

    def __init__(self):
        self.heard = []

    def on_trial_result(self, **info):
        self.heard.append((sorted(info), info["result"]["loss"]))
        info["result"]["loss"] += 0.5

    def on_trial_complete(self, *, trial, **info):
        self.heard.append(trial.last_result["loss"])


def test_a_callback_may_take_keywords_only():
    callback = Named()
    results = fit(once, {"x": 1}, {"callbacks": [callback]}, metric="loss", mode="min")
    assert callback.heard == [(["iteration", "result", "trial", "trials"], 1), 1.5]
    assert results[0].metrics["loss"] == 1.5


def once(config):
    tune.report({"loss": config["x"]})


class Descends(Steps):
    def step(self):
        self.n += 1
        return {"loss": self.n}  # the same for all


def test_a_population_changes_something_where_all_are_alike():
    """As in Ray, where those of equal scores are sorted, too."""
    pbt = tune.PopulationBasedTraining(time_attr="training_iteration", perturbation_interval=3, synch=True,
                                       hyperparam_mutations={"lr": tune.loguniform(1e-3, 0.5)})
    results = fit(Descends, {"lr": 0.01}, {"stop": {"training_iteration": 9},
                  "checkpoint_config": tune.CheckpointConfig(checkpoint_frequency=3)},
                  metric="loss", mode="min", num_samples=4, scheduler=pbt)
    lrs = [r.config["lr"] for r in results]
    assert lrs[0] == 0.01 and len(set(lrs)) > 1, lrs


BOUND = ["x + y < 1"]
BOTH = {"x": tune.uniform(0, 1), "y": tune.uniform(0, 1)}


def added(config):
    tune.report({"loss": config["x"] + config["y"]})


class Anywhere(Searcher):
    """Suggests what it likes from a corner of the space, and notes what was not taken."""

    def __init__(self, spread):
        super().__init__(metric="loss", mode="min")
        self.spread, self.open, self.refused = spread, {}, 0

    def suggest(self, trial_id):
        assert trial_id not in self.open  # it was told that its suggestion was not taken
        self.open[trial_id] = {name: 0.4 + self.spread * random.random() for name in BOTH}
        return self.open[trial_id]

    def on_trial_complete(self, trial_id, result=None, error=False):
        suggested = self.open.pop(trial_id)
        self.refused += error
        assert error or result["config"] == suggested  # no other point has taken its place


def test_a_searcher_of_ones_own_is_asked_again_where_it_breaks_a_constraint():
    searcher = Anywhere(0.4)
    results = fit(added, BOTH, search_alg=searcher, metric="loss", mode="min", num_samples=8, seed=3, constraints=BOUND)
    assert len(results) == 8 and not results.errors and searcher.refused > 0
    assert all(r.config["x"] + r.config["y"] < 1 for r in results)


def test_a_searcher_of_ones_own_that_only_breaks_constraints():
    class Wrong(Anywhere):
        def suggest(self, trial_id):
            return {**super().suggest(trial_id), "x": 0.9}

    wanted = "Wrong: 100 suggestions in a row break a constraint .*, such as {'x': 0.9, "
    with pytest.raises(tune.TuneError, match=wanted):
        fit(added, BOTH, search_alg=Wrong(0.4), metric="loss", mode="min", num_samples=8, constraints=BOUND)


def test_the_host_draws_a_point_where_it_alone_knows_a_constraint():
    class Texts(Anywhere):
        def suggest(self, trial_id):
            return {**super().suggest(trial_id), "text": "wrong"}

        def on_trial_complete(self, trial_id, result=None, error=False):
            assert result["config"]["text"] == "right"

    space = {**BOTH, "text": tune.choice(["wrong", "right"])}
    results = fit(added, space, search_alg=Texts(0.1), metric="loss", mode="min", num_samples=4,
                  constraints=["string(x).size() > 0 && text == 'right'"])
    assert len(results) == 4 and not results.errors


def test_a_population_of_ones_own_keeps_constraints():
    def grow(config):
        with tempfile.TemporaryDirectory() as folder:
            for i in range(8):
                tune.report({"loss": config["x"] + i}, checkpoint=tune.Checkpoint.from_directory(folder))

    pbt = tune.PopulationBasedTraining(time_attr="training_iteration", perturbation_interval=2, resample_probability=0,
                                       hyperparam_mutations=BOTH, custom_explore_fn=lambda c: {**c, "x": c["x"] + random.random()})
    results = fit(grow, BOTH, {"stop": {"training_iteration": 8}}, scheduler=pbt, metric="loss", mode="min", num_samples=6,
                  seed=1, constraints=BOUND)
    assert not results.errors and all(r.config["x"] + r.config["y"] < 1 for r in results)
