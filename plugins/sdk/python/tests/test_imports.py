"""What an import loads: each module costs every script time."""

import subprocess
import sys
from pathlib import Path
from typing import Set

import pytest

SDK = Path(__file__).resolve().parent.parent
NEVER = {"asyncio", "cloudpickle", "ctypes", "google.protobuf", "grpc", "numpy", "pandas", "tunehost.plugin"}


def loaded(code: str) -> Set[str]:
    script = f"import sys; before = set(sys.modules); {code}; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-S", "-c", script], stdout=subprocess.PIPE, text=True, check=True,
                          env={"PYTHONPATH": str(SDK)})
    return set(done.stdout.split())


def test_tunehost_is_small() -> None:
    found = loaded("import tunehost")
    assert {m for m in found if m.startswith("tunehost")} == {
        "tunehost", "tunehost._other", "tunehost._stop", "tunehost.errors"}
    assert not found & {*NEVER, "dataclasses", "inspect", "json", "pathlib", "shutil", "socket", "subprocess"}


def test_tune_loads_nothing_that_only_trials_and_plugins_need() -> None:
    found = loaded("from tunehost import tune")
    assert not found & {*NEVER, "concurrent.futures", "secrets", "tunehost.run", "tunehost.events", "tunehost.space",
                        "tunehost._asktell"}


@pytest.mark.parametrize("name", ["AskTell", "Searcher", "space", "integrations", "report"])
def test_names_are_loaded_when_they_are_used(name: str) -> None:
    module = {"AskTell": "tunehost._asktell", "Searcher": "tunehost.plugin", "report": "tunehost._script"}
    assert module.get(name, f"tunehost.{name}") in loaded(f"import tunehost; tunehost.{name}")
