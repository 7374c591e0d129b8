"""Values of choices and constants that are scalars of numpy and pandas. tune_test.go starts this with the program."""

import numpy
import pandas
import pytest

import tunehost
from tunehost import _view, tune

RATES = list(numpy.linspace(0, 1, 3))
VALUES = {
    "float64": (RATES, [0.0, 0.5, 1.0]),
    "float32": (list(numpy.float32([0.25, 0.5])), [0.25, 0.5]),
    "int64": (list(numpy.arange(2)), [0, 1]),
    "bool": (list(numpy.array([True, False])), [True, False]),
    "str": (list(numpy.array(["a", "b"])), ["a", "b"]),
    "mixed": ([None, numpy.int64(1), "b", numpy.float64(0.5)], [None, 1, "b", 0.5]),
    "lists": ([[numpy.int64(1), [numpy.float64(0.5)]], []], [[1, [0.5]], []]),
    "dicts": ([{"a": numpy.int64(1)}, {}], [{"a": 1}, {}]),
    "pandas": (list(pandas.Series([1, 2], dtype="Int64").array), [1, 2]),
    "tuples": ([(numpy.int64(1), 2.0), ()], [(1, 2.0), ()]),
    "infinite": ([numpy.float64("inf"), numpy.float64(0)], [float("inf"), 0.0]),
}
AIM = {"metric": "loss", "mode": "min"}


def alike(a, b):
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("make", [tune.choice, tune.grid_search], ids=["choice", "grid"])
def test_trials_get_the_objects_and_the_record_has_values(kind, make):
    given, plain = VALUES[kind]
    name = "choices"
    points = {} if make is tune.grid_search else {"points": [{"c": value} for value in given]}
    with tunehost.AskTell({"c": make(given)}, **AIM, trials=len(given), name=name, **points) as experiment:
        for trial, value in zip(experiment, given):
            assert trial.params["c"] is value
            experiment.tell(trial, trial.number)
    found = [t["params"]["c"] for t in tunehost.Experiment.open(f"results/{name}").trials()]
    assert len(found) == len(plain) and all(map(alike, found, plain))


@pytest.mark.parametrize("point", [RATES[1], 0.5, numpy.float32(0.5)], ids=["object", "float", "float32"])
def test_points_and_constraints_take_numbers(point):
    space = {"l": tune.choice(RATES), "n": numpy.int64(2), "x": tune.uniform(numpy.float64(0), numpy.int64(1))}
    settings = {"points": [{"l": point, "x": numpy.float32(0.25)}], "constraints": ["l + x < n - 1"]}
    best = tunehost.minimize(lambda p: p["l"], space, trials=4, name="bounded", verbose=0, **settings)
    with tunehost.AskTell(space, **AIM, trials=4, name="asked", **settings) as experiment:
        for trial in experiment:
            experiment.tell(trial, trial.params["l"])
    for made in (best.experiment, experiment):
        trials = [t["params"] for t in made.trials()]
        assert trials[0] == {"l": 0.5, "n": 2, "x": 0.25} and all(p["l"] + p["x"] < 1 for p in trials)
    assert type(best.params["l"]) is numpy.float64 and type(best.experiment.best()["params"]["l"]) is float
    assert tunehost.Experiment.open("results/asked").trials(where="l >= 0.5")[0]["number"] == 0


@pytest.mark.parametrize("values", [[(1, 2), (3, 4)], [[1], [3]], [len, max], [numpy.array([1, 2]), numpy.array([3])],
                                    [1, True, "1"]], ids=["tuples", "lists", "functions", "arrays", "alike"])
def test_points_of_asktell_are_those_of_minimize(values):
    space, points = {"d": {"c": tune.choice(values)}}, [{"d": {"c": value}} for value in reversed(values)]
    with tunehost.AskTell(space, **AIM, trials=len(values), name="points", points=points) as experiment:
        for trial, value in zip(experiment, reversed(values)):
            assert trial.params["d"]["c"] is value
            experiment.tell(trial, 1.0)
    tunehost.minimize(lambda p: 1.0, space, trials=len(values), points=points, name="same", verbose=0)
    records = [[t["params"] for t in tunehost.Experiment.open(f"results/{n}").trials()] for n in ("points", "same")]
    assert records[0] == records[1]


def test_points_of_asktell_may_have_the_labels_of_the_record():
    space = {"c": tune.choice([len, max]), "m": tune.choice([{"k": 1, "lr": tune.uniform(0, 1)}, "none"])}
    label = "{'k': 1}"
    points = [{"c": "max", "m": label, "m_0": {"it": {"lr": 0.5}}}, {"c": max, "m": {"k": 1, "lr": 0.25}}]
    with tunehost.AskTell(space, **AIM, trials=2, name="labels", points=points) as experiment:
        made = [(experiment.tell(trial, 1.0), trial.params)[1] for trial in experiment]
    assert made == [{"c": max, "m": {"k": 1, "lr": lr}} for lr in (0.5, 0.25)]


