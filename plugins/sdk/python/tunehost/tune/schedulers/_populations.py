"""The space of a population that follows Ray's rules. Its trials start at values of param_space; later values are those of the
mutations, and numbers that are multiplied leave all bounds. The space has room for both, so that the record has what was
trained."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Union

from .._encode import is_grid, same
from ..error import Unsupported
from ..sample import Categorical, Domain, Float, Function, Integer

_DRAWS = 64  #: values that are drawn of a function

Starts = Union[None, List[Any], Dict[str, Any]]
"""Values to start at: of a parameter, or of a dict of parameters. None: what the space has."""


class Ordinal(Categorical):
    """A list of mutations: its values are ordered."""

    kind = "ordinal"


def space(param_space: Mapping[str, Any], mutations: Mapping[str, Any]) -> Dict[str, Any]:
    """The param_space with parameters that can have what the mutations make of them."""
    own = dict(param_space)
    return {**own, **{name: _room(given, own.get(name)) for name, given in mutations.items()}}


def starts(param_space: Mapping[str, Any], mutations: Mapping[str, Any]) -> Dict[str, Any]:
    """The values at which trials start, where the space has more than these."""
    found = {name: _starts(given, param_space.get(name)) for name, given in mutations.items()}
    return {name: values for name, values in found.items() if values}


def _room(given: Any, own: Any) -> Any:
    if isinstance(given, Mapping):
        return space(own if isinstance(own, Mapping) else {}, given)
    if is_grid(own):
        raise Unsupported("a grid_search of a parameter that mutates is not supported: write tune.choice")
    if isinstance(own, Function):
        return own  # the record does not have it
    if _numbers(own):
        return opened(own)
    values, first = _values(given), _own(own)
    if values is not None and (_listed(given) or not all(map(_number, [*first, *values]))):
        return Ordinal(_distinct([*values, *first]))
    if _numbers(given):
        return opened(given)
    return _around([*(values or ()), *first])


def _starts(given: Any, own: Any) -> Starts:
    if isinstance(given, Mapping):
        return starts(own if isinstance(own, Mapping) else {}, given)
    if _numbers(own) or isinstance(own, Function):
        return None
    first = _own(own)
    if first:
        return first
    return None if isinstance(given, Domain) or _listed(given) else _values(given)


def opened(domain: Domain) -> Domain:
    """A domain of numbers that may have others, too."""
    form = domain.form()
    return domain if "normal" in form else type(domain)({**form, "open": True})  # type: ignore[call-arg]


def _around(values: List[Any]) -> Domain:
    """A domain of numbers that contains some, and may have others."""
    low, high = min(values), max(values)
    if all(type(v) is int for v in values):
        return opened(Integer({"int": [low, high]}))
    return opened(Float({"uniform": [float(low), float(high)]}))


def _own(own: Any) -> List[Any]:
    """The values of a parameter in param_space: of a choice, or its constant."""
    if isinstance(own, Categorical):
        return list(own.categories)
    return [] if own is None else [own]


def _values(given: Any) -> Optional[List[Any]]:
    """The values of a mutation; None if it is a domain of numbers."""
    if isinstance(given, Categorical):
        return list(given.categories)
    if isinstance(given, Domain):
        return None
    make: Callable[[], Any] = given
    return list(given) if _listed(given) else [make() for _ in range(_DRAWS)]


def _listed(given: Any) -> bool:
    return isinstance(given, (list, tuple, Categorical))


def _numbers(domain: Any) -> bool:
    return isinstance(domain, (Float, Integer))


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _distinct(values: List[Any]) -> List[Any]:
    """The values without those that are there before."""
    found: List[Any] = []
    for value in values:
        if not any(same(value, one) for one in found):
            found.append(value)
    return found
