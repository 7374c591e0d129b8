"""What tunehost.tune does without the program: spaces, experiment files, mistakes."""

import inspect
import json
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Callable, Dict, List, cast

import pytest

from tunehost import _binary, _forms, tune
from tunehost.tune import _encode, _payload, cluster, experiment, schedulers, search, stopper
from tunehost.tune.search import _methods


def train(config: Dict[str, Any]) -> None:
    tune.report({"loss": config["x"]})


class Steps(tune.Trainable):
    def step(self) -> Dict[str, Any]:
        return {"loss": 1}


def file(param_space: Any = None, trainable: Any = train, run: Any = None, **config: Any) -> Dict[str, Any]:
    """The experiment file, by keys."""
    tuner = tune.Tuner(
        trainable, param_space=param_space or {}, tune_config=tune.TuneConfig(**config), run_config=run
    )
    assert tuner._experiment
    return dict(tuner._experiment.keys)


def space(**parameters: Any) -> Dict[str, Any]:
    return _encode.encode(parameters).space


FORMS = [
    (tune.uniform(-1, 2), {"uniform": [-1, 2]}),
    (tune.quniform(0, 10, 2.5), {"uniform": [0, 10], "step": 2.5}),
    (tune.loguniform(1e-4, 1, 10), {"loguniform": [1e-4, 1]}),
    (tune.qloguniform(1, 100, 5), {"loguniform": [1, 100], "step": 5}),
    (tune.randn(1, 2), {"normal": [1, 2]}),
    (tune.qrandn(1, 2, 0.5), {"normal": [1, 2], "step": 0.5}),
    (tune.randint(0, 10), {"int": [0, 9]}),
    (tune.qrandint(0, 10, 5), {"int": [0, 10], "step": 5}),
    (tune.qrandint(0, 10), {"int": [0, 9]}),
    (tune.lograndint(1, 101), {"int": [1, 100], "log": True}),
    (tune.qlograndint(2, 64, 2), {"int": [2, 64], "log": True, "step": 2}),
    (tune.qlograndint(2, 64, 1), {"int": [2, 63], "log": True}),
    (tune.choice(["a", None, 1, 1.5, True]), {"choice": ["a", None, 1, 1.5, True]}),
    (tune.grid_search([1, 2]), {"grid": [1, 2]}),
    (tune.grid_search(i for i in (1, 2)), {"grid": [1, 2]}),  # type: ignore[arg-type]
    (7, 7),
    ("text", "text"),
    ([1, {"a": 2}], {"value": [1, {"a": 2}]}),
    ({}, {"value": {}}),
    ({"a": 1}, {"value": {"a": 1}}),
    ({"a": tune.uniform(0, 1), "b": 2}, {"a": {"uniform": [0, 1]}, "b": 2}),
]


@pytest.mark.parametrize("given, form", FORMS)
def test_forms(given: Any, form: Any) -> None:
    assert space(p=given) == {"p": form}


WRONG: List[Callable[[], Any]] = [
    lambda: tune.uniform(1, 1),
    lambda: tune.loguniform(0, 1),
    lambda: tune.randint(3, 3),
    lambda: tune.quniform(0, 1, 0),
    lambda: tune.randint(0.5, 3),  # type: ignore[arg-type]
    lambda: tune.choice([]),
    lambda: tune.randn(0, 0),
    lambda: tune.uniform(0, float("inf")),
    lambda: tune.uniform(0, 10**400),
    lambda: tune.randn(10**400, 1),
    lambda: tune.lograndint(0, 5),
    lambda: tune.grid_search([]),
    lambda: tune.TuneConfig(mode="best"),
    lambda: tune.TuneConfig(seed=-1),
    lambda: tune.TuneConfig(seed="x"),  # type: ignore[arg-type]
    lambda: tune.FailureConfig(max_failures=2, fail_fast=True),
    lambda: tune.CheckpointConfig(num_to_keep=0),
    lambda: tune.PlacementGroupFactory([{"CPU": 1}], "NEAR"),
    lambda: tune.with_parameters(3, a=1),
]


