"""Experiments as Python reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict

import pytest

from tunehost import _view, tune
from tunehost.tune import _encode
from tunehost.tune.result import Result

SPACES: Dict[str, Any] = {
    "dicts": {"model": tune.choice([{"kind": "a", "x": tune.uniform(0, 9)}, {"kind": "b", "y": tune.uniform(0, 5)}]), "z": 1},
    "nested": {"net": {"opt": tune.choice([{"lr": tune.uniform(0, 1), "sub": tune.choice([tune.uniform(0, 1), 7])}, "none"])}},
    "taken": {"model": tune.choice([{"x": tune.uniform(0, 1)}]), "model_0": 5},
    "one in another": {"m": tune.choice([tune.choice([tune.uniform(0, 1), 2]), 3])},
}
PARAMS: Dict[str, Any] = {
    "dicts": {"model": "{'kind': 'b'}", "model_1": {"it": {"kind": "b", "y": 2.5}}, "z": 1, "_suggestion": 0},
    "nested": {"net": {"opt": "dict", "opt_0": {"it": {"lr": 0.5, "sub": "LABEL", "sub_0": {"it": 0.25}}}}},
    "taken": {"model": "dict", "model_0_": {"it": {"x": 0.5}}, "model_0": 5},
    "one in another": {"m": "LABEL", "m_0": {"it": "INNER", "it_0": {"it": 0.5}}},
}
CONFIGS: Dict[str, Any] = {
    "dicts": {"model": {"kind": "b", "y": 2.5}, "z": 1},
    "nested": {"net": {"opt": {"lr": 0.5, "sub": 0.25}}},
    "taken": {"model": {"x": 0.5}, "model_0": 5},
    "one in another": {"m": 0.5},
}


@pytest.mark.parametrize("name", SPACES)
def test_values_of_a_choice_are_in_its_place(name: str) -> None:
    assert _view.own(PARAMS[name], True) == CONFIGS[name]
    space = _encode.encode(SPACES[name]).space
    assert _names(PARAMS[name]) - {"_suggestion"} <= _names(space)


def test_the_number_of_a_suggestion_is_hidden_where_this_package_has_added_it(tmp_path: Path) -> None:
    params = {"_suggestion": 3, "net": {"_suggestion": 4}}
    assert not _view.suggests(str(tmp_path)) and _view.own(params) == params
    (tmp_path / "tune" / "suggestions").mkdir(parents=True)
    assert _view.suggests(str(tmp_path)) and _view.own(params, True) == {"net": {"_suggestion": 4}}


def test_a_parameter_has_no_name_that_this_package_needs() -> None:
    encoded = _encode.encode({"_suggestion": tune.uniform(0, 1)})
    with pytest.raises(tune.TuneError, match="the parameter _suggestion has a name that tunehost gives"):
        _encode.accept_suggestions(encoded, "")


def _names(values: Any) -> Any:
    """The names of parameters and groups."""
    found = set()
    for key, value in values.items():
        found |= {key} | (_names(value) if isinstance(value, dict) else set())
    return found


def test_a_trial_that_has_not_begun_has_no_iteration() -> None:
    trial = {"trial": "t1", "state": "TERMINATED", "results": 0, "params": {"x": 1}}
    result = Result.of(trial, None, "nowhere")
    assert result.metrics == {"trial_id": "t1", "training_iteration": 0, "config": {"x": 1}}
    assert result.metrics["training_iteration"] == 0 and result.results == []
