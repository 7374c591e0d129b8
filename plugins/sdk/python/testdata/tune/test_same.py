"""What users of Ray Tune find as they know it. tune_test.go starts these tests."""

import json
import math
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from tunehost import _view, tune
from tunehost.tune import cluster
from tunehost.tune.experiment import Trial
from tunehost.tune.schedulers import FIFOScheduler, ResourceChangingScheduler
from tunehost.tune.schedulers.resource_changing_scheduler import DistributeResources
from tunehost.tune.search import BasicVariantGenerator, SearchAlgorithm, Searcher, SearchGenerator
from tunehost.tune.stopper import Stopper


def fit(trainable, space=None, run=None, **config):
    return tune.Tuner(
        trainable,
        param_space=space or {},
        tune_config=tune.TuneConfig(**config),
        run_config=tune.RunConfig(verbose=0, **(run or {})),
    ).fit()


def nested(config):
    for i in range(6):
        tune.report({"loss": config["x"] - i, "val": {"acc": i / 10, "deep": {"n": i}}, "a/b": "text"})


def test_results_are_nested_as_they_were_reported():
    results = fit(nested, {"x": tune.grid_search([1, 2])}, metric="loss", mode="min")
    metrics = results[0].metrics
    assert metrics["val"] == {"acc": 0.5, "deep": {"n": 5}} and metrics["a/b"] == "text" and "val/acc" not in list(metrics)
    assert metrics["val/deep/n"] == 5 and "val/acc" in metrics and "val/none" not in metrics
    assert results.get_best_result("val/acc", "max").metrics["val"]["acc"] == 0.5
    frame = results[0].metrics_dataframe
    assert list(frame["val/deep/n"]) == list(range(6)) and set(frame["config/x"]) == {1}
    assert tune.ResultGrid(tune.ExperimentAnalysis(results.experiment_path))[1].config == {"x": 2}


def test_an_analysis_has_trials():
    results = fit(nested, {"x": tune.grid_search([1, 2])}, {"name": "kept"}, metric="loss", mode="min")
    analysis = tune.ExperimentAnalysis(Path(results.experiment_path, "run.json"), default_metric="loss", default_mode="min")
    best = analysis.best_trial
    assert isinstance(best, Trial) and best.status == Trial.TERMINATED and best.config == {"x": 1}
    assert best.last_result["loss"] == -4 == analysis.best_result["loss"] and str(best) == f"nested_{best.trial_id}"
    found = best.metric_analysis["val/acc"]
    assert (found["max"], found["min"], found["last"]) == (0.5, 0.0, 0.5)
    assert math.isclose(found["avg"], 0.25) and math.isclose(found["last-5-avg"], 0.3)
    assert best.path == best.local_path == results[0].path and os.path.isdir(best.path)
    assert analysis.get_all_configs() == {t.trial_id: t.config for t in analysis.trials}
    assert analysis.get_best_config("loss", "max", "all") == {"x": 2}
    assert analysis.get_best_trial("unknown", "max") is None
    assert list(analysis.dataframe("loss", "max")["loss"]) == [1, 2] and analysis.best_result_df["val/acc"].iloc[0] == 0.5
    assert tune.ExperimentAnalysis(results.experiment_path).best_config == {"x": 1}  # by the metric of the experiment
    with pytest.raises(ValueError):
        tune.ExperimentAnalysis("nothing")


def test_an_experiment_on_a_file_system(tmp_path):
    from pyarrow import fs

    results = fit(nested, {"x": 3}, {"name": "kept"}, metric="loss", mode="min")
    on = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    path = os.path.relpath(results.experiment_path, tmp_path)
    assert tune.ExperimentAnalysis(path, storage_filesystem=on).trials[0].last_result["loss"] == -2
    trial = os.path.relpath(results[0].path, tmp_path)
    assert tune.Result.from_path(trial, on).metrics["loss"] == -2
    assert isinstance(results.filesystem, fs.LocalFileSystem) and isinstance(results[0].filesystem, fs.LocalFileSystem)