@pytest.mark.parametrize("make", WRONG)
def test_mistakes(make: Callable[[], Any]) -> None:
    with pytest.raises(ValueError) as e:
        make()
    assert "\n" not in str(e.value)


def test_values_come_back_as_they_were() -> None:
    class Thing:
        pass

    thing = Thing()
    encoded = _encode.encode(
        {
            "c": tune.choice([(1, 2), thing, len]),
            "same": tune.choice([1, 1, 1.0]),
            "f": tune.uniform(0, 5),
            "t": (thing, 1),
            "l": [tune.randint(0, 5), thing],
            cast(str, 3): tune.uniform(0, 1),
            "a/b": tune.uniform(0, 1),
            "choice": tune.uniform(0, 1),
            "s": tune.sample_from(lambda c: c["t2"] + 1),
            "t2": tune.sample_from(lambda spec: spec.config.f * 2),
        }
    )
    labels = encoded.space["c"]["choice"]
    assert len(set(labels)) == 3 and all(isinstance(label, str) for label in labels)
    params = {
        "c": labels[1],
        "same": encoded.space["same"]["choice"][2],
        "f": 2,
        "l": {"0": 3},
        "3": 0.5,
        "a.b": 1,
        "choice_": 0,
    }
    config = _encode.decode(encoded.plan, params)
    assert config == {
        "c": thing,
        "same": 1.0,
        "f": 2.0,
        "t": (thing, 1),
        "l": [3, thing],
        3: 0.5,
        "a/b": 1.0,
        "choice": 0.0,
        "t2": 4.0,
        "s": 5.0,
    }
    assert type(config["f"]) is float and type(config["l"][0]) is int and type(config["same"]) is float


@pytest.mark.parametrize(
    "value, says",
    [
        ({"loguniform": [1e-4, 1.0]}, "tune.loguniform(0.0001, 1.0)"),
        ({"grid": [1, 2]}, "tune.grid_search([1, 2])"),
        ({"int": [1, 9]}, "tune.randint(low, high + 1)"),
        ({"uniform": 0}, ""),
        ({"a": {"choice": ["x"], "b": 1}, "c": [], "d": {}}, ""),
        ({"a": [{"int": [0, 1]}], "sample": "x"}, ""),
    ],
)
def test_constants_that_look_like_parameters_of_a_file_stay_constants(value: Any, says: str, capsys: Any) -> None:
    encoded = _encode.encode({"lr": value, "n": tune.randint(1, 9)})
    assert all(name not in _forms.FORMS for name in encoded.space["lr"])
    assert _encode.decode(encoded.plan, {"n": 3}) == {"lr": value, "n": 3}
    said = capsys.readouterr().err
    assert ("lr is a constant" in said and said.endswith(f"a parameter is {says}\n")) if says else not said


def test_groups_have_attributes_in_a_spec() -> None:
    encoded = _encode.encode(
        {
            "sub": {
                "a": tune.uniform(0, 5),
                "deep": {"b": tune.uniform(0, 1)},
                "twice": tune.sample_from(lambda spec: spec.config.sub.a * 2),
            },
            "s": tune.sample_from(lambda spec: spec.config.sub.deep.b + spec.config.sub["twice"]),
        }
    )
    config = _encode.decode(encoded.plan, {"sub": {"a": 2, "deep": {"b": 0.5}}})
    assert config == {"sub": {"a": 2.0, "deep": {"b": 0.5}, "twice": 4.0}, "s": 4.5}


