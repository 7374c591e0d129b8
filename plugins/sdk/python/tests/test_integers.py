"""Which metrics are integers, as the file of a trial has it."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tunehost._dataframes import frame
from tunehost._reading import _OWN, _row
from tunehost._integers import Integers, loads, of, typed


def test_a_metric_that_was_a_float_once_is_none(tmp_path: Path) -> None:
    first = Integers(tmp_path)
    first.note(["loss", "n", "mixed"], ["n", "mixed"])
    assert of(tmp_path) == {"n", "mixed"}
    first.note(["mixed"], [])
    first.note(["mixed", "loss"], ["mixed", "loss"])
    assert of(tmp_path) == {"n"} == first.names()
    Integers(tmp_path).note(["size"], ["size"])  # of a further attempt
    assert of(tmp_path, tmp_path / "nowhere") == {"n", "size"}


def test_only_what_changes_is_written(tmp_path: Path) -> None:
    noted = Integers(tmp_path)
    noted.note(["loss"], [])
    assert list(tmp_path.iterdir()) == []
    noted.note(["n"], ["n"])
    (tmp_path / ".integers.json").unlink()
    noted.note(["n", "loss"], ["n"])
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_nothing_and_the_next_call_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    noted = Integers(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(OSError):
            noted.note(["n"], ["n"])
    assert list(tmp_path.iterdir()) == []
    noted.note(["n"], ["n"])
    assert of(tmp_path) == {"n"}


def test_names_of_the_host() -> None:
    found = typed({"training_iteration": 3, "steps_total": 4, "metric/pid": 5, "time_total_s": 0}, {"steps_this_iter", "pid"})
    assert repr(found) == "{'training_iteration': 3, 'steps_total': 4, 'metric/pid': 5, 'time_total_s': 0.0}"


def test_what_a_killed_process_has_half_written_is_removed(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for name in (f".integers.json.{dead.pid}.new", f".integers.json.{os.getppid()}.new", ".integers.json.mine.new"):
        (tmp_path / name).touch()
    Integers(tmp_path).note(["n"], ["n"])
    left = {".integers.json", f".integers.json.{os.getppid()}.new", ".integers.json.mine.new"}
    assert {file.name for file in tmp_path.iterdir()} == left


def test_negative_zero_and_large_integers() -> None:
    found = typed(loads('{"zero": -0, "in": [-0, 0], "m": 9223372036854776000, "huge": 1' + "0" * 400 + "}"), {"m", "huge"})
    assert repr(found["zero"]) == "-0.0" and repr(found["in"]) == "[-0.0, 0]"
    assert (found["m"], found["huge"]) == (2**63, 10**400)


def test_integers_stay_integers_in_dataframes_where_some_rows_have_none() -> None:
    made = frame([{"n": 1, "x": 1, "b": True, "t": "a", "i": 3}, {"n": 2**62, "x": 0.5, "i": 4}, {"i": 2**70}])
    assert [str(made[name].dtype) for name in ("n", "x", "b", "i")] == ["Int64", "float64", "object", "object"]
    assert made["n"].tolist()[:2] == [1, 2**62] and made["n"].isna().tolist() == [False, False, True]
    assert str(frame([{"n": 1}, {"n": 2}])["n"].dtype) == "int64"


def test_columns_of_an_experiment() -> None:
    def trial(metrics: Any) -> Any:
        return {"trial": "a1", "number": 3, "state": "RUNNING", "iteration": 2, "params": {"m": {"n": 1}}, "metrics": metrics}

    row = _row(trial({"loss": 0.5, "state": 7, "params/m/n": 8}))
    assert row == {"trial": "a1", "number": 3, "state": "RUNNING", "iteration": 2, "params/m/n": 1, "loss": 0.5,
                   "metric/state": 7, "metric/params/m/n": 8}
    assert list(frame([], _OWN).columns) == ["trial", "number", "state", "iteration"]
