"""Which metrics are integers, as the file of a trial has it."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from tunehost._integers import Integers, of, typed


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
