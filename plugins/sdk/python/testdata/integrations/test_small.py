"""Integrations with libraries that are small: make check runs these, with the program."""

import json
from pathlib import Path

import numpy as np
import pandas
import pytest
from scipy import stats
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

from interrupted import checked, crashes, fit
from tunehost import tune
from tunehost.sklearn import TunedCV


def test_xgboost():
    def train(config):
        import xgboost

        from tunehost.integrations.xgboost import ReportCallback

        class Crashes(xgboost.callback.TrainingCallback):
            def after_iteration(self, model, epoch, evals_log):
                crashes(config, model.num_boosted_rounds())

        x, y = load_iris(return_X_y=True)
        data = xgboost.DMatrix(x, y)
        report = ReportCallback({"loss": "train-mlogloss"}, every=1)
        settings = {"objective": "multi:softprob", "num_class": 3, "nthread": 1}
        xgboost.train(settings, data, num_boost_round=5 - report.done, evals=[(data, "train")], verbose_eval=False,
                      xgb_model=report.model, callbacks=[report, Crashes()])
        Path("finished").touch()

    checked(train, 5)


def test_lightgbm():
    def train(config):
        import lightgbm

        from tunehost.integrations.lightgbm import ReportCallback

        def crash(env):
            crashes(config, report.done + env.iteration - env.begin_iteration + 1)

        crash.order = 99
        x, y = load_iris(return_X_y=True)
        data = lightgbm.Dataset(x, y, free_raw_data=False)
        report = ReportCallback({"loss": "training-multi_logloss"}, every=1)
        settings = {"objective": "multiclass", "num_class": 3, "num_threads": 1, "verbose": -1}
        lightgbm.train(settings, data, num_boost_round=5 - report.done, valid_sets=[data], valid_names=["training"],
                       init_model=report.model, callbacks=[report, crash])
        Path("finished").touch()

    checked(train, 5)


