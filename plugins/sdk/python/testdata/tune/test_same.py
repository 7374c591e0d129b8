"""What users of Ray Tune find as they know it. tune_test.go starts these tests."""

import math
import os
import pickle
from pathlib import Path

import pytest

from tunehost import tune
from tunehost.tune.experiment import Trial
from tunehost.tune.search import SearchAlgorithm, Searcher, SearchGenerator


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
    with pytest.raises(ValueError):
        tune.ExperimentAnalysis(results.experiment_path).best_trial
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
    assert kept == [1, 4]  # the best one, and the newest
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
