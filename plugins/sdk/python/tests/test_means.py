"""Means and deviations of large values are finite."""

import math
from typing import Any, List

import pytest

from tunehost.tune import result
from tunehost.tune._means import deviation, mean, running
from tunehost.tune.schedulers import _bandit
from tunehost.tune.schedulers._adaptive import MedianRule
from tunehost.tune.stopper import TrialPlateauStopper
from tunehost.tune.trial import Trial

LARGE = 1.7e308


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 2.0, 6.0], 3.0),
        ([LARGE] * 3, LARGE),
        ([-LARGE] * 7, -LARGE),
        ([LARGE, LARGE, -LARGE, -LARGE], 0.0),
        ([1.0, math.inf], math.inf),
    ],
)
def test_mean(values: List[float], expected: float) -> None:
    assert mean(values) == pytest.approx(expected)
    after = values[0]
    for count, value in enumerate(values[1:], 2):
        after = running(after, value, count)
    assert math.isclose(after, expected, rel_tol=1e-9, abs_tol=1e-9 * LARGE)


def test_deviation() -> None:
    assert deviation([1.0, 3.0]) == 1.0
    assert deviation([LARGE, -LARGE]) == pytest.approx(LARGE)
    assert deviation([1e200, 3e200]) == pytest.approx(1e200)
    assert deviation([LARGE] * 4) == deviation([0.0, 0.0]) == 0.0


def test_a_plateau_of_large_values() -> None:
    stop = TrialPlateauStopper("v", std=1e160, num_results=2, grace_period=2)
    assert [stop("a", {"v": v}) for v in (1e200, 3e200, 3e200)] == [False, False, True]


def test_the_analysis_of_a_trial() -> None:
    trial = Trial.__new__(Trial)
    trial._counts, trial._last, trial.metric_analysis = {}, {}, {}
    for value in (LARGE, -LARGE, LARGE, -LARGE):
        trial._analyse("v", value)
    known = trial.metric_analysis["v"]
    assert known["last-5-avg"] == 0
    assert abs(known["avg"]) < 1e-9 * LARGE


def test_the_score_of_a_result() -> None:
    class Known:
        results = [{"v": LARGE}, {"v": LARGE}]

    known: Any = Known()
    assert result.score(known, "v", "max", "avg") == LARGE


def test_the_median_of_large_means() -> None:
    rule: Any = MedianRule.__new__(MedianRule)
    rule.grace_period, rule._results = 1, {"a": [(1, LARGE), (2, LARGE)], "b": [(1, 1.0), (2, 3.0)]}
    assert rule._means("c", 2) == [LARGE, 2.0]


@pytest.mark.filterwarnings("error")
def test_improvements_of_large_scores() -> None:
    seen = [_bandit.Seen(t, i, (-1) ** i * LARGE * (t + i) / 9, [0.1 * t]) for t in range(3) for i in range(4)]
    found = _bandit.best(seen, [(0.0, 1.0)], 4.0)
    assert len(found) == 1 and 0 <= found[0] <= 1
