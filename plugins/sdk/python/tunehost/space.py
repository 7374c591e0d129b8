"""The space of parameters, for searchers.

A *point* is a list with one float for each parameter: reals and integers are
themselves, choices are the index of the chosen value, and NaN means that the
parameter does not exist in this point. *Params* are the same as a dict of names
and values, without those that do not exist. Space.params and Space.point convert one
into the other; everything here works on points.
"""

from __future__ import annotations

import enum
import json
import math
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Protocol, Sequence, Tuple

from . import _portable
from ._expr import Expr, Number
from ._lattice import Lattice, even, is_multiple, multiple, near_floor
from ._portable import Rand

__all__ = ["Expr", "Kind", "Param", "Point", "Rand", "Space", "TooTight"]

Point = List[float]
NAN = math.nan
_EDGE = 2.0**-53
_MAX_TRIES = 10_000


class Source(Protocol):
    """A source of uniform random numbers in [0, 1)."""

    def random(self) -> float:
        """The next number."""
        ...


class TooTight(ValueError):
    """No point was found that satisfies the constraints."""

    def __init__(self, why: str = "") -> None:
        super().__init__(
            why
            or "no point satisfies the constraints in 10000 draws: they are too tight for sampling; "
            "narrow the parameters' bounds instead, or loosen the constraints"
        )


class Kind(enum.IntEnum):
    """The form of a parameter."""

    REAL = 1
    INT = 2
    NORMAL = 3
    CHOICE = 4
    ORDINAL = 5


