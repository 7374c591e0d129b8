"""Ray's own examples: files of ray/tune/examples of the ray that is installed, which is not imported. Only lines that
import are changed. `make ray-examples` runs them; raytable.EXAMPLES says which run, and why the others do not."""

import importlib.metadata
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


def test_every_example_of_ray_is_known():
    dir = Path(importlib.metadata.distribution("ray").locate_file("ray/tune/examples"))
    names = {file.stem for file in dir.glob("*.py")} - {"__init__", "utils"}
    assert names == set(raytable.EXAMPLES)