@pytest.mark.parametrize("points, says", [
    ([{"c": abs}], "<built-in function abs> is none of the values of the parameter c: len, max"),
    ([{"c": "mix"}], 'points: found the text "mix" for c, expected len or max'),
    ([{"y": abs}], "points: 'y' is no parameter of the space; it has c"),
    ({"c": "max"}, "points"),
    ([5], "points"),
])
def test_points_that_are_none(points, says):
    with pytest.raises(tunehost.AskError) as e:
        tunehost.AskTell({"c": tune.choice([len, max])}, **AIM, trials=1, name="wrong", points=points)
    assert says in str(e.value) and "\n" not in str(e.value)


MODELS = {"m": tune.choice([{"kind": "svm", "C": tune.loguniform(1e-3, 1e3)},
                            {"kind": "forest", "trees": tune.randint(10, 200)},
                            [tune.uniform(0, 1), "x"], "none"])}


@pytest.mark.parametrize("value, says", [
    ({"kind": "svm", "C": 5e6}, "m: 5000000.0 is no value of m/C: expected a number from 0.001 to 1000"),
    ({"kind": "forest"}, "m: the dict lacks trees"),
    ({"kind": "svm", "trees": 20}, "m: the dict lacks C and has trees, which is no parameter of it"),
    ({"C": 1.0}, "m: the dict lacks kind"),
    ([2, "x"], "m: 2 is no value of m/0: expected a number from 0 to 1"),
])
def test_points_say_what_is_wrong_inside_of_a_choice(value, says):
    with pytest.raises(tunehost.AskError) as e:
        tunehost.AskTell(MODELS, **AIM, trials=1, name="wrong", points=[{"m": value}])
    assert str(e.value) == f"points: {says}"
    with pytest.raises(tune.TuneError) as e:
        tunehost.minimize(lambda p: 1.0, MODELS, trials=1, name="wrong", points=[{"m": value}])
    assert str(e.value) == f"points: {says}"


OLD = {"l": tune.choice(RATES), "n": numpy.int64(2), "x": tune.uniform(0, 1)}


@pytest.fixture
def earlier(monkeypatch):
    """Earlier releases took scalars for objects like any other."""
    with monkeypatch.context() as old:
        for module in ("_encode", "_restore", "_points"):
            old.setattr(f"tunehost.tune.{module}.native", lambda value: value)
        yield old.undo


def test_minimize_goes_on_with_the_texts_that_it_had(earlier, capfd):
    tunehost.minimize(lambda p: p["x"], OLD, trials=2, name="old", verbose=0)
    earlier()
    points = [{"l": 0.5}]
    best = tunehost.minimize(lambda p: p["x"] + p["l"] + p["n"], OLD, trials=4, name="old", resume=True, points=points)
    trials = best.experiment.trials()
    assert len(trials) == 4 and {t["state"] for t in trials} == {"TERMINATED"}
    assert all(t["params"]["l"] in (0.0, 0.5, 1.0) for t in trials) and "n" not in _recorded(best)
    assert type(best.params["l"]) is numpy.float64
    err = capfd.readouterr().err
    assert "change of space" not in err
    with pytest.raises(tune.TuneError, match="param_space: x/uniform is .0.0, 3.0. and was .0.0, 1.0."):
        tunehost.minimize(lambda p: p["x"], {**OLD, "x": tune.uniform(0, 3)}, trials=5, name="old", resume=True)


def _recorded(best):
    return _view.lines("trials", best.experiment.dir)[-1]["params"]


def test_asktell_goes_on_with_the_texts_that_it_had(earlier):
    for _ in range(2):
        with tunehost.AskTell(OLD, **AIM, trials=2, name="old") as experiment:
            trial = experiment.ask()
            assert any(trial.params["l"] is rate for rate in RATES) and trial.params["n"] == 2
            experiment.tell(trial, 1.0)
        earlier()
    with pytest.raises(tunehost.AskError, match=r"another space \(changed: x\)"):
        tunehost.AskTell({**OLD, "x": tune.uniform(0, 3)}, **AIM, trials=2, name="old")


@pytest.mark.parametrize("then", [[0.0, 0.5, 1.0], RATES], ids=["to lists", "to numpy"])
def test_numpy_and_lists_are_the_same_space(then):
    first = RATES if then is not RATES else [0.0, 0.5, 1.0]
    for values, trials in ((first, 1), (then, 2)):
        space = {"l": tune.choice(values)}
        best = tunehost.minimize(lambda p: p["l"], space, trials=trials, name="same", resume=True, verbose=0)
    assert len(best.experiment.trials()) == 2


LONE = "\ud800"


