"""An experiment that runs, and others who want to continue it."""

import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

import tunehost
from tunehost import _binary, tune
from tunehost.tune import _callbacks, _holding
from tunehost.tune.error import TuneError


def train(config):
    """Three results, and three more when the test says so."""
    for i in range(1, 7):
        while i == 4 and not os.path.exists(config["go"]):
            time.sleep(0.02)
        tune.report({"loss": config["x"] + i, "i": i})


class Notes(tune.Callback):
    """Writes down what it hears, and changes it."""

    def __init__(self, file):
        self.file = file

    def note(self, *what):
        with open(self.file, "a") as f:
            print(*what, file=f)

    def setup(self, **info):
        self.note("setup")

    def on_trial_result(self, iteration, trials, trial, result, **info):
        result["seen"] = result["i"] + 1
        self.note(trial.trial_id, result["i"])

    def on_trial_start(self, iteration, trials, trial, **info):
        if os.path.exists(f"{self.file}.interrupts"):
            os.remove(f"{self.file}.interrupts")
            os.kill(os.getpid(), signal.SIGINT)

    def on_trial_complete(self, iteration, trials, trial, **info):
        self.note(trial.trial_id, "complete")

    def on_experiment_end(self, trials, **info):
        while os.path.exists(f"{self.file}.holds"):
            time.sleep(0.02)


def wait_for(what):
    end = time.monotonic() + 30
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def running(tmp_path):
    """An experiment whose first trial waits, in a thread, as another process would run it; and what it has returned."""
    config = tune.RunConfig(name="held", storage_path="kept", verbose=0, callbacks=[Notes(str(tmp_path / "heard"))])
    first = tune.Tuner(
        train,
        param_space={"x": tune.grid_search([1, 2]), "go": str(tmp_path / "go")},
        tune_config=tune.TuneConfig(metric="loss", mode="min", max_concurrent_trials=1),
        run_config=config,
    )
    found = []
    thread = threading.Thread(target=lambda: found.append(first.fit()))
    thread.start()
    try:
        wait_for(lambda: heard().count("\n") == 4 and Path("kept/held/tune/state/callbacks.pkl").exists())
        yield found, thread
    finally:
        Path("go").touch()
        Path("heard.holds").unlink(missing_ok=True)
        thread.join()


def heard():
    return Path("heard").read_text() if os.path.exists("heard") else ""


def files():
    """The files that a script writes, by their paths, but what it notes of events."""
    return {
        path: (path.stat().st_mtime_ns, path.read_bytes())
        for path in Path("kept/held/tune").rglob("*")
        if path.is_file() and path.name not in ("callbacks.pkl", "events.jsonl")
    }


def changed(config):
    tune.report({"loss": 0})


def again(**more):
    return tune.Tuner.restore("kept/held", changed, **more)


def test_a_script_that_is_refused_changes_nothing(running, capfd):
    """Its callbacks hear nothing, and trials of the first one still wait for those of the first one."""
    found, thread = running
    before, known = files(), heard()
    other = again(resume_unfinished=False, restart_errored=True)
    assert len(other.get_results()) == 2  # who only reads disturbs nobody
    program = subprocess.run([_binary.find(), "resume", os.path.realpath("kept/held")], capture_output=True, text=True)
    for refused in (
        other.fit,
        again().fit,
        lambda: tune.run(changed, name="held", storage_path="kept", resume="AUTO+ERRORED_ONLY", callbacks=[]),
    ):
        with pytest.raises(TuneError) as e:
            refused()
        assert f"tunehost: {e.value}\n" == program.stderr
    assert files() == before and heard() == known
    Path("go").touch()
    thread.join()
    assert len(found[0]) == 2 and not found[0].errors
    for result in found[0]:
        assert [(r["i"], r["seen"]) for r in result.results] == [(i, i + 1) for i in range(1, 7)]
    own = [f"{r.trial_id} {what}" for r in found[0] for what in (1, 2, 3, 4, 5, 6, "complete")]
    assert heard().splitlines() == ["setup", *own]