def test_partial_fit():
    def train(config):
        from tunehost.integrations.sklearn import partial_fit

        class Model(SGDClassifier):
            def partial_fit(self, x, y, classes=None):
                done = int(self.t_ // len(x)) if hasattr(self, "t_") else 0
                crashes(config, done)
                return super().partial_fit(x, y, classes)

        x, y = load_digits(return_X_y=True)
        partial_fit(Model(random_state=0), x, y, epochs=4, every=1, classes=np.unique(y),
                    score=lambda model: {"loss": 1 - model.score(x, y)})
        Path("finished").touch()

    checked(train, 4)


def test_metrics_that_are_not_there():
    def train(config):
        import xgboost

        from tunehost.integrations.xgboost import ReportCallback

        x, y = load_iris(return_X_y=True)
        data = xgboost.DMatrix(x, y)
        xgboost.train({}, data, 2, evals=[(data, "train")], verbose_eval=False, callbacks=[ReportCallback(["loss"])])

    assert "there is no metric 'loss'; there are train-rmse" in str(fit(train).errors[0])


SVCS = {"C": tune.loguniform(1e-3, 1e3), "kernel": tune.choice(["rbf", "linear"])}


def test_tuned_cv_passes_the_checks_of_scikit_learn():
    search = TunedCV(LogisticRegression(), {"C": tune.loguniform(1e-2, 1e2)}, trials=2, cv=2)
    checks = check_estimator(search, on_fail=None) or []
    assert [(c["check_name"], c["exception"]) for c in checks if c["status"] == "failed"] == []
    assert len([c for c in checks if c["status"] == "passed"]) > 30


def test_tuned_cv_finds_and_records():
    x, y = load_iris(return_X_y=True)
    search = TunedCV(SVC(), SVCS, trials=8, random_state=0, cv=3, storage="kept").fit(x, y)
    assert len(search.cv_results_["params"]) == 8
    assert search.best_score_ == max(search.cv_results_["mean_test_score"]) > 0.9
    assert search.best_estimator_.C == search.best_params_["C"] and search.predict(x).shape == y.shape
    again = TunedCV(SVC(), SVCS, trials=8, random_state=0, cv=3, storage="kept").fit(x, y)
    assert again.best_params_ == search.best_params_
    import tunehost

    for name in ("tunedcv", "tunedcv-2"):
        recorded = tunehost.Experiment.open(f"kept/{name}")
        assert recorded.best()["value"] == search.best_score_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning", "ignore:One or more of the test scores")
@pytest.mark.parametrize("seed", range(3))
def test_tuned_cv_goes_on_after_points_that_fail(seed):
    x, y = load_iris(return_X_y=True)
    search = TunedCV(SVC(), {"C": tune.uniform(-2, 2)}, trials=12, searcher="random", cv=3, random_state=seed,
                     storage="kept", name=f"failing-{seed}").fit(x, y)
    results = search.cv_results_
    for params, score in zip(results["params"], results["mean_test_score"]):
        assert np.isnan(score) == (params["C"] <= 0)
    assert len(results["params"]) == 12 and len(results["mean_fit_time"]) == 12
    assert search.best_params_["C"] > 0 and search.best_score_ > 0.9
    import tunehost

    trials = tunehost.Experiment.open(f"kept/failing-{seed}").trials()
    assert [t["params"] for t in trials] == results["params"]  # in the order in which they were tried
    failed = [t for t in trials if t["state"] == "ERROR"]
    assert failed and all(t["params"]["C"] <= 0 for t in failed)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning", "ignore:One or more of the test scores")
@pytest.mark.parametrize("values", [[-1.0, 1.0, 2.0, -3.0], [1.0, -1.0], [-1.0, 2.0], [-1.0, -2.0, 3.0]])
@pytest.mark.parametrize("error_score", [np.nan, 0.0])
@pytest.mark.parametrize("n_jobs, cv", [(1, 3), (4, 2)])
def test_tuned_cv_keeps_points_that_fail(values, error_score, n_jobs, cv):
    """Each point is there once, wherever the good ones are among them."""
    x, y = load_iris(return_X_y=True)
    search = TunedCV(SVC(), {"C": values}, trials=len(values), cv=cv, random_state=2, error_score=error_score,
                     n_jobs=n_jobs, return_train_score=True).fit(x, y)
    results = search.cv_results_
    found = dict(zip((p["C"] for p in results["params"]), results["mean_test_score"]))
    assert sorted(found) == sorted(values) and len(results["params"]) == len(values)
    assert {c for c in values if np.isnan(found[c]) or found[c] == error_score} == {c for c in values if c < 0}
    assert search.best_params_["C"] > 0 and search.best_score_ == max(s for c, s in found.items() if c > 0)


def test_tuned_cv_fails_if_all_points_do():
    x, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="All the 9 fits failed"):
        TunedCV(SVC(), {"C": tune.uniform(-2, -1)}, trials=3, cv=3).fit(x, y)
    with pytest.raises(ValueError, match="parameter of SVC"):
        TunedCV(SVC(), {"C": tune.uniform(-2, -1)}, trials=3, cv=3, error_score="raise").fit(x, y)


def test_tuned_cv_counts_the_fits_that_failed_as_scikit_learn_does(recwarn):
    """Of all points, in one warning, however they came to be evaluated."""
    x, y = load_iris(return_X_y=True)
    said = []
    for search in (TunedCV(SVC(), {"C": [-1, 1, 2]}, trials=3, searcher="grid", cv=3), GridSearchCV(SVC(), {"C": [-1, 1, 2]}, cv=3)):
        recwarn.clear()
        search.fit(x, y)
        said.append([str(w.message).strip().split("\n")[0].split("[")[0] for w in recwarn])
    assert said[0] == said[1] == ["3 fits failed out of a total of 9.", "One or more of the test scores are non-finite: "]


