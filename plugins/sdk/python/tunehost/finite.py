"""Finite spaces: their size, all their points, and avoiding duplicate suggestions."""

from __future__ import annotations

import math
import struct
from typing import Callable, Iterator, Optional, Sequence

from .space import Point, Source, Space, TooTight

__all__ = ["Seen", "key", "points", "size"]

NAN = math.nan
_TRIES = 10_000
_SEEN_TRIES = 100

Axis = Sequence[float]
"""The values of one parameter; those of a range are computed when they are needed."""


class _Values(Sequence[float]):
    """A parameter's values, computed one by one: there may be 2**54 of them."""

    def __init__(self, count: int, nth: Callable[[int], float]) -> None:
        self._count, self._nth = count, nth

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, k):  # type: ignore[no-untyped-def]
        if k >= self._count:
            raise IndexError(k)
        return self._nth(k)


def _axes(space: Space, given: Optional[Sequence[float]] = None) -> Optional[list[Axis]]:
    axes: list[Axis] = []
    for i, p in enumerate(space.parameters):
        if given and given[i] == given[i]:
            axes.append((given[i],))
        elif p.count is None:
            return None
        else:
            axes.append(_Values(p.count, p.nth))
    return axes


def _walk(space: Space, axes: list[Axis]) -> Iterator[Optional[Point]]:
    """Every point of the axes in order, the last parameter varies fastest; None for the steps
    between. A parameter that does not exist is NaN, once; branches that violate a constraint
    in any case are skipped."""
    point = [NAN] * len(axes)
    at = [0] * len(axes)
    depth = 0

    def put(k: int) -> None:
        at[depth] = k
        if space.active(point, depth):
            point[depth] = axes[depth][k]

    while True:
        holds = space.holds(point)
        yield point if holds and depth == len(axes) else None
        if holds and depth < len(axes):
            put(0)
            depth += 1
            continue
        while depth > 0:
            depth -= 1
            exists, point[depth] = point[depth] == point[depth], NAN
            if exists and at[depth] + 1 < len(axes[depth]):
                put(at[depth] + 1)
                depth += 1
                break
        else:
            return


def points(space: Space) -> Iterator[Point]:
    """Every point of a finite space, each a copy; none for other spaces."""
    axes = _axes(space)
    if axes is not None:
        yield from (list(p) for p in _walk(space, axes) if p is not None)


def size(space: Space, limit: int) -> Optional[int]:
    """The number of points that satisfy the constraints; None if there are infinitely
    many or more than limit, or if counting them would take too long."""
    axes = _axes(space)
    if axes is None:
        return None
    found, budget = 0, 64 * (limit + len(axes))
    for p in _walk(space, axes):
        found += p is not None
        if found > limit or budget == 0:
            return None
        budget -= 1
    return found


def key(space: Space, point: Sequence[float]) -> bytes:
    """A key that is equal for two points if and only if they are equal up to rounding."""
    values = (p.quantise(x) + 0.0 for p, x in zip(space.parameters, point))
    return struct.pack(f"{len(point)}d", *(NAN if x != x else x for x in values))


class Seen:
    """Helps searchers to suggest no point of a finite space twice.

    It remembers points if the space has at most `limit`; for larger and infinite spaces,
    for empty ones and if the host knows more conditions (opaque) it remembers none, and
    every point is new. ValueError when the space has no points.
    """

    def __init__(self, space: Space, limit: int = 100_000) -> None:
        self.space = space
        self.size: Optional[int] = None  #: how many points there are; None: nothing is remembered
        self._keys: set[bytes] = set()
        if not space.opaque and len(space):
            self.size = size(space, limit)
        if self.size == 0:
            raise ValueError("no point of the space satisfies the constraints: loosen them")

    def add(self, point: Sequence[float]) -> None:
        """Remembers a point, unless it is not in the space."""
        if self.size and self.space.check(point) is None and self.space.holds(point):
            self._keys.add(key(self.space, point))

    def __contains__(self, point: Sequence[float]) -> bool:
        return bool(self._keys) and key(self.space, point) in self._keys

    @property
    def full(self) -> bool:
        """Whether every point of the space is remembered."""
        return self.size is not None and len(self._keys) >= self.size

    def left(self, given: Optional[Sequence[float]] = None) -> list[Point]:
        """The points with the given coordinates that are not remembered."""
        axes = _axes(self.space, given) if self.size else None
        if axes is None:
            return []
        return [list(p) for p in _walk(self.space, axes) if p is not None and p not in self]

    def pick(self, draw: Callable[[int], Sequence[float]], rng: Source,
             given: Optional[Sequence[float]] = None) -> Optional[Point]:
        """A new point, which is remembered: given, completed by the first of draw(0), draw(1), …
        that makes it new and satisfies the constraints. When draws find none, rng picks one of
        the remaining points. When none remains: None, or, if coordinates were given, a point with
        them drawn at random. TooTight when no point satisfies the constraints."""
        wrong = self.space.check_given(given)
        if wrong:
            raise ValueError(wrong)
        if self.size is None:
            point = self._draw(given, _TRIES, draw)
            if point is None:
                raise TooTight
            return point
        point = self._new(given, rng, draw)
        if point is not None:
            self.add(point)
            return point
        return self.space.sample(rng, given) if any(x == x for x in given or ()) else None

    def _new(self, given: Optional[Sequence[float]], rng: Source,
             draw: Callable[[int], Sequence[float]]) -> Optional[Point]:
        if self.full:
            return None
        point = self._draw(given, _SEEN_TRIES, draw)
        if point is None:
            left = self.left(given)
            return left[int(rng.random() * len(left))] if left else None
        return point

    def _draw(self, given: Optional[Sequence[float]], tries: int,
              draw: Callable[[int], Sequence[float]]) -> Optional[Point]:
        for k in range(tries):
            point = self.space.complete(given, draw(k))
            if self.space.holds(point) and point not in self:
                return point
        return None
