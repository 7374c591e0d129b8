"""docs/RAY.md is what raytable.py prints."""

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