def test_parameters_inside_of_a_choice() -> None:
    encoded = _encode.encode({"net": {"opt": tune.choice([{"name": "sgd", "lr": tune.uniform(0, 1)}, "adam"])}})
    net = encoded.space["net"]
    label = net["opt"]["choice"][0]
    assert net["opt_0"]["when"] == f"net.opt == {json.dumps(label)}" and net["opt_0"]["it"]["lr"] == {
        "uniform": [0, 1]
    }
    params = {"net": {"opt": label, "opt_0": {"it": {"lr": 0.5}}}}
    assert _encode.decode(encoded.plan, params) == {"net": {"opt": {"name": "sgd", "lr": 0.5}}}
    assert _encode.decode(encoded.plan, {"net": {"opt": "adam"}}) == {"net": {"opt": "adam"}}


def test_the_file() -> None:
    found = file(
        {"x": tune.uniform(0, 1)},
        metric="loss",
        mode="min",
        num_samples=5,
        max_concurrent_trials=2,
        time_budget_s=60,
        scheduler=tune.ASHAScheduler(max_t=9, reduction_factor=3),
        search_alg=_methods.HyperOptSearch(random_state_seed=3),
        run=tune.RunConfig(
            stop={"training_iteration": 9, "acc": 0.5, "loss": 7, "time_total_s": 60},
            checkpoint_config=tune.CheckpointConfig(num_to_keep=2, checkpoint_score_attribute="acc"),
        ),
    )
    assert found == {
        "version": 1,
        "objective": {"metric": "loss", "mode": "min"},
        "space": {"x": {"uniform": [0, 1]}},
        "searcher": {"plugin": "tpe", "startup": 20, "gamma": 0.25, "repeats": True},
        "scheduler": {"plugin": "asha", "max": 9, "grace": 1, "reduction_factor": 3, "brackets": 1},
        "trials": 5,
        "seed": 3,
        "stop": {"iteration": 9, "acc": 0.5, "when": "loss >= 7.0 || time >= 60.0"},
        "concurrency": 2,
        "budget": {"time": 60.0},
        "checkpoint": {"keep": 2, "score": "acc", "mode": "max"},
    }
    assert "seed" not in file() and file(seed=0)["seed"] == 0
    assert file(
        seed=7, metric="a", mode="min", search_alg=_methods.HyperOptSearch(random_state_seed=3)
    )["seed"] == 7
    assert file()["objective"] == {"metric": "training_iteration", "mode": "max"}
    assert len(file(metric=["a", "b"], mode="min")["objectives"]) == 2
    assert file(constraints=["x < 1"])["constraints"] == ["x < 1"]
    assert file({"x": tune.uniform(0, 1)}, constraints=["x < 1"], search_alg=_Own())["constraints"] == ["x < 1"]
    assert file(scheduler=tune.ASHAScheduler(metric="m", mode="max"))["objective"]["metric"] == "m"
    assert file(trainable=tune.with_resources(train, {"CPU": 2, "gpu": 0.5}))["resources"] == {"cpu": 2, "gpu": 0.5}


def test_populations_start_at_constants() -> None:
    pbt = tune.PopulationBasedTraining(
        time_attr="training_iteration",
        metric="loss",
        mode="min",
        hyperparam_mutations={"x": tune.uniform(0, 1), "k": [1, 2]},
    )
    found = file({"x": 0.5, "k": 2}, scheduler=pbt, num_samples=3)
    assert found["space"] == {"x": {"uniform": [0, 1]}, "k": {"ordinal": [1, 2]}}
    assert found["points"] == [{"x": 0.5, "k": 2}] * 3
    found = file({"x": tune.uniform(0, 9), "k": 2}, scheduler=pbt)  # starts there, and changes otherwise
    assert found["space"]["x"] == {"uniform": [0, 9], "open": True} and found["scheduler"] == {"plugin": "@tune/scheduler"}


class _Own(tune.search.Searcher):
    def suggest(self, trial_id: str) -> Any:
        return {}

    def on_trial_complete(self, *args: Any, **more: Any) -> None:
        pass


