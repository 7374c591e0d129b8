"""docs/RAY.md is what raytable.py prints."""

import ast
import importlib.metadata
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE))

import raytable


def test_the_table_is_that_of_ray() -> None:
    committed = HERE.parents[2].joinpath("docs", "RAY.md").read_text(encoding="utf-8")
    assert committed == raytable.page(), "run python raytable.py > ../../../docs/RAY.md in plugins/sdk/python"


def test_every_name_says_what_to_do() -> None:
    names = raytable.table()
    assert len(names) > 80 and all(n.remark for n in names if n.state != "same")
    assert not any(n.state == "no" and "not done yet" in n.remark for n in names)


def test_most_names_are_the_same() -> None:
    names = raytable.table()
    assert sum(n.state == "same" for n in names) >= 0.85 * len(names)


def test_every_name_that_ray_marks_as_public_is_in_the_table() -> None:
    """Also those of modules that the list of modules does not have yet."""
    root = Path(str(importlib.metadata.distribution("ray").locate_file("ray/tune")))
    known = {n.name for n in raytable.table()}
    found = set()
    for file in root.rglob("*.py"):
        if not {"tests", "examples"} & set(file.parts):
            found |= {n.name for n in ast.parse(file.read_text("utf-8")).body if raytable._is_marked(n)}  # type: ignore[attr-defined]
    assert len(found) > 50 and {name for name in found if not name.startswith("_")} - known == set()
