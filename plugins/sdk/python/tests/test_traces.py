"""Tracebacks show the author's frames, and none of ours."""

from __future__ import annotations

import json
import linecache
import logging
import pickle
from typing import Any, Dict

import pytest

from tunehost import _log, _traces
from tunehost._server import Failure, guarded
from tunehost.run import describe
from tunehost.tune import _code


def _deep() -> None:
    raise ZeroDivisionError("division\nby zero")


def _failure(f: object) -> BaseException:
    try:
        guarded("suggest", f)  # type: ignore[arg-type]
    except Failure as e:
        assert e.__cause__ is not None
        return e.__cause__
    raise AssertionError("it went well")


def test_author_frames_alone() -> None:
    error = _failure(_deep)
    text = _traces.formatted(error)
    assert "in _deep" in text and "_server.py" not in text
    assert "_server.py" in _traces.full(error)


def test_a_long_text_hides_no_place() -> None:
    def long() -> None:
        raise ValueError("begins" + "A" * 100_000 + "ends")

    error = _failure(long)
    text = describe(error)
    assert len(text) < 3_000 and text.startswith("ValueError: begins") and "[cut]" in text
    assert "ends (" in text and "test_traces.py:" in text.rpartition("ends (")[2]
    for traced in (_traces.formatted(error), _traces.full(error)):
        assert len(traced) < 6_000 and "in long" in traced and traced.endswith("ends\n")


def test_one_line_with_the_place() -> None:
    text = describe(_failure(_deep))
    assert "\n" not in text
    assert text.startswith("ZeroDivisionError: division by zero (") and "test_traces.py:20)" in text


def test_causes_are_stripped_too() -> None:
    def chained() -> None:
        try:
            _deep()
        except ZeroDivisionError as e:
            raise RuntimeError("no luck") from e

    text = _traces.formatted(_failure(chained))
    assert "ZeroDivisionError" in text and "direct cause" in text and "_server.py" not in text


def test_what_has_no_author_is_whole() -> None:
    error = _failure(lambda: json.loads("{"))
    assert "JSONDecodeError" in _traces.formatted(error)
    assert _traces.where(RuntimeError("never raised")) == ""


def test_long_ones_keep_their_end() -> None:
    def forever(n: int) -> None:
        try:
            raise ValueError(n * "x")
        except ValueError as e:
            raise ValueError(n * "y") from e

    text = _traces.formatted(_failure(lambda: forever(20_000)))
    assert len(text) < 13_000 and text.endswith("y\n") and "[cut]" in text


def test_log_record() -> None:
    error = _failure(_deep)
    record = logging.LogRecord("tunehost", logging.ERROR, "", 0, "suggest failed", None, (type(error), error, error.__traceback__))
    line = json.loads(_log.Hclog().format(record))
    assert "_server.py" not in line["traceback"] and "_server.py" in line["whole_traceback"]


def test_pickled_functions_keep_their_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tracebacks of a trial show the lines of a script, and of a notebook's cell, which only its kernel has."""
    cell = "/nowhere/cell.py"
    lines = ["def fails():\n", "    raise ValueError('of a cell')\n"]
    monkeypatch.setitem(linecache.cache, cell, (1, None, lines, cell))
    made: Dict[str, Any] = {"__name__": "__main__"}
    exec(compile("".join(lines), cell, "exec"), made)
    pickler = _code.Pickler()
    pickler.dump(made["fails"])
    assert pickler.sources == {cell: lines}
    monkeypatch.delitem(linecache.cache, cell)
    _code.know(json.loads(json.dumps(pickler.sources)))
    with pytest.raises(ValueError) as raised:
        pickle.loads(pickler.text())()
    text = _traces.formatted(raised.value)
    assert f'File "{cell}", line 2, in fails' in text and "raise ValueError('of a cell')" in text
