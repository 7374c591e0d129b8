"""What plain scripts use, run as scripts: beside a host of a few lines, and alone."""

from __future__ import annotations

import datetime
import decimal
import fractions
import json
import math
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Dict, Iterator, List, Union

import pytest

import tunehost
from tunehost._metrics import flatten

Answer = Union[Dict[str, str], bytes]


class Host:
    """Answers reports on a socket, each connection's in turn, and notes them."""

    def __init__(self, dir: Path) -> None:
        self.path = str(dir / "channel")
        self.answers: List[Answer] = []
        self.reports: List[Any] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        self._listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            conn, _ = self._listener.accept()
            threading.Thread(target=self._talk, args=(conn,), daemon=True).start()

    def _talk(self, conn: socket.socket) -> None:
        with conn, conn.makefile("rwb") as lines:
            for line in lines:
                # A host reads strict JSON here: bare NaN would be an error.
                self.reports.append(json.loads(line, parse_constant=lambda name: pytest.fail(name)))
                answer = self.answers.pop(0) if self.answers else {"decision": "continue"}
                if answer == b"":
                    return
                lines.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode() + b"\n")
                lines.flush()


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    yield Host(tmp_path)


def run(code: str, tmp_path: Path, **env: str) -> "subprocess.CompletedProcess[str]":
    """Runs a script as the host does; PATH and the like stay."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("TUNEHOST")}
    root = str(Path(__file__).parent.parent)
    return subprocess.run([sys.executable, "-c", "import tunehost\n" + code], cwd=tmp_path, text=True, capture_output=True,
                          env={**clean, "PYTHONPATH": root, **env}, timeout=300)


def test_reports(host: Host, tmp_path: Path) -> None:
    done = run("""
import math, os
for epoch in range(2):
    tunehost.report(accuracy=0.5, val={"loss": math.nan, "deep": {"x": -math.inf}}, iteration=epoch + 1)
tunehost.report({"lr/x": 1}, checkpoint="ckpt")
if os.fork() == 0:  # a fork has a connection of its own
    tunehost.report(child=1)
    os._exit(0)
os.wait()
tunehost.report(parent=1)
print("done")
""", tmp_path, TUNEHOST_CHANNEL=host.path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    metrics = {"accuracy": 0.5, "val/loss": "NaN", "val/deep/x": "-Infinity"}
    assert host.reports == [
        {"metrics": metrics, "iteration": 1}, {"metrics": metrics, "iteration": 2},
        {"metrics": {"lr/x": 1.0}, "checkpoint": str(tmp_path / "ckpt")},
        {"metrics": {"child": 1.0}}, {"metrics": {"parent": 1.0}},
    ]


@pytest.mark.parametrize("decision", ["stop", "pause"])
def test_a_stopped_script_ends_cleanly(host: Host, tmp_path: Path, decision: str) -> None:
    host.answers = [{"decision": decision}]
    done = run("""
try:
    try:
        tunehost.report(loss=1)
    except Exception:
        print("taken for a failure")
    print("goes on")
finally:
    print("cleans up")
""", tmp_path, TUNEHOST_CHANNEL=host.path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "cleans up\n", "")


def test_a_stop_can_be_caught(host: Host, tmp_path: Path) -> None:
    host.answers = [{"decision": "pause"}, {"decision": "stop"}]
    done = run("""
for _ in range(2):
    try:
        tunehost.report(loss=1)
    except tunehost.Stopped as stop:
        print(stop.paused)
""", tmp_path, TUNEHOST_CHANNEL=host.path)
    assert done.stdout == "True\nFalse\n"


@pytest.mark.parametrize("answer, says", [
    ({"error": "no metrics"}, "the report was refused: no metrics"),
    (b"[1]\n", "the report was refused: invalid answer: [1]"),
    (b"{\n", "the report was refused: invalid answer: b'{\\n'"),
])
def test_a_report_that_fails(host: Host, tmp_path: Path, answer: Answer, says: str) -> None:
    host.answers = [answer]
    done = run("""
try:
    tunehost.report(loss=1)
except tunehost.ReportError as e:
    print(e)
tunehost.report(loss=2)  # the channel goes on
""", tmp_path, TUNEHOST_CHANNEL=host.path)
    assert done.stdout == says + "\n" and done.returncode == 0
    assert len(host.reports) == 2


SAVES_IF_STOPPED = """
try:
    try:
        tunehost.report(loss=1)
    except (Exception, tunehost.Stopped):
        print("taken for a decision, or a failure of the training")
finally:
    print("cleans up")
