"""The space helpers do what the Go package space does, bit by bit (B-102)."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path
from typing import Any, Dict, List, Optional

import pytest

from tunehost import finite
from tunehost.space import Expr, Kind, Param, Point, Rand, Space, TooTight

VECTORS: Dict[str, Any] = json.loads((Path(__file__).parent.parent / "testdata" / "vectors.json").read_text())
NAN = math.nan


def number(x: Any) -> float:
    return float(x)  # "nan", "+Inf" and "-Inf" too


def point(p: List[Any]) -> Point:
    return [number(x) for x in p]


def expr(e: Dict[str, Any]) -> Expr:
    return Expr(e["Op"], e["Param"], e["Number"], tuple(e["Set"] or ()), tuple(expr(a) for a in e["Args"] or ()))


def param(p: Dict[str, Any]) -> Param:
    numbers: Dict[str, Any] = {name.lower(): number(p[name]) for name in ("Low", "High", "Step", "Mean", "SD")}
    return Param(p["Name"], Kind(p["Kind"]), log=p["Log"], choices=tuple(p["Choices"]),
                 when=expr(p["When"]) if p.get("When") else None, **numbers)


def space(v: Dict[str, Any]) -> Space:
    return Space([param(p) for p in v["Params"] or ()], [expr(c) for c in v.get("Constraints") or ()])


def same(a: Any, b: Any) -> bool:
    """Whether points are the same to the bit."""
    return len(a) == len(b) and all(x == y and math.copysign(1, x) == math.copysign(1, y) or x != x and y != y for x, y in zip(a, b))


spaces = pytest.mark.parametrize("v", VECTORS["Spaces"], ids=lambda v: v["Name"])


def named(name: str) -> Space:
    return space(next(v for v in VECTORS["Spaces"] if v["Name"] == name))


def test_rand() -> None:
    rng = Rand(42)
    assert [rng.random() for _ in range(5)] == VECTORS["Rand"]
    again = pickle.loads(pickle.dumps(rng))
    assert [rng.gauss(0, 1) for _ in range(3)] == [again.gauss(0, 1) for _ in range(3)]
    assert sorted(rng.sample(range(100), 100)) == list(range(100))
    assert 0 <= Rand(2**64 - 1).getrandbits(200) < 2**200


@spaces
def test_units(v: Dict[str, Any]) -> None:
    s = space(v)
    for u in v["Units"] or ():
        p = s[u["Param"]]
        value, back, near = number(u["Value"]), number(u["Back"]), number(u["Near"])
        assert same([p.from_unit(u["U"])], [value]), u
        # Go's and Python's erfc differ in the last place.
        assert p.to_unit(value) == (back if p.kind != Kind.NORMAL else pytest.approx(back, rel=1e-14)), u
        assert same([p.quantise(number(u["To"]))], [near]), u
        assert p.contains(value) and p.number(p.value(value)) == value, u
    assert all(p.from_unit(NAN) != p.from_unit(NAN) for p in s)


@spaces
def test_samples(v: Dict[str, Any]) -> None:
    s = space(v)
    for given, wanted in ((None, v["Samples"]), (v["Given"], v["Completed"])):
        for seed, want in enumerate(wanted or ()):
            if want is None and len(s):
                with pytest.raises(TooTight):
                    s.sample(Rand(seed), point(given) if given else None)
                break
            got = s.sample(Rand(seed), point(given) if given else None)
            assert same(got, point(want or []))
            assert s.check(got) is None and s.holds(got)
            assert same(s.point(s.params(got)), got)


@spaces
def test_size_and_all(v: Dict[str, Any]) -> None:
    s = space(v)
    assert finite.size(s, 1000) == (None if v["Size"] < 0 else v["Size"])
    if v["Size"] >= 0:
        got = list(finite.points(s))
        assert len(got) == len(v["All"] or ())
        assert all(same(a, point(b or [])) for a, b in zip(got, v["All"] or ()))


def test_expressions() -> None:
    evals = VECTORS["Spaces"][0]["Evals"]
    assert len(evals) > 300
    for e in evals:
        got = expr(e["Expr"]).compile([lambda p: p[0], lambda p: p[1]])(point(e["Point"]))
        assert same([got + 0.0], [number(e["Value"]) + 0.0]), e


def test_check() -> None:
    s = named("mixed")
    for bad in VECTORS["Bad"]:
        assert (s.check(point(bad["Point"])) or "") == bad["Says"]


def test_expressions_may_be_deep() -> None:
    e = Expr(2)
    for _ in range(499):
        e = Expr(4, args=(e,))
    s = Space([Param("a", Kind.INT, 1, 1)], [e])
    assert s.holds([1.0])


def test_choices_of_nonsense_count_as_nothing() -> None:
    s = Space([Param("c", Kind.CHOICE, choices=(1, "x", True))], [Expr(11, args=(Expr(2), Expr(1, number=0)))])
    assert not s.holds([0])
    assert all(s.holds([x]) for x in (1, 2, NAN, -1, 1e300, math.inf))


def test_params() -> None:
    s = named("nested")
    assert s.params([1, 3, 2, 1]) == {"net/optimizer": "adam", "net/decay": {"a": [1.5]}, "rate": 2, "floor": 0.5}
    assert s.params([0, NAN, NAN, NAN]) == {"net/optimizer": "sgd"}
    assert type(s.params([1, 1, 2, 0])["rate"]) is int
    assert same(s.point({"net/decay": None, "rate": 2.0, "floor": 0}), [NAN, 2, 2, 0])
    assert same(s.point({"net/decay": {"a": (1.5,)}, "rate": None}), [NAN, 3, NAN, NAN])


@pytest.mark.parametrize("params, says", [
    ({"net/optimiser": "sgd"}, "parameter 'net/optimiser' is unknown; nearest: 'net/optimizer'"),
    ({"net/decay": 1}, "parameter 'net/decay' is 1; allowed: false, true, null, {\"a\": [1.5]}"),
    ({"rate": 9}, "parameter 'rate' is 9.0; allowed: integers from 1 to 3"),
    ({"rate": 10**400}, "parameter 'rate' is larger than a number can be; allowed: integers from 1 to 3"),
    ({"rate": 1.5}, "parameter 'rate' is 1.5; allowed: integers from 1 to 3"),
    ({"rate": "2"}, "parameter 'rate' is '2'; allowed: integers from 1 to 3"),
    ({"rate": True}, "parameter 'rate' is True; allowed: integers from 1 to 3"),
])
def test_params_that_are_wrong(params: Dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError) as e:
        named("nested").point(params)
    assert str(e.value) == says


def test_numbers_of_other_libraries() -> None:
    class Float32:
        def __float__(self) -> float:
            return 2.0

    assert named("nested").point({"rate": Float32()})[2] == 2


def test_given_decides() -> None:
    s = named("nested")
    assert s.check_given([NAN, NAN, 9, NAN]) == 'parameter "rate" is 9; allowed: integers from 1 to 3'
    assert s.check_given([1]) == "the given point has length 1; allowed: 4, one for each parameter of the space"
    assert s.check_given(None) is None and s.check_given([NAN, NAN, 2, NAN]) is None
    assert same(s.complete([0, NAN, 2, NAN], [1, 1, 1, 1]), [0, NAN, NAN, NAN])


# Each point of a finite space once, then None; given coordinates always get an answer (B-100).
@pytest.mark.parametrize("name", ["nested", "constrained"])
def test_seen(name: str) -> None:
    s, rng = named(name), Rand(1)
    seen = finite.Seen(s)
    got: List[Point] = []
    while True:
        p: Optional[Point] = seen.pick(lambda k: s.draw(rng), rng)
        if p is None:
            break
        assert s.check(p) is None and s.holds(p)
        got.append(p)
    assert len({str(p) for p in got}) == len(got) == seen.size == finite.size(s, 1000)
    assert seen.full and seen.left() == []
    assert seen.pick(lambda k: s.draw(rng), rng, got[0]) == got[0] or same(got[0], seen.pick(lambda k: s.draw(rng), rng, got[0]) or [])


def test_seen_of_the_given() -> None:
    s, rng = named("constrained"), Rand(1)
    seen = finite.Seen(s)
    given = [NAN, 4.0]
    got = {str(seen.pick(lambda k: [0, 4], rng, given)) for _ in range(4)}
    assert len(got) == 4 and seen.left(given) == [] and len(seen.left()) == 16
    with pytest.raises(ValueError):
        seen.pick(lambda k: [0, 4], rng, [NAN, 40.0])


def test_seen_remembers_nothing_of_large_spaces() -> None:
    for s in (named("reals"), named("empty"), Space([Param("a", Kind.INT, 0, 10)]), Space(named("nested").parameters, opaque=True)):
        seen = finite.Seen(s, 10) if len(s) != 4 else finite.Seen(s)
        p = s.sample(Rand(1))
        seen.add(p)
        assert p not in seen and not seen.full and seen.left() == []
        assert same(seen.pick(lambda k: p, Rand(1)) or [], p)
    with pytest.raises(ValueError, match="no point of the space satisfies the constraints"):
        finite.Seen(named("impossible"))


def test_keys() -> None:
    s = Space([Param("a", Kind.REAL, 0, 1, step=0.1), Param("b", Kind.REAL, 0, 1)])
    assert finite.key(s, [0.30000000000000004, -0.0]) == finite.key(s, [0.3, 0.0])
    assert finite.key(s, [0.3, NAN]) != finite.key(s, [0.4, NAN])


@pytest.mark.parametrize("p", [
    Param("x", Kind.REAL, low=0.1, high=1, log=True),
    Param("x", Kind.REAL, low=-1, high=1),
    Param("x", Kind.INT, low=1, high=9, log=True),
    Param("x", Kind.INT, low=2, high=8, step=2, log=True),
])
def test_numbers_that_trials_have_outside_of_open_bounds_are_at_the_end(p: Param) -> None:
    assert [p.to_unit(x) for x in (-1e9, -3, 12, 1e300)] == [0, 0, 1, 1]
    assert p.to_unit(0) == (0 if p.low > 0 else 0.5)
