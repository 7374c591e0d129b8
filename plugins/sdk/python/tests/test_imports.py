"""What an import loads: each module costs every script time."""

import ast
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


def test_tune_loads_modules_when_their_names_are_used() -> None:
    names = [m for m in loaded("from tunehost import tune") if m.startswith("tunehost.tune")]
    assert names == ["tunehost.tune"]
    assert "tunehost.tune.schedulers" in loaded("from tunehost import tune; tune.schedulers.ASHAScheduler")
    assert not loaded("import tunehost.tune._worker") & {
        "tunehost.tune.tuner", "tunehost.tune.schedulers", "tunehost.tune.search", "tunehost.tune.result", "subprocess"}


def test_the_process_of_trials_looks_names_up_before_it_forks() -> None:
    loaded("from tunehost.tune import _worker; from tunehost import tune; tune.look_up(); "
           "assert {'report', 'get_checkpoint', 'Checkpoint', 'Stopped'} <= set(vars(tune)), vars(tune)")


def test_tune_has_its_names_and_modules() -> None:
    from tunehost import tune

    assert set(tune._HOMES) == set(tune.__all__) <= set(dir(tune))
    assert [name for name in [*tune.__all__, *tune._SUBMODULES] if not hasattr(tune, name)] == []
    assert callable(tune.run)
    public = {p.stem for p in (SDK / "tunehost" / "tune").iterdir() if p.suffix in (".py", "")}
    assert {name for name in public if not name.startswith("_")} == tune._SUBMODULES
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        tune.nothing


@pytest.mark.parametrize("name", ["AskTell", "Searcher", "space", "integrations", "report"])
def test_names_are_loaded_when_they_are_used(name: str) -> None:
    module = {"AskTell": "tunehost._asktell", "Searcher": "tunehost.plugin", "report": "tunehost._script"}
    assert module.get(name, f"tunehost.{name}") in loaded(f"import tunehost; tunehost.{name}")


def test_no_module_uses_private_names_of_another() -> None:
    """A module with _ in its name is private to the package; a name with _ in it is private to the module."""
    root = SDK / "tunehost"
    found = []
    for file in sorted(root.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        imports = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.level]
        modules = {a.asname or a.name for n in imports for a in n.names if is_module(file, n, a.name)}
        used = [(a.name, n.lineno) for n in imports for a in n.names if private(a.name) and not is_module(file, n, a.name)]
        used += [(n.attr, n.lineno) for n in ast.walk(tree) if isinstance(n, ast.Attribute) and private(n.attr)
                 and isinstance(n.value, ast.Name) and n.value.id in modules]
        found += [f"{file.relative_to(root)}:{line}: {name}" for name, line in used]
    assert found == []


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def is_module(file: Path, node: ast.ImportFrom, name: str) -> bool:
    """Whether what a file imports relatively is a module."""
    place = file.parents[node.level - 1].joinpath(*(node.module or "").split("."), name)
    return place.with_suffix(".py").exists() or (place / "__init__.py").exists()
