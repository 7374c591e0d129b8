"""The search space: what each parameter may be."""

from __future__ import annotations

import inspect
import math
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from .error import Unsupported

__all__ = [
    "Categorical",
    "Domain",
    "Float",
    "Function",
    "Integer",
    "choice",
    "grid_search",
    "lograndint",
    "loguniform",
    "qlograndint",
    "qloguniform",
    "qrandint",
    "qrandn",
    "quniform",
    "randint",
    "randn",
    "sample_from",
    "uniform",
]

Form = Dict[str, Any]
"""A parameter as an experiment file has it."""


class Domain:
    """The values that a parameter may have. The functions of this module make domains."""

    def form(self) -> Form:
        """The parameter in an experiment file, such as {"uniform": [0, 1]}."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.form()})"


class _Ranged(Domain):
    """A domain of numbers, whose form has one key and perhaps a step."""

    def __init__(self, form: Form) -> None:
        self._form = form

    def form(self) -> Form:
        return self._form


class Float(_Ranged):
    """Real numbers: uniform, loguniform, randn and their quantized forms."""


class Integer(_Ranged):
    """Integers: randint, lograndint and their quantized forms."""


class Categorical(Domain):
    """One of several values of any type, as choice makes it. ValueError: there are none."""

    kind = "choice"  #: its form in an experiment file

    def __init__(self, categories: Sequence[Any]) -> None:
        self.categories: List[Any] = list(categories)
        if not self.categories:
            raise ValueError("choice has no values: give it at least one")

    def form(self) -> Form:
        return {self.kind: self.categories}

    def __len__(self) -> int:
        return len(self.categories)

    def __getitem__(self, i: int) -> Any:
        return self.categories[i]


class Function(Domain):
    """A value that is computed from the trial's other parameters, as sample_from makes it."""

    def __init__(self, func: Callable[..., Any]) -> None:
        self.func = func
        self.pass_config: bool = _takes_one(func)

    def form(self) -> Form:
        """There is none: it raises Unsupported."""
        raise Unsupported("a sample_from inside of a choice is not supported: compute the value in the trainable")

    def __repr__(self) -> str:
        return f"Function({self.func!r})"


def _takes_one(func: Callable[..., Any]) -> bool:
    """Whether the function takes the config."""
    try:
        inspect.signature(func).bind({})
    except TypeError:
        return False
    except ValueError:  # a builtin has no signature
        return True
    return True


def _number(value: Any, what: str) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{what} is {value!r:.60}: expected a number")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{what} is larger than a number can be: expected a finite number") from None
    except (TypeError, ValueError) as e:
        kind = TypeError if isinstance(e, TypeError) else ValueError
        raise kind(f"{what} is {value!r:.60}: expected a number") from None
    if not math.isfinite(number):
        raise ValueError(f"{what} is {value}: expected a finite number")
    return number


def _values(given: Any, what: str) -> List[Any]:
    try:
        return list(given)
    except TypeError:
        raise TypeError(f"{what} has {given!r:.60}: expected a list of values") from None


def _bounds(lower: Any, upper: Any, logarithmic: bool) -> List[float]:
    low, high = _number(lower, "lower"), _number(upper, "upper")
    if low >= high:
        raise ValueError(f"lower is {lower} and upper is {upper}: lower must be less")
    if logarithmic and low <= 0:
        raise ValueError(f"lower is {lower}: a logarithmic range must be above 0")
    return [low, high]


def _whole(value: Any, what: str) -> int:
    if isinstance(value, (bool, str, bytes)) or int(value) != value:
        raise ValueError(f"{what} is {value!r}: expected an integer")
    return int(value)


def _integers(lower: Any, last: int, logarithmic: bool) -> Form:
    low = _whole(lower, "lower")
    if low > last:
        raise ValueError(f"there is no integer from {low} to {last}: upper must be larger")
    if logarithmic and low <= 0:
        raise ValueError(f"lower is {low}: a logarithmic range must be above 0")
    form: Form = {"int": [low, last]}
    return {**form, "log": True} if logarithmic else form


def _step(form: Form, q: Any) -> Form:
    step: Union[int, float] = _whole(q, "q") if "int" in form else _number(q, "q")
    if step <= 0:
        raise ValueError(f"q is {q}: expected a number above 0")
    if "int" in form and form["int"][0] == form["int"][1]:
        return form
    return form if "int" in form and step == 1 else {**form, "step": step}


def uniform(lower: float, upper: float) -> Float:
    """A real number from lower to upper."""
    return Float({"uniform": _bounds(lower, upper, False)})


def quniform(lower: float, upper: float, q: float) -> Float:
    """A real number from lower to upper, rounded to multiples of q."""
    return Float(_step(uniform(lower, upper).form(), q))


def loguniform(lower: float, upper: float, base: Optional[float] = None) -> Float:
    """A real number from lower to upper whose logarithm is uniform. base changes nothing: the
    logarithms of all bases give the same distribution."""
    return Float({"loguniform": _bounds(lower, upper, True)})


def qloguniform(lower: float, upper: float, q: float, base: Optional[float] = None) -> Float:
    """Like loguniform, rounded to multiples of q."""
    return Float(_step(loguniform(lower, upper, base).form(), q))


def randn(mean: float = 0.0, sd: float = 1.0) -> Float:
    """A real number of the normal distribution, without bounds. ValueError: sd is not above 0."""
    if _number(sd, "sd") <= 0:
        raise ValueError(f"sd is {sd}: expected a number above 0")
    return Float({"normal": [_number(mean, "mean"), float(sd)]})


def qrandn(mean: float, sd: float, q: float) -> Float:
    """Like randn, rounded to multiples of q."""
    return Float(_step(randn(mean, sd).form(), q))


def randint(lower: int, upper: int) -> Integer:
    """An integer from lower to upper - 1."""
    return Integer(_integers(lower, _whole(upper, "upper") - 1, False))


def qrandint(lower: int, upper: int, q: int = 1) -> Integer:
    """A multiple of q from lower to upper. upper is included unless q is 1, as in Ray."""
    return Integer(_step(_integers(lower, _last(upper, q), False), q))


def lograndint(lower: int, upper: int, base: Optional[float] = None) -> Integer:
    """An integer from lower to upper - 1 whose logarithm is uniform. base changes nothing."""
    return Integer(_integers(lower, _whole(upper, "upper") - 1, True))


def qlograndint(lower: int, upper: int, q: int, base: Optional[float] = None) -> Integer:
    """A multiple of q from lower to upper whose logarithm is uniform. upper is included unless q is 1, as in Ray."""
    return Integer(_step(_integers(lower, _last(upper, q), True), q))


def _last(upper: Any, q: Any) -> int:
    """The last integer of a range with multiples of q."""
    return _whole(upper, "upper") - (1 if q == 1 else 0)


def choice(categories: Sequence[Any]) -> Categorical:
    """One of the values. They may have any type, and may contain domains of their own, which then
    exist only where the value is chosen."""
    return Categorical(_values(categories, "choice"))


def grid_search(values: Sequence[Any]) -> Dict[str, List[Any]]:
    """Every one of the values, combined with all other grids, num_samples times. ValueError: there are none."""
    listed = _values(values, "grid_search")
    if not listed:
        raise ValueError("grid_search has no values: give it at least one")
    return {"grid_search": listed}


def sample_from(func: Callable[..., Any]) -> Function:
    """A value computed by func(config) in the trial's process, from the trial's other parameters; also
    func(spec) with spec.config, and func(). random and numpy are seeded with the trial's seed."""
    return Function(func)