def test_directories_have_the_names_that_a_function_gives():
    results = fit(nested, {"x": 3}, {"name": "kept"}, trial_dirname_creator=lambda trial: f"T{trial.number}")
    assert results[0].path == os.path.join(results.experiment_path, "T0")
    assert tune.Result.from_path(results[0].path).metrics["loss"] == -2
    Path(results[0].path, "result.jsonl").unlink()
    assert tune.ResultGrid(results.experiment_path)[0].metrics["loss"] == -2  # from the record


class Exported(tune.Trainable):
    def step(self):
        return {"loss": self.training_iteration + 1, "done": self.training_iteration == 3}

    def save_checkpoint(self, dir):
        return {"at": self.training_iteration}

    def load_checkpoint(self, state):
        pass

    def export_model(self, formats, dir=None):
        Path(dir, "model").write_text(formats[0])
        return {formats[0]: dir}


def test_run_takes_what_ray_takes():
    analysis = tune.run(
        Exported, metric="loss", mode="min", verbose=0, export_formats=["text"], keep_checkpoints_num=1,
        checkpoint_score_attr="min-loss", checkpoint_freq=1,
    )
    (model,) = Path(analysis.best_trial.path).rglob("model")
    assert model.read_text() == "text"
    kept = [metrics["training_iteration"] for _, metrics in analysis.best_trial.best_checkpoints]
    assert kept == [1] and analysis.best_trial.checkpoint  # the best one, and the newest to continue from
    for argument in ({"local_dir": "x"}, {"chdir_to_trial_dir": False}):
        with pytest.raises(DeprecationWarning):
            tune.run(Exported, **argument)


class Halves(Searcher):
    """Suggests 8, 4, 2 and so on."""

    def __init__(self):
        super().__init__("loss", "min")
        self.told = {}

    def suggest(self, trial_id):
        return {"x": 8 / 2 ** len(self.told)}

    def on_trial_complete(self, trial_id, result=None, error=False):
        self.told[trial_id] = result["loss"]


class Counts(SearchAlgorithm):
    """Makes three trials."""

    def __init__(self):
        super().__init__()
        self.made, self.ended = {}, []

    def add_configurations(self, experiments):
        (self.spec,) = experiments.values()

    def next_trial(self):
        trial = Trial("mine", config={**self.spec["config"], "x": len(self.made)})
        self.made[trial.trial_id] = trial
        if len(self.made) == 3:
            self.set_finished()
        return trial

    def on_trial_complete(self, trial_id, result=None, error=False):
        self.ended.append((self.made[trial_id].config["x"], result["loss"]))


def score(config):
    tune.report({"loss": config["x"] * config["k"]})


def test_search_algorithms():
    results = fit(score, {"x": tune.uniform(0, 9), "k": 2}, search_alg=Counts(), num_samples=9, metric="loss", mode="min")
    assert sorted(r.config["x"] for r in results) == [0, 1, 2]
    alg = SearchGenerator(Halves())
    assert isinstance(alg, SearchAlgorithm) and pickle.loads(pickle.dumps(alg)).metric == "loss"
    results = fit(score, {"x": tune.uniform(0, 9), "k": 2}, search_alg=alg, num_samples=3, max_concurrent_trials=1)
    assert [r.config["x"] for r in results] == [8, 4, 2]


def test_a_search_generator_makes_trials():
    alg = SearchGenerator(Halves())
    alg.add_configurations({"e": {"run": score, "config": {"k": 2}, "num_samples": 2}})
    first, second = alg.next_trial(), alg.next_trial()
    assert first.config == {"k": 2, "x": 8} and second.trial_id != first.trial_id
    assert alg.next_trial() is None and alg.is_finished() and alg.total_samples == 2


def test_checkpoints_that_vanish_while_they_are_listed(tmp_path, monkeypatch):
    """The host makes and removes folders meanwhile."""
    from tunehost.tune.result import kept_checkpoints

    for name in ("000001", "000002", "000003.making"):
        (tmp_path / "checkpoints" / name).mkdir(parents=True)
        (tmp_path / "checkpoints" / name / "MANIFEST.json").write_text(f'{{"iteration": {int(name[:6])}}}')
    listed = os.listdir(tmp_path / "checkpoints")
    (tmp_path / "checkpoints" / "000001" / "MANIFEST.json").unlink()
    monkeypatch.setattr(os, "listdir", lambda dir: [*listed, "000009"])
    assert kept_checkpoints(str(tmp_path)) == [(2, str(tmp_path / "checkpoints" / "000002" / "files"))]


