"""Says what the author's code has answered wrongly, with its method and its place. It needs no messages of the protocol."""

from __future__ import annotations

import collections.abc
import inspect
import json
import operator
import reprlib
from typing import Any, Dict

from . import _traces

_MAX_INT64 = 2**63 - 1
_RESOURCES = 'expected a dict of resources, such as {"cpu": 2, "gpu": "0.5"}'


class WrongAnswer(ValueError):
    """An answer of the author's code that is refused: the text says all, and no line of the author's has failed."""


def called(method: Any) -> str:
    """The name of the author's function and its place."""
    code = getattr(inspect.unwrap(method), "__code__", None) if method is not None else None
    return f"{code.co_name} ({_traces.short(code.co_filename)}:{code.co_firstlineno})" if code else "it"


def shown(value: Any) -> str:
    """A value in a short form."""
    return reprlib.repr(value)


def counts(value: Any) -> bool:
    """Whether a value is a whole number from 0 on that a message can carry: an int, or one of numpy."""
    return hasattr(value, "__index__") and 0 <= operator.index(value) <= _MAX_INT64


def last(number: Any, by: Any) -> int:
    """Checks the number of an event that the method by returned."""
    if not counts(number):
        raise WrongAnswer(f"{called(by)} returned {shown(number)}; expected the number of the last event that it has, "
                          "a whole number from 0 on")
    return operator.index(number)


def resources(wanted: Any, by: Any) -> Dict[str, Any]:
    """Checks the resources that the method by returned."""
    if not isinstance(wanted, collections.abc.Mapping):
        raise WrongAnswer(f"{called(by)} returned {shown(wanted)}; {_RESOURCES}")
    try:
        asked: Dict[str, Any] = json.loads(json.dumps(dict(wanted), allow_nan=False))
    except (TypeError, ValueError):  # it is no JSON
        raise WrongAnswer(f"{called(by)} returned {shown(wanted)}, with something that is neither a number nor a text; "
                          f"{_RESOURCES}") from None
    return asked
