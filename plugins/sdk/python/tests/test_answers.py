"""What a searcher answers wrongly is said in one line, without a traceback."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from tunehost import _server, _wire
from tunehost.events import Request
from tunehost.space import Kind, Param, Space

_SPACE = Space([Param("x", Kind.REAL, 0.0, 1.0), Param("c", Kind.CHOICE, choices=("a", "b"))])


@pytest.mark.parametrize("answer, says", [
    (["a", 0.0], "its point for trial 2: parameter 'x' is 'a'; expected a number"),
    ([0.5, None], "its point for trial 2: parameter 'c' is None; expected a number"),
    ([0.5, 1.0, "z"], "its point for trial 2: value 3 is 'z'; expected a number"),
    ({"x": 0.5, "c": 1.0}, """parameter 'c' is 1.0; allowed: "a", "b"; a dict has values, a list has the numbers of a point"""),
    ({"x": 7.0}, "its params for trial 2: parameter 'x' is 7.0; allowed: numbers from 0 to 1"),
    ([0.5], "its point for trial 2 has 1 values; the space has 2 parameters"),
])
def test_wrong_answers(answer: Any, says: str, caplog: pytest.LogCaptureFixture) -> None:
    asked = [Request(2, 0)]
    with pytest.raises(_server.Failure) as failed:
        _server.guarded("suggest", lambda: _wire.suggestions(_SPACE, asked, [answer]))
    assert says in str(failed.value) and "ValueError" not in str(failed.value)
    assert [r.exc_info for r in caplog.records if r.levelno == logging.ERROR] == [None]