REFUSED: List[Callable[[], Any]] = [
    lambda: file({"x": tune.grid_search([0, 1])}, scheduler=tune.PopulationBasedTraining(
        metric="loss", mode="min", hyperparam_mutations={"x": tune.uniform(0, 1)})),
    lambda: _methods.AxSearch(outcome_constraints=["a"]),
    lambda: file(run=tune.RunConfig(storage_path="s3://b/p")),
    lambda: file(run=tune.RunConfig(storage_filesystem=object())),
    lambda: tune.Tuner.restore("a", storage_filesystem=object()),
    lambda: _methods.HEBOSearch(evaluated_rewards=[1]),
    lambda: _methods.AxSearch(verbose_logging=False),
    lambda: tune.register_env("a", None),
    lambda: cluster.init(address="auto"),
    lambda: cluster.init(runtime_env={}),
    lambda: file({"x": tune.choice([tune.grid_search([1])])}),
    lambda: _encode.decode(
        _encode.encode({"x": [tune.sample_from(lambda c: 1), tune.uniform(0, 1)]}).plan, {"x": {"1": 1}}
    ),
]


@pytest.mark.parametrize("make", REFUSED)
def test_what_is_not_supported_says_so(make: Callable[[], Any]) -> None:
    with pytest.raises(tune.Unsupported) as e:
        make()
    assert "\n" not in str(e.value) and (":" in str(e.value) or "here" in str(e.value))


def test_wrong_use() -> None:
    for make in (
        lambda: tune.Tuner(),
        lambda: tune.Tuner("unknown"),
        lambda: tune.Tuner(int),
        lambda: tune.Tuner(7),
        lambda: file(metric="loss"),
        lambda: file(mode="min"),
        lambda: file(scheduler=tune.ASHAScheduler()),
        lambda: file(metric="a", mode="min", scheduler=tune.ASHAScheduler(metric="b", mode="min")),
        lambda: file({"x": 1}, search_alg=search.BasicVariantGenerator(points_to_evaluate=[{"y": 1}])),
        lambda: file(run=tune.RunConfig(callbacks=[print])),
        lambda: file(run=tune.RunConfig(progress_reporter=object())),
        lambda: file(metric="m", mode="min", search_alg=search.Searcher()),
        lambda: file(metric="m", mode="min", scheduler=schedulers.TrialScheduler()),
        lambda: file(run=tune.RunConfig(stop=stopper.Stopper())),
    ):
        with pytest.raises(tune.TuneError):
            make()
    with pytest.raises(ValueError, match="for class trainables"):
        file(run=tune.RunConfig(checkpoint_config=tune.CheckpointConfig(checkpoint_frequency=2)))
    assert file(trainable=Steps, run=tune.RunConfig(checkpoint_config=tune.CheckpointConfig(checkpoint_frequency=2)))[
        "checkpoint"
    ] == {"every": 2}
    here = os.path.abspath("mine.py")
    assert file(metric="loss", mode="min", scheduler="./mine.py")["scheduler"] == {"plugin": here}
    assert tune.create_searcher("sobol").entry() == {"plugin": "sobol"}


def test_arrays_are_mapped(tmp_path: Path) -> None:
    value = {"b": bytearray(b"x" * 1000), "view": pickle.PickleBuffer(b"y" * 5000), "n": [1, "a"]}
    (tmp_path / "o.bin").write_bytes(_payload.packed(value))
    found = _payload.unpacked(tmp_path / "o.bin")
    assert found["b"] == b"x" * 1000 and bytes(found["view"]) == b"y" * 5000 and found["n"] == [1, "a"]


