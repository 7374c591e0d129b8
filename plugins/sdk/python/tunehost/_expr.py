"""Expressions over the parameters of a space: conditions and constraints.

True is 1 and false is 0. A parameter that does not exist, and what is computed from it, is
NaN. `and` is 0 if either side is 0, and `or` is 1 if either side is 1, whatever the
other is; `if` depends on its condition and the chosen branch only; any other operation
on NaN is NaN. A condition holds when it is 1, a constraint unless it is 0.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any, Callable, Sequence

NAN = math.nan

CONST, NUMBER, IN, NEG, ADD, SUB, MUL, DIV, INT_DIV, MOD, LT, LE, GT, GE, EQ, NE, AND, OR, NOT, IF = range(1, 21)

Number = Callable[[Sequence[float]], float]


@dataclass(frozen=True)
class Expr:
    """An expression; the operations have the numbers of the protocol."""

    op: int
    param: int = 0
    number: float = 0.0
    set: tuple[int, ...] = ()
    args: tuple[Expr, ...] = ()

    def compile(self, numbers: Sequence[Number]) -> Number:
        """A function of a point; numbers has the numeric value of each parameter."""
        if self.op == CONST:
            value = self.number
            return lambda p: value
        if self.op == NUMBER:
            return numbers[self.param]
        if self.op == IN:
            return _member(self.param, frozenset(float(k) for k in self.set))
        args = []
        for arg in self.args:  # no comprehension: it would double the depth of the stack
            args.append(arg.compile(numbers))
        if self.op in (AND, OR):
            return _fold(args, 0.0 if self.op == AND else 1.0)
        if self.op == IF:
            return _branch(*args)
        if self.op in _UNARY:
            return _unary(_UNARY[self.op], *args)
        return _binary(_BINARY[self.op], *args)


def _member(param: int, allowed: frozenset[float]) -> Number:
    def member(p: Sequence[float]) -> float:
        x = p[param]
        return x if x != x else float(x in allowed)

    return member


def _fold(args: list[Number], decides: float) -> Number:
    def fold(p: Sequence[float]) -> float:
        result = 1 - decides
        for arg in args:
            x = arg(p)
            if x == decides:
                return decides
            if x != x:
                result = x
        return result

    return fold


def _branch(condition: Number, then: Number, otherwise: Number) -> Number:
    def branch(p: Sequence[float]) -> float:
        x = condition(p)
        if x != x:
            return x
        return then(p) if x == 1 else otherwise(p)

    return branch


def _unary(f: Callable[[float], float], arg: Number) -> Number:
    return lambda p: f(arg(p))


def _binary(f: Callable[[float, float], Any], left: Number, right: Number) -> Number:
    def binary(p: Sequence[float]) -> float:
        a, b = left(p), right(p)
        return NAN if a != a or b != b else float(f(a, b))

    return binary


def _div(a: float, b: float) -> float:
    return a / b if b else NAN


def _int_div(a: float, b: float) -> float:
    x = _div(a, b)
    return float(math.trunc(x)) if math.isfinite(x) else x


def _mod(a: float, b: float) -> float:
    return math.fmod(a, b) if b and math.isfinite(a) else NAN


_UNARY: dict[int, Callable[[float], float]] = {NEG: operator.neg, NOT: lambda a: 1 - a}
_BINARY: dict[int, Callable[[float, float], Any]] = {
    ADD: operator.add, SUB: operator.sub, MUL: operator.mul,
    DIV: _div, INT_DIV: _int_div, MOD: _mod,
    LT: operator.lt, LE: operator.le, GT: operator.gt, GE: operator.ge, EQ: operator.eq, NE: operator.ne,
}