def telling(config):
    for i in range(5):
        tune.report({"loss": i, "words": ["a", str(i)], "val": {"acc": i / 10, "done": i == 3}, "array": np.arange(i)})


def right(result, nested):
    """Whether a result has what telling reported."""
    i = result["loss"]
    acc = result["val"]["acc"] if nested else result["val/acc"]
    done = result["val"]["done"] if nested else result["val/done"]
    return result["words"] == ["a", str(i)] and acc == i / 10 and done is (i == 3) and len(result["array"]) == i


class StopsOnWord(Stopper):
    def __call__(self, trial_id, result):
        assert right(result, nested=True)
        return result["words"][1] == "2"

    def stop_all(self):
        return False


class Hears(FIFOScheduler):
    def on_trial_result(self, tune_controller, trial, result):
        assert right(result, nested=False)
        return self.STOP if result["val/done"] else self.CONTINUE


class Asks(Searcher):
    def __init__(self):
        super().__init__("loss", "min")
        self.words = []

    def suggest(self, trial_id):
        return {"x": 0.5}

    def on_trial_result(self, trial_id, result):
        assert right(result, nested=False)

    def on_trial_complete(self, trial_id, result=None, error=False):
        self.words.append(result["words"])


def test_objects_are_told_everything_that_was_reported():
    assert fit(telling, run={"stop": StopsOnWord()})[0].metrics["loss"] == 2
    assert fit(telling, scheduler=Hears())[0].metrics["loss"] == 3
    asks = Asks()
    fit(telling, {"x": tune.uniform(0, 1)}, search_alg=asks, num_samples=2)
    assert asks.words == [["a", "4"]] * 2


def test_a_function_that_stops_sees_all_trials():
    best = {}

    def behind(trial_id, result):
        best[trial_id] = max(best.get(trial_id, 0), result["x"])
        return len(best) == 2 and result["x"] < max(best.values())

    def climbs(config):
        for i in range(6):
            tune.report({"x": config["k"] * (i + 1)})

    space = {"k": tune.grid_search([2, 1])}
    results = fit(climbs, space, {"stop": behind}, max_concurrent_trials=1)
    assert [r.metrics["training_iteration"] for r in results] == [6, 1]


class Picks(FIFOScheduler):
    """Pauses each trial once, and looks at its checkpoint."""

    def __init__(self):
        super().__init__()
        self.seen = {}

    def on_trial_result(self, tune_controller, trial, result):
        return self.PAUSE if result["training_iteration"] == 2 and trial.trial_id not in self.seen else self.CONTINUE

    def choose_trial_to_run(self, tune_controller):
        for trial in tune_controller.get_trials():
            if trial.status == trial.PAUSED:
                with trial.checkpoint.as_directory() as dir:
                    self.seen[trial.trial_id] = os.listdir(dir)
                assert os.path.isdir(trial.path) and trial.has_checkpoint()
                return trial
        return None


class Kept(tune.Trainable):
    def step(self):
        return {"loss": 1, "done": self.training_iteration == 3}

    def save_checkpoint(self, dir):
        Path(dir, "state").write_text("x")

    def load_checkpoint(self, dir):
        assert Path(dir, "state").exists()


def test_trials_of_a_scheduler_have_checkpoints():
    picks = Picks()
    results = fit(Kept, scheduler=picks, num_samples=2)
    assert set(picks.seen) == {r.trial_id for r in results} and not results.errors
    assert all("state" in names for names in picks.seen.values())


class Reused(tune.Trainable):
    def setup(self, config):
        self.made = self.x = config["x"]

    def reset_config(self, config):
        self.x = config["x"]
        return config["x"] != 2

    def step(self):
        return {"made": self.made, "x": self.x, "pid": os.getpid(), "done": self.training_iteration == 1}

    def cleanup(self):
        (Path(self.logdir).parent.parent / f"cleaned-{self.made}").touch()