def test_zeros_and_texts_that_no_file_has_are_values():
    """The trainable gets 0.0 and -0.0, and lone surrogates; the record has texts of them."""
    space = {
        "zero": tune.grid_search([-0.0, 0.0]),
        "text": tune.grid_search([LONE, "x"]),
        "constant": LONE,
        LONE: {LONE: 1},
        "listed": tune.choice([[-0.0], [0.0]]),
    }

    def train(config):
        as_given = config[LONE] == {LONE: 1} and config["constant"] == LONE and config["text"] in (LONE, "x")
        return {"ok": int(as_given), "sign": sign(config["zero"])}

    def sign(zero):
        return float(numpy.copysign(1, zero))

    grid = tune.Tuner(train, param_space=space, run_config=tune.RunConfig(verbose=0)).fit()
    assert not grid.errors and [r.metrics["ok"] for r in grid] == [1] * 4
    assert all(sign(r.config["zero"]) == r.metrics["sign"] for r in grid)
    assert sorted((r.metrics["sign"], r.config["text"]) for r in grid) == [(s, t) for s in (-1, 1) for t in ("x", LONE)]
    params = [t["params"] for t in tunehost.Experiment.open(grid.experiment_path).trials()]
    assert sorted((sign(p["zero"]), p["text"]) for p in params) == [(s, t) for s in (-1, 1) for t in ("?", "x")]


def test_lists_are_lists_for_who_reads_the_experiment():
    """Also tuples, those in other ones, and those that only some trials have."""
    space = {
        "layers": [tune.randint(1, 9), tune.choice([8, 16]), 3],
        "pair": (tune.uniform(0, 1), {"a": [tune.uniform(0, 1), "c", None]}),
        "model": tune.choice([1, {"k": [tune.randint(0, 5), 2]}, {"k": (tune.randint(0, 5), tune.choice([(1, 2), 3]))}]),
    }
    best = tunehost.minimize(lambda p: sum(p["layers"]), space, trials=12, name="lists", verbose=0, seed=1)
    read = tunehost.Experiment.open("results/lists")
    assert [t["params"] for t in read.trials()] == [r.config for r in tune.ResultGrid("results/lists")]
    assert best.params == read.best()["params"] == read.status()["best"]["params"]
    assert list(read.dataframe()["params/layers"]) == [t["params"]["layers"] for t in read.trials()]
    with tunehost.AskTell(space, "loss", "min", trials=1, name="asked") as session:
        asked = session.ask()
        session.tell(asked, 1)
    assert tunehost.Experiment.open("results/asked").trials()[0]["params"] == asked.params


U = tune.uniform(0, 1)
CONSTANTS = {
    "in dicts": ({"shape": (3, 4), "g": {"m": {1: ("a", float("inf"))}, "x": U}, "x": U}, {}),
    "first in lists": ({"t": [(1, 2), U]}, {}),
    "last in lists": ({"t": (U, [U, (1, [2, 3])])}, {}),
    "in choices": ({"m": tune.choice([{"k": "a", "size": (3, 3), "l": [(1,), U]}])}, {}),
    "objects": ({"t": [len, b"x", U], "o": {"f": len, "n": (1, len)}, "x": U},
                {"t": ["len", "b'x'"], "o": {"f": "len", "n": (1, "len")}}),
    "beside sample_from": ({"t": [U, (1, 2)], "c": tune.choice([(1, 2)]), "s": tune.sample_from(lambda c: 1)}, {}),
    "forms": ({"choice": (1, 2), "x": U}, {}),
}


@pytest.mark.parametrize("kind", CONSTANTS)
def test_constants_that_the_record_cannot_have_are_read(kind):
    space, texts = CONSTANTS[kind]
    made = {}
    with tunehost.AskTell(space, **AIM, trials=1, name="asked") as session:
        for trial in session:
            made["asked"] = trial.params
            session.tell(trial, 1)
        within = session.best()["params"]
    best = tunehost.minimize(lambda p: 1.0, space, trials=1, name="minimized", verbose=0)
    made["minimized"] = best.params
    for name, params in made.items():
        expected = {k: v for k, v in params.items() if k != "s"}
        expected = {k: type(v)([*texts[k], *v[len(texts[k]):]]) if k in texts and k == "t" else texts.get(k, v)
                    for k, v in expected.items()}
        if kind == "forms":
            expected["choice_"] = expected.pop("choice")
        read = tunehost.Experiment.open(f"results/{name}")
        assert read.best()["params"] == read.trials()[0]["params"] == expected
    if "sample_from" in kind:
        assert within == {k: v for k, v in made["asked"].items() if k != "s"}


def test_a_list_is_none_where_a_searcher_of_the_user_may_change_what_the_record_has_not():
    """What is missing is not left out of the list."""

    class Own(tune.search.Searcher):
        def suggest(self, trial_id):
            return {"t": [0.5, (3, 4)]}

        def on_trial_complete(self, trial_id, result=None, error=False):
            pass

    config = tune.TuneConfig(**AIM, num_samples=1, search_alg=Own(**AIM))
    own = tune.Tuner(lambda c: {"loss": 1.0}, param_space={"t": [U, (1, 2)]}, tune_config=config,
                     run_config=tune.RunConfig(name="own", verbose=0)).fit()
    assert own[0].config == {"t": [0.5, (3, 4)]}
    assert tunehost.Experiment.open("results/own").best()["params"] == {"t": {"0": 0.5}}
