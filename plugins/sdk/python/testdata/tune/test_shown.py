"""The examples in docstrings that run the program. tests/test_documented.py runs the others."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("module", ["_asktell", "_minimize", "_reading", "tune.tuner"])
def test_examples(module):
    done = doctest.testmod(importlib.import_module(f"tunehost.{module}"))
    assert done.failed == 0 and done.attempted >= 3