"""


def test_the_host_dies(host: Host, tmp_path: Path) -> None:
    """A report that nobody answers ends the script; it is neither a decision nor a failure."""
    host.answers = [b""]
    done = run(SAVES_IF_STOPPED, tmp_path, TUNEHOST_CHANNEL=host.path)
    said = "the report channel ended without an answer: the host is gone\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "cleans up\n", said)


def test_without_a_host(tmp_path: Path) -> None:
    """A host leaves a socket that nobody answers, or none."""
    left = str(tmp_path / "left")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(left)
    for path in left, str(tmp_path / "nowhere"):
        done = run(SAVES_IF_STOPPED, tmp_path, TUNEHOST_CHANNEL=path)
        assert (done.returncode, done.stdout) == (1, "cleans up\n")
        assert done.stderr.startswith("cannot report: ") and done.stderr.endswith(": the host is gone\n")


def test_a_channel_out_of_reach(tmp_path: Path) -> None:
    """What is wrong with the machine is no end of the host."""
    done = run("tunehost.report(loss=1)", tmp_path, TUNEHOST_CHANNEL=str(tmp_path / ("far" * 99)))
    assert done.returncode == 1 and "ReportError: cannot report: " in done.stderr


def test_alone(tmp_path: Path) -> None:
    """Outside of a trial the script runs by itself."""
    done = run("""
p = tunehost.params(lr=0.1)
with tunehost.new_checkpoint() as ckpt:
    (ckpt / "x").write_text("1")
tunehost.report(lr=p["lr"], nan=float("nan"), checkpoint=ckpt)
print(tunehost.checkpoint(), tunehost.seed(), tunehost.trial_dir())
""", tmp_path)
    first, second = done.stdout.splitlines()
    assert json.loads(first)["lr"] == 0.1 and json.loads(first)["nan"] == "NaN"
    assert second == f"None 0 {tmp_path}"
    assert done.returncode == 0 and done.stderr == ""


def test_in_a_trial(tmp_path: Path) -> None:
    (tmp_path / "params.json").write_text('{"lr": 0.5, "net": {"units": 3}, "bad": NaN}')
    done = run("print(tunehost.params(lr=1, batch=2), tunehost.checkpoint(), tunehost.seed(), tunehost.trial_dir())", tmp_path,
               TUNEHOST_PARAMS=str(tmp_path / "params.json"), TUNEHOST_CHECKPOINT="/c", TUNEHOST_SEED=str(2**64 - 1), TUNEHOST_TRIAL_DIR="/t")
    assert done.stdout == "{'lr': 0.5, 'batch': 2, 'net': {'units': 3}, 'bad': nan} /c 18446744073709551615 /t\n"


def test_new_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUNEHOST_CHECKPOINT_DIR", str(tmp_path / "c"))
    with tunehost.new_checkpoint() as a:
        (a / "model").write_text("1")
        inside = os.fspath(a)
        assert Path(inside).name.startswith(".new-")
    assert not os.path.exists(inside) and Path(a, "model").read_text() == "1" and (a / "model").exists()
    with tunehost.new_checkpoint() as b:
        pass
    assert os.fspath(a) != os.fspath(b)
    with pytest.raises(KeyboardInterrupt), tunehost.new_checkpoint() as c:
        raise KeyboardInterrupt
    assert not os.path.exists(c) and sorted(os.listdir(tmp_path / "c")) == sorted(Path(x).name for x in (a, b))


def test_imports_little(tmp_path: Path) -> None:
    done = run("""
import sys
print([m for m in ("grpc", "google.protobuf", "cryptography", "numpy") if m in sys.modules])
""", tmp_path)
    assert done.stdout == "[]\n"


def test_metrics() -> None:
    assert flatten({"a": {"b": 1}}, {"c": True + 0}).metrics == {"a/b": 1.0, "c": 1.0}
    with_big = flatten({"big": 10**400, "huge": [-(10**5000)], "x": 1}, {})  # no float has it
    assert (with_big.metrics, with_big.values) == ({"x": 1.0}, {"big": 10**400, "huge": ["-Infinity"]})
    beyond = "no metrics.*; big is a whole number of about 401 digits, which is beyond all floats"
    with pytest.raises(ValueError, match=beyond):
        flatten({"big": 10**400}, {})
    for metrics in ({}, {"a": "1"}, {"a": None}, {"a": True}, {"a": [1, 2]}):
        with pytest.raises(ValueError, match="no metrics"):
            flatten(metrics, {})
    with pytest.raises(ValueError, match="twice"):
        flatten({"a": 1}, {"a": 2})


def test_what_is_no_number_is_kept() -> None:
    r = flatten({"n": 1, "in": {"text": "é\udc80"}, "ok": True, "none": None, "list": [1, math.nan, {"b": (2,)}], "done": True,
                 "training_iteration": 4, "day": datetime.date(2026, 1, 2), "raw": b"x"}, {"iteration": 3.0})
    assert r.metrics == {"n": 1.0, "training_iteration": 4.0}
    assert r.values == {"in/text": "é?", "ok": True, "none": None, "list": [1, "NaN", {"b": [2]}], "day": "2026-01-02", "raw": "b'x'"}
    assert (r.done, r.iteration, r.left_out) == (True, 3, [])
    assert flatten({"n": 1, "done": 1.0, "iteration": 0}, {}).metrics == {"n": 1.0, "done": 1.0, "iteration": 0.0}
    assert flatten({"n": 1, "long": "x" * 70_000, "short": "x"}, {}).left_out == ["long"]


def test_numbers_of_libraries() -> None:
    numpy = pytest.importorskip("numpy")
    r = flatten({"a": numpy.float32(0.5), "b": numpy.int64(2), "c": numpy.array(3), "ok": numpy.bool_(True), "list": numpy.array([1, 2]),
                 "text": numpy.str_("x"), "e": decimal.Decimal("1.5"), "f": fractions.Fraction(1, 2)}, {})
    assert r.metrics == {"a": 0.5, "b": 2.0, "c": 3.0, "e": 1.5, "f": 0.5}
    assert r.values == {"ok": True, "list": [1, 2], "text": "x"}


def test_values_go_over_the_channel(host: Host, tmp_path: Path) -> None:
    done = run("""