def test_a_script_that_still_calls_callbacks_has_the_experiment(running, monkeypatch):
    """Its host has ended; they would hear the end twice."""
    monkeypatch.setattr(_holding, "_SOON_S", 0.5)
    found, thread = running
    Path("heard.holds").touch()
    Path("go").touch()
    wait_for(lambda: _holding._host_of("kept/held") is None)
    with pytest.raises(TuneError, match=rf"/kept/held is in use by process {os.getpid()} on .*: stop that one first$"):
        again().fit()
    monkeypatch.setattr(_holding, "_SOON_S", 60)
    threading.Timer(0.5, os.remove, ("heard.holds",)).start()
    assert len(again().fit()) == 2  # which has nothing more to do
    thread.join()
    assert heard().count("complete") == 2


def test_minimize_that_is_refused_changes_nothing(tmp_path):
    def slow(params):
        while not (tmp_path / "go").exists():
            time.sleep(0.02)
        return params["x"]

    def run(f, **more):
        return tunehost.minimize(f, {"x": tune.uniform(0, 1)}, 2, name="held", storage="kept", verbose=0, **more)

    found = []
    thread = threading.Thread(target=lambda: found.append(run(slow, concurrency=2)))
    thread.start()
    try:
        wait_for(lambda: len(list(Path("kept/held/trials").glob("*"))) == 2)
        before = files()
        with pytest.raises(TuneError, match="is in use by process"):
            run(lambda params: 7, concurrency=1, resume=True)
        assert files() == before
    finally:
        (tmp_path / "go").touch()
        thread.join()
    assert found[0].value < 1


def test_minimize_of_an_experiment_that_just_begins():
    """Another name would make two of them."""
    os.makedirs("kept/held/tune")
    with _holding.Hold() as hold:
        hold.take("kept/held")
        with pytest.raises(TuneError, match=r"is in use by process \d+ on \S+, which is just beginning this"):
            tunehost.minimize(len, {"x": tune.uniform(0, 1)}, 2, name="held", storage="kept", resume=True)
    with pytest.raises(TuneError, match="that could continue: choose another name"):
        tunehost.minimize(len, {"x": tune.uniform(0, 1)}, 2, name="held", storage="kept", resume=True)


def test_a_folder_that_cannot_be_written(running, monkeypatch):
    """The error is one line."""
    found, thread = running
    Path("go").touch()
    thread.join()
    monkeypatch.setattr(_holding, "_FILE", "nowhere/LOCK")
    with pytest.raises(TuneError, match=r"^the experiment cannot continue in \S+/kept/held: .*: make it writable, "):
        again().fit()


def test_who_has_heard_of_events_in_a_run_that_fails_does_not_hear_them_again(running, monkeypatch):
    found, thread = running
    monkeypatch.setattr(_callbacks, "_KEEP_EVERY_S", 1e9)
    kept = Path("kept/held/tune/state/callbacks.pkl").read_bytes()
    Path("go").touch()
    thread.join()
    Path("kept/held/tune/state/callbacks.pkl").write_bytes(kept)  # as after a crash
    with pytest.raises(TuneError, match="resources"):
        other = tune.Tuner.restore("kept/held")
        other._flags += ["--resources", "cpu=nothing"]
        other.fit()
    tune.Tuner.restore("kept/held").fit()
    assert heard().count("complete") == 4


def test_ctrl_c_in_a_callback_takes_no_events_from_it(running):
    """What was read with the one that it interrupts is heard as well."""
    found, thread = running
    Path("go").touch()
    thread.join()
    Path("kept/held/tune/state/callbacks.pkl").unlink()  # all events come again, and together
    os.remove("heard")
    Path("heard.interrupts").touch()
    caller = _callbacks.Caller(os.path.realpath("kept/held"), tune.Tuner.restore("kept/held")._settings)
    caller.begin()
    with pytest.raises(KeyboardInterrupt):
        caller.look()
    caller.end()
    assert heard().count("complete") == 2 and heard().count("\n") == 1 + 2 * 7