def test_actors_are_reused():
    space = {"x": tune.grid_search([0, 1, 2, 3])}
    results = fit(Reused, space, {"name": "reused"}, reuse_actors=True, max_concurrent_trials=1)
    assert [(r.metrics["made"], r.metrics["x"]) for r in results] == [(0, 0), (0, 1), (2, 2), (2, 3)]
    assert all(r.metrics["training_iteration"] == 2 for r in results)
    assert len({r.metrics["pid"] for r in results}) == 1
    assert Path(results.experiment_path, "cleaned-0").exists()
    results = fit(Reused, space, {"name": "forked"}, max_concurrent_trials=1)
    assert [(r.metrics["made"], r.metrics["x"]) for r in results] == [(x, x) for x in range(4)]


class Signalled(tune.Trainable):
    def setup(self, config):
        self.n = 0

    def step(self):
        self.n += 1
        if self.n == 2:
            os.kill(os.getpid(), signal.SIGTERM)  # as a user or an out-of-memory daemon does
        time.sleep(0.1)
        return {"loss": 1, "done": self.n == 200}

    def reset_config(self, config):
        return True


def test_sigterm_ends_a_process_that_is_reused():
    results = fit(Signalled, {}, {"name": "signalled"}, reuse_actors=True)
    assert len(results.errors) == 1 and "was ended by signal 15" in str(results.errors[0])
    assert 2 <= len(results[0].results) < 200


def meets(config):
    """Reports, and waits for the other experiment."""
    (config["at"] / config["me"]).touch()
    end = time.time() + 60
    while not (config["at"] / config["other"]).exists():
        assert time.time() < end, "the other experiment does not run"
        time.sleep(0.01)
    tune.report({"loss": 1, "me": config["me"]})


class Hearing(tune.Callback):
    def __init__(self):
        self.heard = []

    def on_trial_complete(self, iteration, trials, trial, **info):
        self.heard.append(trial.config["me"])


def test_experiments_run_at_the_same_time(tmp_path):
    hearing = Hearing()
    experiments = [
        tune.Experiment(me, meets, config={"at": tmp_path, "me": me, "other": other})
        for me, other in (("a", "b"), ("b", "a"))
    ]
    trials = tune.run_experiments(experiments, verbose=0, callbacks=[hearing])
    assert sorted(t.last_result["me"] for t in trials) == ["a", "b"] == sorted(hearing.heard)


def long(config):
    at = tune.get_checkpoint()
    begin = json.loads(Path(at.path, "at").read_text()) + 1 if at else 0
    for i in range(begin, 6):
        with tempfile.TemporaryDirectory() as dir:
            Path(dir, "at").write_text(str(i))
            tune.report({"loss": i}, checkpoint=tune.Checkpoint(dir))
        if config["x"] == 1 and i == 2 and not Path(config["at"], "go").exists():
            os.kill(int(Path(config["at"], "host").read_text()), signal.SIGKILL)
            time.sleep(60)


INTERRUPTED = """
import os, sys
from pathlib import Path
from tunehost import tune
from tunehost.tune import cluster
from tunehost.tune import _host
sys.path.insert(0, {here!r})
from test_same import long
begun = _host.subprocess.Popen
class Popen(begun):
    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        Path({dir!r}, "host").write_text(str(self.pid))
_host.subprocess.Popen = Popen
tune.Tuner(long, param_space={{"x": tune.grid_search([0, 1]), "at": {dir!r}}},
           tune_config=tune.TuneConfig(max_concurrent_trials=1), run_config=tune.RunConfig(name="cut", verbose=0)).fit()
"""


def test_unfinished_trials_can_be_skipped(tmp_path):
    code = INTERRUPTED.format(here=str(Path(__file__).parent), dir=str(tmp_path))
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode != 0
    Path("go").touch()
    tuner = tune.Tuner.restore("results/cut", long, resume_unfinished=False)
    results = tuner.fit()
    assert [r.metrics["loss"] for r in results] == [5, 2] and not results.errors
    assert results.num_terminated == 2
    analysis = tune.run(long, name="cut", resume="AUTO+ERRORED_ONLY", verbose=0)
    assert [t.last_result["loss"] for t in analysis.trials] == [5, 2]


