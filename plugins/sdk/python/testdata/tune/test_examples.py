"""Ray's own examples: files of ray/tune/examples of the ray that is installed, which is not imported. Only lines that
import are changed. `make ray-examples` runs them; raytable.EXAMPLES says which run, and why the others do not."""

import importlib.metadata
import re
import subprocess
import sys
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
def test_it_runs_to_its_end(name, tmp_path):
    extracted(tmp_path, name)
    done = subprocess.run(
        [sys.executable, f"{name}.py", "--smoke-test"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert re.search(r"Best (hyperparameters|model parameters)[^\n]*:\s+\{'", done.stdout), done.stdout[-2000:]


def test_every_example_of_ray_is_known():
    dir = Path(importlib.metadata.distribution("ray").locate_file("ray/tune/examples"))
    names = {file.stem for file in dir.glob("*.py")} - {"__init__", "utils"}
    assert names == set(raytable.EXAMPLES)
