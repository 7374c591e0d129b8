"""Type checkers find mistakes in users' programs, and nothing in correct ones."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Set

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


#: Classes whose bases are of libraries without types.
UNKNOWN = {
    *(f"tunehost.integrations.{name}.ReportCallback" for name in ("keras", "lightning", "transformers", "xgboost")),
    "tunehost.sklearn.TunedCV",
    *(f"tunehost.tune.integration.{name}.TuneReportCheckpointCallback" for name in (
        "keras", "pytorch_lightning", "xgboost")),
}


def pyright(*arguments: str) -> Dict[str, Any]:
    """What pyright, which `make python` installs with Node.js, says of this environment's packages."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(SDK), "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    command = [sys.executable, "-m", "pyright", "--outputjson", *arguments]
    done = subprocess.run(command, cwd=SDK, env=environment, stdout=subprocess.PIPE, text=True)
    found: Dict[str, Any] = json.loads(done.stdout)
    return found


def test_every_public_name_has_a_type_that_is_known() -> None:
    report = pyright("--verifytypes", "tunehost", "--ignoreexternal")["typeCompleteness"]
    symbols: List[Dict[str, Any]] = report["symbols"]
    untyped = {s["name"] for s in symbols if s["isExported"] and (s["isTypeAmbiguous"] or not s["isTypeKnown"])}
    about_bases = {name for name in untyped if any(name.startswith(known) for known in UNKNOWN)}
    assert untyped - about_bases == set()
    assert report["exportedSymbolCounts"]["withKnownType"] > 1000