RESUME, RESTART = tune.ResumeConfig.ResumeType.RESUME, tune.ResumeConfig.ResumeType.RESTART


def test_unfinished_trials_begin_again(tmp_path):
    """As in Ray, a trial that begins again is a new one with the same config."""
    code = INTERRUPTED.format(here=str(Path(__file__).parent), dir=str(tmp_path))
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode != 0
    before = {t["trial"]: t["params"]["x"] for t in _view.lines("trials", "results/cut")}
    Path("go").touch()
    restart = tune.ResumeConfig(unfinished=RESTART)
    analysis = tune.run(long, name="cut", resume=True, resume_config=restart, verbose=0)
    old, new = analysis.trials
    assert before[old.trial_id] == 0 and new.trial_id not in before and new.config["x"] == 1
    assert [r["loss"] for r in new.results] == [0, 1, 2, 3, 4, 5]
    assert [r["training_iteration"] for r in new.results] == [1, 2, 3, 4, 5, 6]


def goes_on(config):
    at = tune.get_checkpoint()
    begin = json.loads(Path(at.path, "at").read_text()) + 1 if at else 0
    for i in range(begin, begin + 3):
        with tempfile.TemporaryDirectory() as dir:
            Path(dir, "at").write_text(str(i))
            tune.report({"loss": i}, checkpoint=tune.Checkpoint(dir))


def test_finished_trials_run_again():
    space = {"x": tune.grid_search([0, 1])}

    def again(**kinds):
        more = {"resume": True, "resume_config": tune.ResumeConfig(**kinds)} if kinds else {}
        return tune.run(goes_on, name="whole", config=space, verbose=0, **more).trials

    ids = [t.trial_id for t in again()]
    restarted = again(finished=RESTART)
    assert [t.config["x"] for t in restarted] == [0, 1] and not {t.trial_id for t in restarted} & set(ids)
    assert all([r["loss"] for r in t.results] == [0, 1, 2] for t in restarted)
    resumed = again(finished="resume")
    assert [t.config["x"] for t in resumed] == [0, 1] and all([r["loss"] for r in t.results] == [3, 4, 5] for t in resumed)
    assert all([r["training_iteration"] for r in t.results] == [4, 5, 6] for t in resumed)
    assert [t.trial_id for t in again(finished="skip")] == [t.trial_id for t in resumed]
    assert len(_view.lines("trials", "results/whole")) == 6
    with pytest.raises(ValueError):
        again(finished="nonsense")


def test_resume_modes():
    for mode, error in (("PROMPT", DeprecationWarning), ("AUTO+NONSENSE", ValueError), ("NONSENSE", ValueError)):
        with pytest.raises(error):
            tune.run(score, name="none", resume=mode)
    analysis = tune.run(score, config={"x": 1, "k": 1}, name="new", resume="AUTO+RESTART_ERRORED_ONLY", verbose=0)
    assert analysis.trials[0].last_result["loss"] == 1


def bowl(config):
    tune.report({"loss": sum((float(x) - 0.3) ** 2 for x in config.values() if isinstance(x, (int, float)))})


def test_searchers_of_other_libraries():
    """With arguments of a library it is the library that suggests."""
    import nevergrad
    from hyperopt import hp

    from tunehost.tune.search import ConcurrencyLimiter
    from tunehost.tune.search.bayesopt import BayesOptSearch
    from tunehost.tune.search.hyperopt import HyperOptSearch
    from tunehost.tune.search.nevergrad import NevergradSearch
    from tunehost.tune.search.zoopt import ZOOptSearch

    goal = {"metric": "loss", "mode": "min"}
    kinds = hp.choice("kind", [{"name": "a", "y": hp.uniform("y", 0, 1)}, {"name": "b"}])
    hyper = HyperOptSearch({"x": hp.uniform("x", -1, 1), "kind": kinds}, **goal)
    results = fit(bowl, num_samples=4, search_alg=ConcurrencyLimiter(hyper, 2))
    assert all(("y" in r.config["kind"]) == (r.config["kind"]["name"] == "a") for r in results) and len(results) == 4
    bayes = BayesOptSearch({"x": (0, 1), "y": (0, 2)}, utility_kwargs={"kind": "ucb"}, random_search_steps=2, **goal)
    results = fit(bowl, num_samples=4, search_alg=bayes, max_concurrent_trials=2)
    assert len({r.config["x"] for r in results}) == 4 and all(0 <= r.config["y"] <= 2 for r in results)
    never = NevergradSearch(nevergrad.optimizers.OnePlusOne, {"budget": 9}, **goal)
    results = fit(bowl, {"x": tune.randint(0, 5), "c": tune.choice(["u", "v"])}, search_alg=never, num_samples=3)
    assert all(r.config["x"] in range(5) and r.config["c"] in ("u", "v") for r in results)
    zoo = ZOOptSearch(budget=20, **goal)
    assert len(fit(bowl, {"x": tune.uniform(0, 1)}, search_alg=zoo, num_samples=3)) == 3


