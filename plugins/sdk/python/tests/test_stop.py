"""SIGTERM in scripts: a Stopped in the main thread of the trial's own process, and nowhere else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Dict

import pytest

from test_script import Host, host  # noqa: F401  (a fixture)

ROOT = str(Path(__file__).parent.parent)
LONG = """
def epoch():
    print("begun", flush=True)
    while True: pass
"""


def environment(**more: str) -> Dict[str, str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("TUNEHOST")}
    return {**clean, "PYTHONPATH": ROOT, **more}


class Script:
    """A script that runs, and prints "begun" when the test may stop it."""

    def __init__(self, code: str, dir: Path, **more: str) -> None:
        file = dir / "script.py"
        file.write_text(code)
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([sys.executable, str(file)], cwd=dir, text=True, stdin=pipe, stdout=pipe, stderr=pipe,
                                        env=environment(TUNEHOST_TRIAL_ID="00000", **more))

    def line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline()

    def stop(self) -> None:
        assert self.line() == "begun\n"
        self.process.send_signal(signal.SIGTERM)

    def end(self) -> "tuple[int, str, str]":
        out, err = self.process.communicate(timeout=300)
        return self.process.returncode, out, err


def stopped(code: str, dir: Path, **more: str) -> "tuple[int, str, str]":
    script = Script(code, dir, **more)
    script.stop()
    return script.end()


def test_a_long_epoch_is_stopped_and_cleans_up(tmp_path: Path) -> None:
    """B-150: no failure, no traceback; 143 says that a signal has ended it."""
    assert stopped("import tunehost" + LONG + """
try:
    try:
        epoch()
    except Exception:
        print("taken for a failure")
finally:
    print("cleans up")
""", tmp_path) == (143, "cleans up\n", "")


def test_sleeping_is_interrupted_and_a_stop_can_be_caught(tmp_path: Path) -> None:
    assert stopped("""
import time, tunehost
try:
    print("begun", flush=True)
    time.sleep(1000)
except tunehost.Stopped as stop:
    print(stop.paused)
print("saves its model")
""", tmp_path) == (0, "False\nsaves its model\n", "")


@pytest.mark.parametrize("first", ["signal", "answer"])
def test_a_second_stop_does_not_disturb_the_cleanup(host: Host, tmp_path: Path, first: str) -> None:  # noqa: F811
    """B-150: neither after a signal nor after the answer to a report."""
    host.answers = [{"decision": "stop"}]
    script = Script("import tunehost" + LONG + f"""
try:
    epoch() if {first == "signal"} else tunehost.report(loss=1)
finally:
    print("cleaning", flush=True)
    input()
    print("clean")
""", tmp_path, TUNEHOST_CHANNEL=host.path)
    if first == "signal":
        script.stop()
    assert script.line() == "cleaning\n"
    script.process.send_signal(signal.SIGTERM)
    script.process.stdin.write("\n")  # type: ignore[union-attr]
    assert script.end() == (143 if first == "signal" else 0, "clean\n", "")


def test_waiting_for_a_thread_is_interrupted(tmp_path: Path) -> None:
    assert stopped("""
import threading, time, tunehost
t = threading.Thread(target=time.sleep, args=(1000,), daemon=True)
t.start()
try:
    print("begun", flush=True)
    t.join()
finally:
    print("cleans up")
""", tmp_path) == (143, "cleans up\n", "")


def test_what_the_script_starts_has_the_default(tmp_path: Path) -> None:
    """Forks, spawned processes and other programs die of SIGTERM as ever."""
    code, out, err = stopped("""
import multiprocessing, os, signal, subprocess, sys, time, tunehost
def child():
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL: os.kill(os.getpid(), signal.SIGTERM)
if __name__ == "__main__":
    ends = []
    for method in ("fork", "spawn"):
        p = multiprocessing.get_context(method).Process(target=child)
        p.start(); p.join(); ends.append(p.exitcode)
    program = "import tunehost, os, signal; os.kill(os.getpid(), signal.SIGTERM)"
    ends.append(subprocess.run([sys.executable, "-c", program]).returncode)
    try:
        print("begun", flush=True)
        time.sleep(1000)
    finally: print(ends)
""", tmp_path)
    assert (code, out, err) == (143, "[-15, -15, -15]\n", "")


@pytest.mark.parametrize("before", [True, False])
def test_a_handler_of_the_user_stays(tmp_path: Path, before: bool) -> None:
    own = "import os, signal\nsignal.signal(signal.SIGTERM, lambda *_: (print('mine', flush=True), os._exit(7)))\n"
    code = own + "import tunehost\n" if before else "import tunehost\n" + own
    assert stopped(code + LONG + "epoch()", tmp_path) == (7, "mine\n", "")


def test_ignored_stays_ignored(tmp_path: Path) -> None:
    script = Script("""
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
import tunehost
print("begun", flush=True)
print(input())
""", tmp_path)
    script.stop()
    script.process.stdin.write("goes on\n")  # type: ignore[union-attr]
    assert script.end() == (0, "goes on\n", "")


def test_without_the_sdk_or_outside_of_a_trial_nothing_changes(tmp_path: Path) -> None:
    assert stopped(LONG + "epoch()", tmp_path) == (-15, "", "")
    code = "import tunehost, os, signal; os.kill(os.getpid(), signal.SIGTERM)"
    alone = subprocess.run([sys.executable, "-c", code], env=environment())
    assert alone.returncode == -15


def test_imported_in_a_thread_it_is_the_first_report_that_listens(host: Host, tmp_path: Path) -> None:  # noqa: F811
    assert stopped("""
import threading
t = threading.Thread(target=lambda: __import__("tunehost")); t.start(); t.join()
import tunehost
tunehost.report(loss=1)
""" + LONG + """
try: epoch()
finally: print("cleans up")
""", tmp_path, TUNEHOST_CHANNEL=host.path) == (143, "cleans up\n", "")


def test_a_half_made_checkpoint_goes_with_the_stop(tmp_path: Path) -> None:
    code, _, err = stopped("import tunehost" + LONG + """
with tunehost.new_checkpoint() as c:
    (c / "model").write_text("half")
    epoch()
""", tmp_path)
    assert (code, err, os.listdir(tmp_path / "checkpoints")) == (143, "", [])
