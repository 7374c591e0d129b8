"""Ray's own examples: files of ray/tune/examples of the ray that is installed, which is not imported. Only lines that
import are changed. `make ray-examples` runs them; raytable.EXAMPLES says which run, and why the others do not."""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import raytable

HELPERS = {
    "mock_trainable": "ray/tune/utils/mock_trainable.py",
    "pbt_function": "ray/tune/examples/pbt_function.py",
}


def ours(source):
    """The source with other lines that import."""
    source = re.sub(r"^import ray$", "from tunehost.tune import cluster as ray", source, flags=re.M)
    source = re.sub(r"^from ray\.tune\.(?:utils|examples)\.(\w+) import", r"from \1 import", source, flags=re.M)
    source = re.sub(r"^from ray\.air\.integrations\b", "from tunehost.tune.integration", source, flags=re.M)
    return re.sub(r"^(\s*)from ray(\.tune\S*)? import", r"\1from tunehost\2 import", source, flags=re.M)


def read(path):
    return Path(importlib.metadata.distribution("ray").locate_file(path)).read_text(encoding="utf-8")


def extracted(dir, name):
    for helper, path in HELPERS.items():
        Path(dir, f"{helper}.py").write_text(ours(read(path)))
    text = read(f"ray/tune/examples/{name}.py")
    changed = ours(text)
    pairs = list(zip(text.splitlines(), changed.splitlines()))
    assert all(a == b or "import" in a for a, b in pairs) and any(a != b for a, b in pairs)
    Path(dir, f"{name}.py").write_text(changed)


@pytest.mark.parametrize("name", [name for name, why in raytable.EXAMPLES.items() if not why])
def test_it_runs_to_its_end(name, tmp_path, monkeypatch):
    extracted(tmp_path, name)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    done = subprocess.run(
        [sys.executable, f"{name}.py", "--smoke-test"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    CHECKS.get(name, says_what_is_best)(done.stdout)


def says_what_is_best(stdout):
    assert re.search(r"Best (hyperparameters|model parameters)[^\n]*:\s+\{'", stdout), stdout[-2000:]


def is_in_mlflow(stdout):
    """Of both experiments MLflow has five runs that have ended well, each with the loss of five steps."""
    import mlflow

    client = mlflow.MlflowClient(str(Path(tempfile.gettempdir(), "mlruns")))
    for experiment in ("example", "mixin_example"):
        runs = client.search_runs([client.get_experiment_by_name(experiment).experiment_id])
        assert [run.info.status for run in runs] == ["FINISHED"] * 5
        for run in runs:
            found = client.get_metric_history(run.info.run_id, "mean_loss")
            assert len(found) == 5 and {"width", "height", "steps"} <= set(run.data.params)


CHECKS = {"mlflow_example": is_in_mlflow}


WHOLE = """
import numpy as np
from {of} import tune
from {of}.tune.search import BasicVariantGenerator

def objective(config):
    height, width = config["height"], config["net"]["width"]
    for step in range(config["steps"]):
        tune.report({{"iterations": step, "mean_loss": (0.1 + width * step / 100) ** (-1) + height * 0.1}})

space = {{
    "steps": 10,
    "net": {{"width": tune.uniform(0, 20), "k": tune.randint(1, 99)}},
    "height": tune.uniform(-100, 100),
    "activation": tune.grid_search(["relu", "tanh"]),
}}
results = tune.Tuner(
    objective,
    param_space=space,
    tune_config=tune.TuneConfig(
        metric="mean_loss", mode="min", num_samples=6, search_alg=BasicVariantGenerator(random_state=7)
    ),
    run_config=tune.RunConfig(storage_path={dir!r}, verbose=0),
).fit()
best = results.get_best_result()
print("found", sorted((repr(r.config), r.metrics["mean_loss"], len(r.metrics_dataframe)) for r in results))
print("best", best.config, best.metrics["mean_loss"], best.metrics["training_iteration"])
"""


def found_by(of, dir, tmp_path):
    (tmp_path / f"with_{of}.py").write_text(WHOLE.format(of=of, dir=str(dir)))
    return lines(("found ", "best "), tmp_path, f"with_{of}.py")


def lines(begin, dir, *command):
    """The lines of a program that begin so. Ray's processes may take long to start on a busy machine."""
    environment = {**os.environ, "RAY_raylet_start_wait_time_s": "300"}
    done = subprocess.run([sys.executable, *command], cwd=dir, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return [line for line in done.stdout.splitlines() if line.startswith(begin)]


@pytest.mark.parametrize("name", raytable.COMPARED)
def test_it_finds_what_it_finds_over_ray(name, tmp_path):
    """The same example, with the same seeds: all trials have the same parameters, results and ends."""
    for of in ("tunehost", "ray"):
        (tmp_path / of).mkdir()
    extracted(tmp_path / "tunehost", name)
    (tmp_path / "ray" / f"{name}.py").write_text(read(f"ray/tune/examples/{name}.py"))
    compared = str(Path(__file__).with_name("compared.py"))
    found = {
        of: lines("found ", tmp_path / of, compared, of, f"{name}.py", "--smoke-test") for of in ("tunehost", "ray")
    }
    assert len(found["ray"]) == 1 and json.loads(found["ray"][0].partition(" ")[2])[1]
    assert found["tunehost"] == found["ray"]


def test_a_whole_run_finds_what_ray_finds(tmp_path):
    """Ray itself runs the same script, with a cluster of its own on this machine."""
    found = found_by("tunehost", tmp_path, tmp_path)
    assert len(found) == 2 and found == found_by("ray", tmp_path, tmp_path)


def test_every_example_of_ray_is_known():
    dir = Path(importlib.metadata.distribution("ray").locate_file("ray/tune/examples"))
    names = {file.stem for file in dir.glob("*.py")} - {"__init__", "utils"}
    assert names == set(raytable.EXAMPLES)
