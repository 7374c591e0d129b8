"""Experiments that were renamed, moved or copied: each goes on where it is, and touches no other."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import tunehost
from tunehost import _binary, tune
from tunehost.tune import _experiment, _moved
from tunehost.tune.error import TuneError
from tunehost.tune.schedulers import TrialScheduler
from tunehost.tune.search import Searcher


def fails_once(config):
    """A checkpoint, a failure until the test says that all is good, and the rest from the checkpoint."""
    made = tune.get_checkpoint()
    with tune_dir() as dir:
        Path(dir, "x").write_text(str(config["x"]))
        if not made:
            tune.report({"loss": 9}, checkpoint=tune.Checkpoint.from_directory(dir))
    if not os.path.exists(config["good"]):
        raise ValueError("on purpose")
    restored = "" if made is None else Path(made.path, "x").read_text()
    tune.report({"loss": config["x"], "ran": os.getcwd(), "restored": restored})


def tune_dir():
    import tempfile

    return tempfile.TemporaryDirectory()


def begin(tmp_path, **more):
    """An experiment of two trials that fail until there is a file."""
    tuner = tune.Tuner(
        fails_once,
        param_space={"x": tune.grid_search([1, 2]), "good": str(tmp_path / "good")},
        tune_config=tune.TuneConfig(metric="loss", mode="min"),
        run_config=tune.RunConfig(name="first", storage_path="kept", verbose=0, **more),
    )
    assert tuner.fit().num_errors == 2
    Path("good").touch()


def files(dir):
    """All that is in a directory, and when it was written."""
    found = [path for path in sorted(Path(dir).rglob("*")) if path.is_file()]
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in found}


def warnings_in(text):
    """All but that others use the machine."""
    return [line for line in text.splitlines() if "warning" in line and "this machine has" not in line]


def ran_in(results, dir):
    """Whether all trials have ended well in a directory, from their checkpoints."""
    home = os.path.realpath(dir)
    assert results.num_errors == 0 and len(results) == 2
    for result in results:
        assert os.path.realpath(result.path).startswith(home + os.sep)
        assert result.metrics["ran"].startswith(home + os.sep), result.metrics
        assert result.metrics["restored"] == str(result.config["x"])
    return True


def test_a_copy_goes_on_by_itself_and_so_does_the_original(tmp_path, capfd):
    begin(tmp_path)
    shutil.copytree("kept/first", "kept/copy", symlinks=True)
    before = files("kept/first")
    copy = tune.Tuner.restore("kept/copy", fails_once, resume_errored=True)
    assert copy.get_results().num_errors == 2
    assert ran_in(copy.fit(), "kept/copy")
    assert files("kept/first") == before
    assert ran_in(tune.Tuner.restore("kept/first", fails_once, resume_errored=True).fit(), "kept/first")
    assert not warnings_in(capfd.readouterr().err)


def test_what_was_moved_and_copied_again(tmp_path):
    begin(tmp_path)
    os.rename("kept", "new")
    shutil.copytree("new/first", "new/second", symlinks=True)
    results = tune.run(fails_once, name="first", storage_path="new", resume="AUTO+ERRORED", verbose=0)
    assert {t.status for t in results.trials} == {"TERMINATED"}
    shutil.copytree("new/second", "third/here/x", copy_function=shutil.copyfile)  # as a download has it
    shutil.rmtree("new")
    assert ran_in(tune.Tuner.restore("third/here/x", resume_errored=True).fit(), "third/here/x")
    assert not os.path.exists("kept") and not os.path.exists("new")


def test_trials_that_begin_again_do_so_in_the_copy(tmp_path):
    begin(tmp_path)
    shutil.copytree("kept/first", "kept/copy", symlinks=True)
    before = files("kept/first")
    results = tune.Tuner.restore("kept/copy", fails_once, restart_errored=True).fit()
    assert results.num_errors == 0 and all("/kept/copy/" in r.metrics["ran"] for r in results)
    assert files("kept/first") == before


def quadratic(p):
    return (p["x"] - 3) ** 2


def test_minimize_continues_a_copy_with_another_name_and_more_trials(capfd):
    space = {"x": tune.uniform(0, 10)}
    tunehost.minimize(quadratic, space, 4, searcher="random", seed=1, name="first", storage="kept", verbose=0)
    shutil.copytree("kept/first", "other/copy", symlinks=True)
    before = files("kept")
    more = {"searcher": "random", "seed": 1, "storage": "other", "name": "copy", "resume": True}
    for trials in (6, 8):
        best = tunehost.minimize(quadratic, space, trials, **more)
        assert len(list(best.experiment.trials())) == trials
        assert all(os.path.realpath("other/copy") in t["dir"] for t in best.experiment.trials())
    assert files("kept") == before
    assert not warnings_in(capfd.readouterr().err)


class Odd(Searcher):
    """Suggests what no parameter of the space is, which is kept in a file."""

    def suggest(self, trial_id):
        return {"x": 0.5, "odd": {"of": trial_id}}

    def on_trial_complete(self, trial_id, result=None, error=False):
        pass


class Places(TrialScheduler):
    """Fails where a trial is not in the directory that the environment names."""

    def on_trial_result(self, controller, trial, result):
        check(trial)
        return self.CONTINUE

    def on_trial_complete(self, controller, trial, result):
        check(trial)

    def on_trial_error(self, controller, trial):
        check(trial)

    def on_trial_add(self, controller, trial):
        check(trial)

    def on_trial_remove(self, controller, trial):
        check(trial)

    def choose_trial_to_run(self, controller):
        return None


class Heard(tune.Callback):
    def on_trial_result(self, iteration, trials, trial, result, **info):
        for one in trials:
            assert one.path
            check(one)

    def on_checkpoint(self, iteration, trials, trial, checkpoint, **info):
        check(trial)


def check(trial):
    home = os.environ["HOME_OF_TRIALS"]
    assert trial.path is None or trial.path.startswith(home + os.sep), trial.path
    assert trial.checkpoint is None or trial.checkpoint.path.startswith(home + os.sep), trial.checkpoint


def odd(config):
    made = tune.get_checkpoint()
    for i in range(2 if made else 0, 4):
        if i == 2 and not os.path.exists(config["good"]):
            raise ValueError("on purpose")
        with tune_dir() as dir:
            tune.report({"loss": i, "odd": config["odd"]["of"]}, checkpoint=tune.Checkpoint.from_directory(dir))


def test_searchers_schedulers_and_callbacks_of_the_user_move_along(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME_OF_TRIALS", os.path.realpath(tmp_path / "kept" / "first"))
    first = tune.Tuner(
        odd,
        param_space={"x": tune.uniform(0, 1), "good": str(tmp_path / "good")},
        tune_config=tune.TuneConfig(metric="loss", mode="min", num_samples=2, search_alg=Odd(), scheduler=Places()),
        run_config=tune.RunConfig(name="first", storage_path="kept", verbose=0, callbacks=[Heard()]),
    )
    assert first.fit().num_errors == 2
    Path("good").touch()
    os.rename("kept", "new")
    monkeypatch.setenv("HOME_OF_TRIALS", os.path.realpath(tmp_path / "new" / "first"))
    results = tune.Tuner.restore("new/first", odd, resume_errored=True).fit()
    assert results.num_errors == 0
    for result in results:
        assert result.metrics["odd"] == result.trial_id == result.config["odd"]["of"]
        assert len(result.results) == 4


def test_the_file_of_a_copy_names_the_copy(tmp_path):
    begin(tmp_path, callbacks=[tune.Callback()])
    then = tune.Tuner.restore("kept/first").to_yaml()
    shutil.copytree("kept/first", "new/second", symlinks=True)
    now = tune.Tuner.restore("new/second").to_yaml()
    was, is_ = os.path.realpath("kept/first"), os.path.realpath("new/second")
    expected = then.replace(was, is_).replace("name: \"first\"", "name: \"second\"")
    assert now == expected.replace(f'storage: "{os.path.dirname(was)}"', f'storage: "{os.path.dirname(is_)}"')
    assert is_ in now and was not in now


def test_both_at_once(tmp_path):
    begin(tmp_path)
    shutil.copytree("kept/first", "kept/copy", symlinks=True)
    code = textwrap.dedent(
        """
        import sys
        from tunehost import tune
        results = tune.Tuner.restore(sys.argv[1], meets, resume_errored=True).fit()
        assert results.num_errors == 0, results.errors
        """
    )
    head = "import os, time\nfrom pathlib import Path\nfrom tunehost import tune\n"
    head += textwrap.dedent(
        """
        def meets(config):
            mine = os.getcwd().split("/kept/")[1].split("/")[0]
            Path(config["good"] + "-" + mine).touch()
            while not all(os.path.exists(config["good"] + "-" + one) for one in ("first", "copy")):
                time.sleep(0.02)
            tune.report({"loss": config["x"]})
        """
    )
    Path("script.py").write_text(head + code)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}  # of the module whose function the experiment has
    both = [subprocess.Popen([sys.executable, "script.py", f"kept/{name}"], env=env) for name in ("first", "copy")]
    assert [one.wait(120) for one in both] == [0, 0]


PROJECT = """
from tunehost import tune
import helper

