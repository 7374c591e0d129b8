"""The other project named tunehost, installed beside this one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from test_stop import environment

PACKAGE = Path(__file__).parent.parent / "tunehost"


def imported(dir: Path) -> "subprocess.CompletedProcess[str]":
    (dir / "tunehost").symlink_to(PACKAGE)
    return subprocess.run([sys.executable, "-c", "import tunehost; tunehost.params()"], text=True, capture_output=True,
                          env=environment(PYTHONPATH=str(dir)))


SUMMARY = "Summary: Report to tunehost from Python scripts"


@pytest.mark.parametrize("name, file", [
    ("tunehost-1.0.0.dist-info", "METADATA"), ("tunehost.egg-info", "PKG-INFO"),
])
def test_the_other_project_is_an_error_that_says_what_to_do(tmp_path: Path, name: str, file: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / file).write_text("Metadata-Version: 2.4\nName: tunehost\nRequires-Dist: websockets\n")
    done = imported(tmp_path)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1 and last.startswith('ImportError: another project named "tunehost" is installed (')
    pip = f"{sys.executable} -m pip"
    assert last.endswith(f"{pip} uninstall tunehost tunehost-hpo && {pip} install tunehost-hpo")


@pytest.mark.parametrize("name, text", [
    ("tunehost_hpo-1.0.0.dist-info", f"Name: tunehost-hpo\n{SUMMARY}, and more\n"),
    ("tunehost-1.0.0.dist-info", f"Name: tunehost\n{SUMMARY}, and write its plugins in Python\n"),  # an earlier one
    ("tunehost-helpers-1.0.0.dist-info", "Name: tunehost-helpers\n"),
    ("tunehosted-1.0.0.dist-info", "Name: tunehosted\n"),
])
def test_this_project_and_strangers_are_not_taken_for_it(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "METADATA").write_text("Metadata-Version: 2.4\n" + text)
    done = imported(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