class Walks(tune.Trainable):
    """Adds lr in each step; k is its own time."""

    def setup(self, config):
        self.c, self.n, self.score = config, 0, 0.0

    def step(self):
        self.n += 1
        self.score += self.c["lr"]
        w = self.c.get("net", {}).get("w", 0)
        return {"score": self.score, "k": self.n * 1.5, "lr": self.c["lr"], "w": w, "own": self.c.get("own", 0)}

    def save_checkpoint(self, dir):
        return {"n": self.n, "score": self.score}

    def load_checkpoint(self, state):
        self.n, self.score = state["n"], state["score"]


EIGHT = {"stop": {"training_iteration": 8}}


def walk(scheduler, space):
    results = fit(
        Walks, space, EIGHT, scheduler=scheduler, metric="score", mode="max", num_samples=4, max_concurrent_trials=2
    )
    assert not results.errors and all(r.metrics["training_iteration"] == 8 for r in results)
    return results


def test_a_population_that_waits_for_each_other():
    """With functions, nested dicts, and values that param_space does not have."""
    mutations = {"lr": lambda: random.uniform(0, 1), "net": {"w": [1, 2, 3], "d": {"z": tune.uniform(0, 1)}}}
    results = walk(tune.PopulationBasedTraining("k", perturbation_interval=3, hyperparam_mutations=mutations, synch=True), {})
    rates = [len({m["lr"] for m in r.results}) for r in results]
    assert max(rates) > 1 and all(r.metrics["w"] in (1, 2, 3) for r in results)


def test_bandits_with_a_time_of_their_own():
    explore = {"custom_explore_fn": lambda config: {**config, "own": 7}}
    results = walk(tune.PB2("k", perturbation_interval=3, hyperparam_bounds={"lr": [0, 1]}, **explore), {"lr": 0.5})
    changed = [r for r in results if r.metrics["own"] == 7]
    assert all(0 <= r.metrics["lr"] <= 1 for r in results)
    assert changed or len({r.metrics["lr"] for r in results}) == 1


def test_hyperband_with_a_time_of_its_own():
    scheduler = tune.HyperBandScheduler(time_attr="k", max_t=9)
    space = {"lr": tune.grid_search([-x / 10 for x in range(1, 9)])}
    results = fit(Walks, space, scheduler=scheduler, metric="score", mode="max", max_concurrent_trials=3)
    assert [r.metrics["training_iteration"] for r in results] == [6, 6, 6, 6, 6, 2, 2, 2]


def test_random_values_that_stay_over_a_grid():
    space = {"x": tune.uniform(0, 1), "n": {"c": tune.choice("ab"), "g": tune.grid_search([5, 6])}, "k": tune.grid_search([1, 2])}
    alg = BasicVariantGenerator(constant_grid_search=True, random_state=np.random.RandomState(3))
    results = fit(score, space, search_alg=alg, num_samples=2)
    drawn = [(r.config["x"], r.config["n"]["c"]) for r in results]
    assert len(drawn) == 8 and len(set(drawn[:4])) == len(set(drawn[4:])) == 1 and drawn[0] != drawn[4]
    assert [(r.config["n"]["g"], r.config["k"]) for r in results[:4]] == [(5, 1), (5, 2), (6, 1), (6, 2)]