@dataclass(frozen=True)
class Param:
    """One dimension of a space.

    name: parts of nested names are joined with "/".
    kind: the form of its values.
    low, high: the bounds of REAL and INT, both included.
    log: differences matter on a logarithmic scale.
    step: values are multiples of it; 0: any.
    mean, sd: of NORMAL, the mean and the standard deviation.
    choices: the values of CHOICE and ORDINAL; those of ORDINAL are in order.
    grid: the host gives each value; searchers need not choose it.
    when: the condition under which it exists; None: it always does.
    """

    name: str
    kind: Kind
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    step: float = 0.0
    mean: float = 0.0
    sd: float = 0.0
    choices: tuple[Any, ...] = ()
    grid: bool = False
    when: Optional[Expr] = None

    lattice: Optional[Lattice] = field(init=False, repr=False, compare=False, default=None)
    _index: Mapping[str, int] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lattice", self._lattice())
        object.__setattr__(self, "_index", {_meaning(c): i for i, c in reversed(list(enumerate(self.choices)))})

    def _lattice(self) -> Optional[Lattice]:
        if self.is_choice:
            return Lattice(0.0, float(len(self.choices) - 1), 1.0)
        if self.kind == Kind.INT and not self.step:
            return Lattice(self.low, self.high, 1.0)
        if self.kind == Kind.INT or self.kind == Kind.REAL and self.step > 0:
            return Lattice(-near_floor(-self.low / self.step), near_floor(self.high / self.step), self.step)
        return None

    @property
    def is_choice(self) -> bool:
        """Whether its values are a list of choices."""
        return self.kind in (Kind.CHOICE, Kind.ORDINAL)

    @property
    def count(self) -> Optional[int]:
        """How many values it can have; None if they are continuous or unbounded."""
        if self.lattice:
            return int(self.lattice.size())
        return 1 if self.kind == Kind.REAL and self.low == self.high else None

    def nth(self, k: int) -> float:
        """The k-th of its `count` values in ascending order, from 0."""
        return self.lattice.value(self.lattice.first + k) if self.lattice else self.low

    def from_unit(self, u: float) -> float:
        """The value at u, its place in [0, 1] under the parameter's own distribution,
        so that a uniform u gives a sample. A u outside [0, 1] is moved inside; NaN stays."""
        if u != u:
            return u
        u = max(0.0, min(1.0, u))
        if self.kind == Kind.NORMAL:
            return self._from_normal(u)
        if self.lattice:
            return self.lattice.from_unit(u, self.log)
        return self._from_real(u)

    def _from_real(self, u: float) -> float:
        if u == 0 or self.low == self.high:
            return self.low
        if u == 1:
            return self.high
        if self.log:
            low = _portable.ln(self.low)
            x = _portable.exp(low + u * (_portable.ln(self.high) - low))
        else:
            x = self.low + u * (self.high - self.low)
        return max(self.low, min(self.high, x))

    def _from_normal(self, u: float) -> float:
        z = _portable.quantile(max(_EDGE / 2, min(1 - _EDGE, u)))
        x = self.mean + self.sd * z
        return multiple(even(x / self.step), self.step) if self.step > 0 else x

    def to_unit(self, x: float) -> float:
        """The place of value x in [0, 1]: from_unit(to_unit(x)) is x, up to rounding for a
        continuum. If there is only one value it is 0.5. Values outside of the bounds are at the end."""
        if self.kind == Kind.NORMAL:
            return 0.5 * math.erfc((self.mean - x) / (self.sd * math.sqrt(2)))
        u = 0.5
        if self.lattice:
            u = self.lattice.to_unit(x, self.log)
        elif self.low < self.high and self.log:
            low = _portable.ln(self.low)
            u = (_portable.ln(max(x, self.low)) - low) / (_portable.ln(self.high) - low)
        elif self.low < self.high:
            u = (x - self.low) / (self.high - self.low)
        return max(0.0, min(1.0, u))

    def quantise(self, x: float) -> float:
        """The allowed value nearest to x. NaN stays."""
        if x != x:
            return x
        if self.lattice:
            return self.lattice.value(self.lattice.nearest(x))
        if self.kind != Kind.NORMAL:
            return max(self.low, min(self.high, x))
        return multiple(even(x / self.step), self.step) if self.step > 0 else x

    def contains(self, x: float) -> bool:
        """Whether x is an allowed value."""
        if not math.isfinite(x):
            return False
        if self.lattice and self.kind == Kind.REAL:
            return is_multiple(x, self.step, self.lattice.nearest(x))
        if self.lattice:
            return x == self.lattice.value(self.lattice.nearest(x))
        if self.kind == Kind.REAL:
            return self.low <= x <= self.high
        return self.step == 0 or is_multiple(x, self.step, even(x / self.step))

    def value(self, x: float) -> Any:
        """The value that x represents: a float, an int or a choice."""
        if self.is_choice:
            return self.choices[round(x)]
        return round(x) if self.kind == Kind.INT else x

    def number(self, value: Any) -> float:
        """The float that stands for a value; ValueError if it is not allowed."""
        if self.is_choice:
            found = self._index.get(_meaning(value))
            if found is None:
                raise ValueError(f"parameter {self.name!r} is {value!r}; allowed: {_list(self.choices)}")
            return float(found)
        if isinstance(value, bool) or not hasattr(value, "__float__"):
            raise ValueError(f"parameter {self.name!r} is {value!r}; allowed: {self.allowed()}")
        try:
            x = float(value)
        except OverflowError:
            raise ValueError(f"parameter {self.name!r} is larger than a number can be; allowed: {self.allowed()}") from None
        if not self.contains(x):
            raise ValueError(f"parameter {self.name!r} is {x!r}; allowed: {self.allowed()}")
        return x

    def allowed(self) -> str:
        """A description of the allowed values."""
        if self.is_choice:
            return f"an index from 0 to {len(self.choices) - 1}"
        steps = f", multiples of {_text(self.step)}" if self.step else ""
        if self.kind == Kind.NORMAL:
            return "any finite number" + steps
        what = "integers" if self.kind == Kind.INT else "numbers"
        return f"{what} from {_text(self.low)} to {_text(self.high)}{steps}"

    def _counts_for(self, i: int) -> Number:
        """The numeric value of parameter i in expressions: itself, or the number chosen."""
        if not self.is_choice:
            return lambda p: p[i]
        numbers = [float(c) if isinstance(c, (int, float)) and not isinstance(c, bool) else NAN for c in self.choices]

        def chosen(p: Sequence[float]) -> float:
            x = p[i]
            return numbers[int(x)] if 0 <= x < len(numbers) else NAN

        return chosen