tunehost.report(loss=1, note="x", tags=["a", float("nan")], done=True, training_iteration=2)
tunehost.report(loss=1, long="x" * 70_000)
""", tmp_path, TUNEHOST_CHANNEL=host.path)
    assert host.reports == [
        {"metrics": {"loss": 1.0, "training_iteration": 2.0, "note": "x", "tags": ["a", "NaN"]}, "iteration": 2, "done": True}, {"metrics": {"loss": 1.0}}]
    assert done.returncode == 0 and "UserWarning: long: left out" in done.stderr


@pytest.mark.parametrize("iteration", [0, -1, 1.5, True])
def test_iterations_that_are_none(iteration: Any) -> None:
    with pytest.raises(ValueError, match="a whole number from 1"):
        tunehost.report(loss=1, iteration=iteration)


class Mover(Host):
    """Takes each checkpoint before it answers, as tunehost does."""

    def _talk(self, conn: socket.socket) -> None:
        with conn, conn.makefile("rwb") as lines:
            for line in lines:
                self.reports.append(json.loads(line))
                path = Path(self.reports[-1]["checkpoint"])
                path.rename(path.parent / f"taken-{len(self.reports)}")
                answer = self.answers.pop(0) if self.answers else {"decision": "continue"}
                lines.write(json.dumps(answer).encode() + b"\n")
                lines.flush()


@pytest.mark.parametrize("ckpt", ["c", "c.path", "str(c.path)"])
def test_reported_inside_the_block(tmp_path: Path, ckpt: str) -> None:
    host = Mover(tmp_path)
    host.answers = [{"decision": "continue"}, {"decision": "stop"}]
    done = run(f"""
for i in range(3):
    with tunehost.new_checkpoint() as c:
        (c / "a").write_text(str(i))
        tunehost.report(accuracy=0.5, checkpoint={ckpt})
""", tmp_path, TUNEHOST_CHANNEL=host.path)
    assert (done.returncode, done.stderr) == (0, "")
    assert [r["metrics"] for r in host.reports] == [{"accuracy": 0.5}] * 2
    assert not any(Path(r["checkpoint"]).name.startswith(".") for r in host.reports)
    taken = tmp_path / "checkpoints"
    assert sorted(p.name for p in taken.iterdir()) == ["taken-1", "taken-2"]
    assert [(taken / f"taken-{i}" / "a").read_text() for i in (1, 2)] == ["0", "1"]


def test_reported_inside_the_block_alone(tmp_path: Path) -> None:
    done = run("""
with tunehost.new_checkpoint() as c:
    (c / "a").write_text("x")
    tunehost.report(accuracy=0.5, checkpoint=c)
print((c / "a").read_text())
""", tmp_path)
    assert done.returncode == 0 and done.stdout.endswith("\nx\n"), done.stderr


@pytest.mark.parametrize("value", [0.5, 0, [1.0], "acc"])
def test_a_metric_has_a_name(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^a metric has a name: write report\(accuracy=0.5\), not report\("):
        tunehost.report(value)


@pytest.mark.parametrize(
    "metrics, says",
    [
        ({"": 1}, "a metric has no name"),
        ({"a\tb": 1}, "has an unprintable character"),
        ({"é" * 65: 1}, "is longer than 128 bytes"),
        ({"a": {"b" * 127: 1}}, "is longer than 128 bytes"),
        ({str(i): i for i in range(10_001)}, "a report has 10001 metrics; at most 10000"),
    ],
)
def test_names_that_the_host_refuses_are_refused_at_the_report(metrics: Dict[str, int], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        flatten(metrics, {})
    assert flatten({"é" * 64: 1, "a": {"b" * 126: 1}}, {}).metrics