def test_report_outside_of_a_trial_prints(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    tune.report({"loss": 0.5, "val": {"acc": 1}})
    assert json.loads(capsys.readouterr().out) == {"loss": 0.5, "val/acc": 1}
    assert tune.get_checkpoint() is None
    with pytest.raises(tune.TuneError, match="there is no trial here"):
        tune.get_context().get_trial_id()
    with pytest.raises(TypeError, match="expected a dict"):
        tune.report(3)  # type: ignore[arg-type]


def test_a_class_trains_saves_and_restores_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Counts(tune.Trainable):
        def setup(self, config: Dict[str, Any]) -> None:
            self.n = 0

        def step(self) -> Dict[str, Any]:
            self.n += self.config["by"]
            return {"n": self.n}

        def save_checkpoint(self, checkpoint_dir: str) -> Dict[str, Any]:
            return {"n": self.n}

        def load_checkpoint(self, checkpoint: Any) -> None:
            self.n = checkpoint["n"]

    monkeypatch.chdir(tmp_path)
    first, second = Counts({"by": 2}), Counts({"by": 2})
    assert [first.train()["n"] for _ in range(3)] == [2, 4, 6]
    second.restore(first.save())
    assert second.train()["n"] == 8 and second.training_iteration == 4


def test_checkpoints_that_are_being_written_are_no_checkpoints(tmp_path: Path) -> None:
    from tunehost.tune._callbacks import _files

    for name in ("000001", "000002", "000003.new"):
        (tmp_path / "checkpoints" / name).mkdir(parents=True)
    (tmp_path / "checkpoints/000001/MANIFEST.json").write_text('{"iteration": 4}')
    (tmp_path / "checkpoints/000002/MANIFEST.json").symlink_to("gone")
    (tmp_path / "checkpoints/000003.new/MANIFEST.json").write_text('{"iteration": 5}')
    assert _files(str(tmp_path), 4) == str(tmp_path / "checkpoints/000001/files")
    assert _files(str(tmp_path), 5) is None and _files(str(tmp_path), 9) is None


def test_importing_is_light() -> None:
    code = (
        "import sys, tunehost.tune; print([m for m in ('grpc', 'numpy', 'pandas', 'cloudpickle', 'google') if m in"
        " sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_another_projects_command_is_not_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "tunehost"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("TUNEHOST_BINARY", raising=False)
    monkeypatch.setattr(_binary, "_installed", lambda: iter(()))
    with pytest.raises(_binary.NotFound, match="is not installed: run  pip install tunehost-hpo"):
        _binary.find()
    monkeypatch.setenv("TUNEHOST_BINARY", str(other))
    with pytest.raises(_binary.NotFound, match="which is no program"):
        _binary.find()
    monkeypatch.setenv("TUNEHOST_BINARY", os.path.realpath("/bin/sh"))
    assert _binary.find() == os.path.realpath("/bin/sh")


def test_an_experiment_takes_what_run_takes() -> None:
    taken = set(inspect.signature(tune.run).parameters) - set(inspect.signature(experiment.Experiment).parameters)
    assert experiment.MORE == taken - {"run_or_experiment"}
    with pytest.raises(TypeError, match="no argument colour"):
        experiment.Experiment("e", train, colour="red")
    assert experiment.Experiment("e", train, metric="loss").arguments["metric"] == "loss"


class Slow:
    """Says that it is being loaded, and waits for the word to go on."""

    begun, go_on = threading.Event(), threading.Event()

    def __setstate__(self, state: Any) -> None:
        self.begun.set()
        self.go_on.wait(60)


class Fits:
    def __setstate__(self, state: Any) -> None:
        _payload.refuse_while_loading("fit")


def stateful(kind: Any) -> bytes:
    made = kind()
    made.x = 1
    return pickle.dumps(made)


def test_what_another_thread_loads_refuses_no_fit() -> None:
    other = threading.Thread(target=_payload.loads, args=(stateful(Slow),))
    other.start()
    try:
        assert Slow.begun.wait(60)
        _payload.refuse_while_loading("fit")
    finally:
        Slow.go_on.set()
        other.join()
    with pytest.raises(tune.TuneError, match="calls fit while it is imported"):
        _payload.loads(stateful(Fits))
