"""Says what the author's code has answered wrongly, with its method and its place. It needs no messages of the protocol."""

from __future__ import annotations

import collections.abc
import inspect
import json
import math
import operator
import reprlib
from typing import TYPE_CHECKING, Any, Dict, List

from . import _traces

if TYPE_CHECKING:
    from .executor import ClusterNode, LeaseEvent

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


def nodes(answer: Any, by: Any) -> List[ClusterNode]:
    """Checks the nodes that the method by returned."""
    from .executor import ClusterNode

    several = not isinstance(answer, str) and isinstance(answer, collections.abc.Iterable)
    listed: List[Any] = list(answer) if several else []
    if not several or not all(isinstance(n, ClusterNode) for n in listed):
        raise WrongAnswer(f"{called(by)} returned {shown(answer)}; expected a list of tunehost.ClusterNode")
    return listed


def lease_event(e: LeaseEvent) -> None:
    """TypeError if the host could not read what an executor tells."""
    _expect(e, "the lease", e.lease, isinstance(e.lease, str), "its name, a text")
    _expect(e, "the reason", e.why, isinstance(e.why, str), "a text")
    _expect(e, "until", e.until, _is_time(e.until), "seconds since 1970, or 0 if the time is not known")
    listed = isinstance(e.bundles, collections.abc.Sequence) and not isinstance(e.bundles, str)
    _expect(e, "bundles", e.bundles, listed, "a list of tunehost.GrantedBundle")
    for b in e.bundles:
        _expect(e, "a bundle", b, _is_bundle(b), "tunehost.GrantedBundle(node, devices, address), whose node is a text")


def _expect(e: LeaseEvent, what: str, value: Any, holds: bool, expected: str) -> None:
    if not holds:
        raise TypeError(f"{e.kind}: {what} is {value!r:.100}; expected {expected}")


def _is_time(value: Any) -> bool:
    try:
        return math.isfinite(value) and 0 <= value * 1e9 <= _MAX_INT64
    except (TypeError, OverflowError):
        return False


def _is_bundle(b: Any) -> bool:
    from .executor import GrantedBundle

    texts = isinstance(b, GrantedBundle) and isinstance(b.node, str) and isinstance(b.address, str)
    return texts and isinstance(b.devices, collections.abc.Iterable)