class Space:
    """An ordered list of parameters; parents come before children.

    constraints must hold for every point. opaque says that the host knows further
    conditions or constraints.
    """

    def __init__(self, params: Iterable[Param], constraints: Iterable[Expr] = (), opaque: bool = False) -> None:
        self.parameters: Tuple[Param, ...] = tuple(params)
        self.opaque = opaque
        self.names: Tuple[str, ...] = tuple(p.name for p in self.parameters)
        self.index: Dict[str, int] = {name: i for i, name in enumerate(self.names)}
        numbers = [p._counts_for(i) for i, p in enumerate(self.parameters)]
        self._when: list[Optional[Number]] = [p.when.compile(numbers) if p.when else None for p in self.parameters]
        self._constraints = [c.compile(numbers) for c in constraints]

    def __len__(self) -> int:
        return len(self.parameters)

    def __getitem__(self, which: int | str) -> Param:
        """A parameter by its index or name."""
        return self.parameters[self.index[which] if isinstance(which, str) else which]

    def __iter__(self) -> Iterator[Param]:
        return iter(self.parameters)

    # Points and params.

    def params(self, point: Sequence[float]) -> dict[str, Any]:
        """The parameters that exist in the point, by name."""
        return {p.name: p.value(x) for p, x in zip(self.parameters, point) if x == x}

    def point(self, params: Mapping[str, Any]) -> Point:
        """The point of params; missing ones are NaN. ValueError if a name is unknown or
        a value not allowed."""
        point = [NAN] * len(self)
        for name, value in params.items():
            i = self.index.get(name)
            if i is None:
                near = get_close_matches(name, self.names, 1, 0)
                raise ValueError(f"parameter {name!r} is unknown" + (f"; nearest: {near[0]!r}" if near else ""))
            if value is not None or self.parameters[i].is_choice:
                point[i] = self.parameters[i].number(value)
        return point

    # Conditions and constraints.

    def active(self, point: Sequence[float], i: int) -> bool:
        """Whether parameter i exists, given the values before it."""
        when = self._when[i]
        return when is None or when(point) == 1

    def prune(self, point: Point) -> Point:
        """Sets the parameters that do not exist to NaN, parents first; returns the point."""
        for i, when in enumerate(self._when):
            if when is not None and when(point) != 1:
                point[i] = NAN
        return point

    def holds(self, point: Sequence[float]) -> bool:
        """Whether all constraints are satisfied."""
        return all(c(point) != 0 for c in self._constraints)

    def check(self, point: Sequence[float]) -> Optional[str]:
        """What is wrong with the point, in one line, or None. holds() checks the constraints."""
        if len(point) != len(self):
            return f"the point has length {len(point)}; allowed: {len(self)}, one for each parameter of the space"
        for i, (p, x) in enumerate(zip(self.parameters, point)):
            exists = self.active(point, i)
            if exists and x != x:
                return f'parameter "{p.name}" has no value; allowed: {p.allowed()}'
            if not exists and x == x:
                return f'parameter "{p.name}" is {_text(x)}; allowed: no value, because its condition does not hold'
            if exists and not p.contains(x):
                return f'parameter "{p.name}" is {_text(x)}; allowed: {p.allowed()}'
        return None

    def check_given(self, point: Optional[Sequence[float]]) -> Optional[str]:
        """What is wrong with given values of an incomplete point, or None."""
        if point is None:
            return None
        if len(point) != len(self):
            return f"the given point has length {len(point)}; allowed: {len(self)}, one for each parameter of the space"
        for p, x in zip(self.parameters, point):
            if x == x and not p.contains(x):
                return f'parameter "{p.name}" is {_text(x)}; allowed: {p.allowed()}'
        return None

    # Units.

    def from_units(self, units: Sequence[float]) -> Point:
        """Param.from_unit of each coordinate."""
        return [p.from_unit(u) for p, u in zip(self.parameters, units)]

    def to_units(self, point: Sequence[float]) -> list[float]:
        """Param.to_unit of each coordinate; NaN stays."""
        return [x if x != x else p.to_unit(x) for p, x in zip(self.parameters, point)]

    # Sampling.

    def draw(self, rng: Source) -> Point:
        """A value for every parameter, whether it exists or not; using one number of rng for each."""
        return [p.from_unit(rng.random()) for p in self.parameters]

    def complete(self, *layers: Optional[Sequence[float]]) -> Point:
        """Combines points: the value of a parameter is the first one that is not NaN.
        Parameters that then do not exist are dropped. The last point should come from draw()."""
        point = [NAN] * len(self)
        for layer in reversed(layers):
            for i, x in enumerate(layer or ()):
                if x == x:
                    point[i] = x
        return self.prune(point)

    def sample(self, rng: Source, given: Optional[Sequence[float]] = None) -> Point:
        """A point drawn by each parameter's own distribution, with the values of given fixed;
        drawn again where constraints do not hold. TooTight when none is found."""
        for _ in range(_MAX_TRIES):
            point = self.complete(given, self.draw(rng))
            if self.holds(point):
                return point
        raise TooTight


def _text(x: float) -> str:
    """x in the notation of the host."""
    if not math.isfinite(x):
        return "NaN" if x != x else "+Inf" if x > 0 else "-Inf"
    return str(int(x)) if x == int(x) and abs(x) < 1e21 and abs(x) < 1e6 else repr(x)


def _meaning(value: Any) -> str:
    """A text that is the same for equal JSON values: 1 equals 1.0, but true does not equal 1."""
    return json.dumps(_numbers(value), sort_keys=True, default=str)


def _numbers(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_numbers(v) for v in value]
    if isinstance(value, Mapping):
        return {str(k): _numbers(v) for k, v in value.items()}
    if value is None or isinstance(value, (bool, str)):
        return value
    return float(value) if hasattr(value, "__float__") else value


def _list(choices: Sequence[Any]) -> str:
    texts = [json.dumps(c) for c in choices[:20]]
    return ", ".join(texts) + (f", … ({len(choices)} in all)" if len(choices) > 20 else "")