def test_a_seed_gives_the_trials_that_ray_has():
    """Ray draws the configs, and its rule says which is the best."""
    from ray import tune as theirs
    from ray.tune.search import sample, variant_generator

    def space(of):
        return {"x": of.uniform(0, 20), "n": {"h": of.randint(-100, 100)}, "k": of.grid_search(["a", "b"])}

    def value(config):
        return {"mean_loss": (0.1 + config["x"] / 10) ** -1 + config["n"]["h"] * 0.1}

    results = fit(
        lambda config: value(config),
        space(tune),
        metric="mean_loss",
        mode="min",
        num_samples=5,
        search_alg=BasicVariantGenerator(random_state=7),
    )
    state = sample._BackwardsCompatibleNumpyRng(7)
    spec = {"config": space(theirs)}
    drawn = [one["config"] for _ in range(5) for _, one in variant_generator.generate_variants(spec, random_state=state)]
    assert [r.config for r in results] == drawn
    assert results.get_best_result().config == min(drawn, key=lambda config: value(config)["mean_loss"])


class Sized(tune.Trainable):
    """The longer trial trains until it has all CPUs."""

    def setup(self, config):
        self.n, self.most = 0, config["most"]

    def step(self):
        self.n += 1
        cpus = self.trial_resources.head_cpus
        return {"loss": 1, "cpus": cpus, "done": self.n >= self.most and (self.most == 2 or cpus == 4)}

    def save_checkpoint(self, dir):
        return {"n": self.n}

    def load_checkpoint(self, state):
        self.n = state["n"]


def share(controller, trial, result, scheduler):
    total = controller._resource_updater.get_num_cpus()
    return tune.PlacementGroupFactory([{"CPU": total // len(controller.get_live_trials())}])


@pytest.mark.parametrize("allocate", [DistributeResources(), share])
def test_resources_that_a_function_gives(allocate):
    cluster.init(num_cpus=4)
    try:
        scheduler = ResourceChangingScheduler(tune.ASHAScheduler(max_t=100_000, grace_period=50_000), allocate)
        trainable = tune.with_resources(Sized, {"CPU": 1})
        results = fit(trainable, {"most": tune.grid_search([2, 12])}, metric="loss", mode="min", scheduler=scheduler)
    finally:
        cluster.shutdown()
    cpus = [r["cpus"] for r in results[1].results]
    assert cpus[0] == 1 and cpus[-1] == 4 and len(cpus) >= 12 and cpus == sorted(cpus)


def timed(config):
    begun = time.time()
    time.sleep(0.1 * config["k"])
    tune.report({"loss": (config["x"] - 0.3) ** 2, "begun": begun, "ended": time.time()})


def test_batches_of_a_searcher_of_tunehost():
    """The next trials start when all others have ended."""
    from tunehost.tune.search import ConcurrencyLimiter
    from tunehost.tune.search.hyperopt import HyperOptSearch

    space = {"x": tune.uniform(0, 1), "k": tune.choice([1, 2, 3]), "f": tune.choice([len, max])}
    alg = ConcurrencyLimiter(HyperOptSearch(points_to_evaluate=[{"x": 0.5}], n_initial_points=4), 2, batch=True)
    cluster.init(num_cpus=4)
    try:
        results = fit(timed, space, metric="loss", mode="min", num_samples=6, search_alg=alg)
    finally:
        cluster.shutdown()
    assert results[0].config["x"] == 0.5 and len({r.config["x"] for r in results}) == 6
    times = [(r.metrics["begun"], r.metrics["ended"]) for r in results]
    for pair in (2, 4):
        assert min(begun for begun, _ in times[pair : pair + 2]) >= max(ended for _, ended in times[:pair])


def test_a_time_ends_a_trial_with_a_result():
    """As in Ray, stop is tested on results: none is lost in the middle."""

    def train(config):
        for _ in range(100):
            time.sleep(0.1)
            tune.report({"loss": 1})

    (result,) = fit(train, run={"stop": {"time_total_s": 0.35}}, num_samples=1)
    times = [r["time_total_s"] for r in result.results]
    assert times[-1] >= 0.35 > times[-2]
