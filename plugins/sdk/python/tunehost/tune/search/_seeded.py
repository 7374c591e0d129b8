"""The configs that Ray's BasicVariantGenerator draws with the same random_state: it draws them of a generator of numpy, in
the order of the space."""

from __future__ import annotations

import copy
import math
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from .._encode import is_grid
from ..sample import Categorical, Domain, Function

Path = Tuple[Any, ...]
MOST = 10_000  #: so many configs are drawn at most: they are written into the experiment file


class _Drawn(Exception):
    """The space cannot be drawn here."""


def configs(
    space: Mapping[Any, Any], samples: int, given: Sequence[Mapping[Any, Any]], constant: bool, state: Any
) -> Optional[List[Dict[Any, Any]]]:
    """The parts of the configs that vary. given are the points that come first. None: numpy is missing, there are too many
    of them, or a list or a value of a choice contains parameters."""
    try:
        draws = _Draws(state)
        found: List[Dict[Any, Any]] = []
        for i in range(samples):
            preset = dict(given[i]) if i < len(given) else {}
            for one in _variants(space, preset, constant, draws):
                found.append(one)
                if len(found) > MOST:
                    return None
    except (_Drawn, ImportError):
        return None
    return found


def choices(space: Mapping[Any, Any]) -> Dict[Any, Any]:
    """The space with a choice for each grid, as every config has a value of it."""
    found: Dict[Any, Any] = {}
    for name, value in space.items():
        if is_grid(value):
            found[name] = Categorical(value["grid_search"])
        else:
            found[name] = choices(value) if isinstance(value, dict) else value
    return found


def _variants(space: Mapping[Any, Any], preset: Dict[Any, Any], constant: bool, draws: _Draws) -> Iterator[Dict[Any, Any]]:
    """The configs of one sample: one for each point of the grids, the first of which changes fastest."""
    fixed = dict(_paths(preset))
    unresolved = [(path, value) for path, value in _unresolved(space) if path not in fixed]
    grids = sorted(((p, v["grid_search"]) for p, v in unresolved if is_grid(v)), key=lambda pair: [str(k) for k in pair[0]])
    domains = [(p, v) for p, v in unresolved if not is_grid(v) and not isinstance(v, Function)]
    drawn = [(p, draws.value(d)) for p, d in domains] if constant else []
    for n in range(math.prod(len(values) for _, values in grids)):
        config = copy.copy(fixed)
        for path, values in grids:
            config[path] = values[n % len(values)]
            n //= len(values)
        config.update(drawn if constant else [(p, draws.value(d)) for p, d in domains])
        yield _nested(config)


def _unresolved(value: Any, path: Path = ()) -> Iterator[Tuple[Path, Any]]:
    """The domains and grids of a space, in their order."""
    if isinstance(value, Domain) or is_grid(value):
        grid: Any = value
        inner = value.categories if isinstance(value, Categorical) else grid["grid_search"] if is_grid(grid) else ()
        if any(True for one in inner for _ in _unresolved(one)):
            raise _Drawn
        yield path, value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _unresolved(one, (*path, key))
    elif isinstance(value, (list, tuple)):
        if any(True for one in value for _ in _unresolved(one)):
            raise _Drawn


def _paths(point: Mapping[Any, Any], path: Path = ()) -> Iterator[Tuple[Path, Any]]:
    for key, value in point.items():
        if isinstance(value, dict):
            yield from _paths(value, (*path, key))
        else:
            yield (*path, key), value


def _nested(values: Mapping[Path, Any]) -> Dict[Any, Any]:
    found: Dict[Any, Any] = {}
    for path, value in values.items():
        place = found
        for key in path[:-1]:
            place = place.setdefault(key, {})
        place[path[-1]] = value
    return found


class _Draws:
    """A generator of numpy, old or new, or a seed of one."""

    def __init__(self, state: Any) -> None:
        import numpy

        self._numpy = numpy
        made: Any = state if hasattr(state, "uniform") else numpy.random.default_rng(state)
        self._state, self._integer = made, getattr(made, "integers", None) or made.randint

    def value(self, domain: Any) -> Any:
        """A value of a domain."""
        if isinstance(domain, Categorical):
            return domain.categories[int(self._state.choice(self._numpy.arange(0, len(domain)), size=1)[0])]
        form = domain.form()
        kind = next(k for k in ("uniform", "loguniform", "int", "normal") if k in form)
        if kind == "int":
            return self._whole(form)
        low, high = form[kind]
        return self._real(kind, low, high, form.get("step"))

    def _whole(self, form: Mapping[str, Any]) -> int:
        step = int(form.get("step", 1))
        low, last = form["int"]
        low, last = math.ceil(low / step), math.floor(last / step)
        if form.get("log"):
            bounds = self._numpy.log(low), self._numpy.log(last + 1)
            return int(math.floor(float(self._numpy.exp(self._state.uniform(*bounds, size=1))[0]))) * step
        return int(self._integer(low, last + 1, size=1)[0]) * step

    def _real(self, kind: str, low: float, high: float, step: Optional[float]) -> float:
        if step and kind != "normal":
            low, high = _multiple(low, step, math.ceil), _multiple(high, step, math.floor)
        if kind == "loguniform":
            bounds = self._numpy.log(low), self._numpy.log(high)
            value = float(self._numpy.exp(self._state.uniform(*bounds, size=1))[0])
        else:
            draw = self._state.normal if kind == "normal" else self._state.uniform
            value = float(draw(low, high, size=1)[0])
        return float(self._numpy.round(value / step) * step) if step else value


def _multiple(bound: float, step: float, rounded: Any) -> float:
    """The first multiple of a step inside of a bound."""
    index = bound / step
    near = round(index)
    return (near if math.isclose(index, near) else int(rounded(index))) * step