def test_tuned_cv_takes_spaces_of_scikit_learn():
    x, y = load_iris(return_X_y=True)
    space = {"C": [0.5, 1, 2], "kernel": np.array(["rbf", "linear"])}
    search = TunedCV(SVC(), space, trials=6, searcher="grid", cv=3).fit(x, y)
    assert {p["C"] for p in search.cv_results_["params"]} == {0.5, 1, 2} and len(search.cv_results_["params"]) == 6
    space = {"C": stats.loguniform(0.1, 10), "gamma": stats.uniform(1, 0.5), "degree": stats.randint(2, 4)}
    search = TunedCV(SVC(), space, trials=8, searcher="random", cv=3, random_state=1).fit(x, y)
    for p in search.cv_results_["params"]:
        assert 0.1 <= p["C"] <= 10 and 1 <= p["gamma"] <= 1.5 and p["degree"] in (2, 3)
    for bad, says in ((stats.expon(1), "scipy's expon"), (stats.loguniform(1, 10, loc=3), "leave loc out")):
        with pytest.raises(ValueError, match="C is.*" + says):
            TunedCV(SVC(), {"C": bad}, trials=3).fit(x, y)
    for bad in (0, -2, 2.5, "3"):
        with pytest.raises(ValueError, match="trials is .*: expected a whole number from 1 on"):
            TunedCV(SVC(), SVCS, trials=bad).fit(x, y)


def test_tuned_cv_takes_a_list_of_spaces():
    x, y = load_iris(return_X_y=True)
    spaces = [{"C": [1, 2]}, {"kernel": ["linear", "poly", "rbf"]}]
    search = TunedCV(SVC(), spaces, trials=4, searcher="random", cv=3, storage="listed").fit(x, y)
    found = search.cv_results_["params"]
    assert len(found) == 4 and {p["C"] for p in found if "C" in p} <= {1, 2}
    assert {tuple(p) for p in found} == {("C",), ("kernel",)} and search.best_params_ in found
    import tunehost

    assert [len(tunehost.Experiment.open(f"listed/{name}").trials()) for name in ("tunedcv", "tunedcv-2")] == [2, 2]
    for bad in ([3], 3, "C"):
        with pytest.raises(ValueError, match="expected a dict of parameters"):
            TunedCV(SVC(), bad, trials=3).fit(x, y)


def test_tuned_cv_with_several_metrics_and_finite_spaces():
    x, y = load_iris(return_X_y=True)
    space = {"kernel": tune.grid_search(["rbf", "linear"])}  # a choice, like a list: trials is how many points are tried
    search = TunedCV(SVC(), space, trials=2, searcher="grid", scoring=["accuracy", "f1_macro"], refit="f1_macro",
                     cv=KFold(3, shuffle=True, random_state=0)).fit(x, y)
    assert [p["kernel"] for p in search.cv_results_["params"]] == ["rbf", "linear"]
    assert search.best_score_ == max(search.cv_results_["mean_test_f1_macro"])
    with pytest.raises(ValueError, match="names the one that is searched for"):
        TunedCV(SVC(), space, trials=1, scoring=["accuracy", "f1_macro"], refit=False).fit(x, y)


@pytest.mark.parametrize("values", [(1, 2, 4), range(1, 4), pandas.Series([1, 2, 4]), np.array([1, 2, 4])],
                         ids=["tuple", "range", "series", "array"])
def test_a_sequence_is_a_choice_of_its_values_as_in_grid_search(values):
    x, y = load_iris(return_X_y=True)
    search = TunedCV(SVC(), {"degree": values}, trials=3, searcher="grid", cv=2).fit(x, y)
    assert sorted(p["degree"] for p in search.cv_results_["params"]) == list(values)


def test_no_space_at_all_is_refused():
    with pytest.raises(ValueError, match=r"param_space is \[\]: expected a dict"):
        TunedCV(SVC(), []).fit(*load_iris(return_X_y=True))
