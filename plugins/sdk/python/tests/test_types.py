"""Type checkers find mistakes in users' programs, and nothing in correct ones."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Set

SDK = Path(__file__).resolve().parent.parent
TYPES = SDK / "testdata" / "types"


def complaints(program: Path, cache: Path) -> Set[int]:
    """The lines of a program that mypy --strict complains about."""
    checker = [sys.executable, "-m", "mypy", "--strict", "--config-file", "pyproject.toml", "--cache-dir", str(cache)]
    done = subprocess.run([*checker, str(program)], cwd=SDK, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = re.findall(rf"{program.name}:(\d+): error", done.stdout)
    assert done.returncode == (1 if found else 0), done.stdout
    return {int(line) for line in found}


def test_mistakes_are_found(tmp_path: Path) -> None:
    assert complaints(TYPES / "right.py", tmp_path) == set()
    wrong = TYPES / "wrong.py"
    mistakes = {n for n, line in enumerate(wrong.read_text().splitlines(), 1) if line.startswith(("tune.", "tunehost."))}
    assert len(mistakes) == 5 and complaints(wrong, tmp_path) == mistakes
