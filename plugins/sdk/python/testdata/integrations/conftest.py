"""Each test has a directory of its own for results."""

import os

import pytest


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.environ.pop("TUNEHOST_TRIAL_ID", None)