if __name__ == "__main__":
    tune.Tuner(
        helper.train,
        param_space={"x": tune.grid_search([1, 2])},
        tune_config=tune.TuneConfig(metric="loss", mode="min"),
        run_config=tune.RunConfig(name="first", verbose=0),
    ).fit()
"""
HELPER = """
import os
from tunehost import tune

def train(config):
    if not os.path.exists(os.path.join(os.path.dirname(__file__), "good")):
        raise ValueError("on purpose")
    tune.report({"loss": config["x"], "code": __file__})
"""


@pytest.mark.parametrize("copied", [False, True])
def test_a_project_goes_on_from_the_command_line(tmp_path, copied):
    """Modules beside the script are those of the project where it is now."""
    os.mkdir("old")
    Path("old", "script.py").write_text(PROJECT)
    Path("old", "helper.py").write_text(HELPER)
    subprocess.run([sys.executable, "script.py"], cwd="old", check=True)
    shutil.copytree("old", "new", symlinks=True)
    before = files("old")
    if not copied:
        shutil.rmtree("old")
    Path("new", "good").touch()
    run = [_binary.find(), "resume", "new/results/first", "--errored", "-v", "0"]
    subprocess.run(run, check=True)
    results = tune.ResultGrid("new/results/first")
    assert results.num_errors == 0
    assert {r.metrics["code"] for r in results} == {os.path.realpath("new/helper.py")}
    assert files("old") == (before if copied else {})


def test_another_machine_has_its_interpreter_elsewhere(tmp_path, monkeypatch):
    own = tmp_path / "python"
    own.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    own.chmod(0o700)
    with monkeypatch.context() as m:
        m.setattr(_experiment.sys, "executable", str(own))
        begin(tmp_path)
    own.unlink()
    os.rename("kept", "new")
    assert ran_in(tune.Tuner.restore("new/first", fails_once, resume_errored=True).fit(), "new/first")


def test_another_machine_has_another_interpreter(tmp_path):
    """It is refused where the experiment began, and runs a copy: it runs the script that continues it."""
    begin(tmp_path)
    lock = Path("kept/first/tunehost.lock")
    was = next(sum for p in json.loads(lock.read_text())["plugins"] for sum in _sums(p) if sum)
    lock.write_text(lock.read_text().replace(was, "0" * 64))
    shutil.copytree("kept/first", "kept/copy", symlinks=True)
    with pytest.raises(TuneError, match="is not the one that this experiment began with"):
        tune.Tuner.restore("kept/first", fails_once, resume_errored=True).fit()
    assert ran_in(tune.Tuner.restore("kept/copy", fails_once, resume_errored=True).fit(), "kept/copy")


def _sums(plugin):
    return [plugin.get("files", {}).get(sys.executable)]


def test_a_copy_of_one_that_runs_does_not_ask_its_script(tmp_path):
    """The file that says where the script listens is copied, too."""
    from tunehost.tune import _heard, _listening

    for name in ("first", "copy"):
        (tmp_path / name / "state").mkdir(parents=True)
    listener = _listening.Listener(tmp_path / "first")
    shutil.copy(tmp_path / "first" / _heard.FILE, tmp_path / "copy" / _heard.FILE)
    try:
        assert _heard._connected(tmp_path / "first") is not None
        assert _heard._connected(tmp_path / "copy") is None
        os.rename(tmp_path / "first", tmp_path / "gone")
        assert _heard._connected(tmp_path / "copy") is None
    finally:
        os.rename(tmp_path / "gone", tmp_path / "first")
        listener.close()


def test_an_experiment_without_a_manifest_is_where_it_began(tmp_path):
    assert _moved.begun(tmp_path) == tmp_path and not _moved.has_moved(tmp_path)
