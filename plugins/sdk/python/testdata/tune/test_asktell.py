"""Trials that the caller trains. asktell_test.go starts this with the program."""

import asyncio
import copy
import dataclasses
import multiprocessing
import os
import pickle
import queue
import re
import subprocess
import sys
import threading
import time
import types
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

import tunehost
from tunehost import tune

SPACE = {"x": tune.uniform(0, 10), "f": tune.choice([abs, len])}


class Mine(tune.search.Searcher):
    pass


def loss(params):
    return (params["x"] - 3) ** 2


def test_ask_and_tell():
    """Parameters are the objects of the space; what is told is recorded, and read while the session runs."""
    with tunehost.AskTell(SPACE, metric="loss", mode="min", trials=12, name="mine", seed=1) as experiment:
        for trial in experiment:
            assert trial.params["f"] in (abs, len) and trial.resume_from == 0
            assert experiment.tell(trial, {"loss": loss(trial.params), "deep": {"size": 1}}) is None
        assert experiment.ask() is None
        best = experiment.best()
        assert best["value"] == min(t["metrics"]["loss"] for t in experiment.trials())
        assert len(experiment.trials()) == 12 and experiment.trials()[0]["metrics"]["deep/size"] == 1
    assert tunehost.Experiment.open("results/mine").status()["state"] == "finished"


def test_without_a_record():
    """With storage="none" the best trial is told by the session, also after its end, and nothing else is read."""
    space = {"x": tune.uniform(0, 10)}
    with tunehost.AskTell(space, metric="loss", mode="min", trials=5, storage="none", seed=1) as experiment:
        assert experiment.best() is None
        told = []
        for trial in experiment:
            if trial.number == 0:
                experiment.fail(trial)
            else:
                experiment.tell(trial, {"loss": loss(trial.params)})
                told.append((loss(trial.params), trial.id, trial.params))
        least, id, params = min(told)
        want = {"trial": id, "params": params, "metrics": {"loss": least}, "value": least}
        assert experiment.best() == want == experiment.best("loss")
    assert experiment.best() == want
    for ask in (experiment.trials, experiment.status, experiment.front, lambda: experiment.best(scope="max")):
        with pytest.raises(tunehost.AskError, match="records nothing, so there is only best()"):
            ask()
    assert not os.path.exists("none")


def test_what_is_refused_leaves_no_pipes():
    script = (
        "import tunehost\n"
        "try: tunehost.AskTell({'x': 1}, metric='loss', mode='min', trails=3)\n"
        "except tunehost.AskError as e: print(e)\n"
    )
    done = subprocess.run([sys.executable, "-X", "dev", "-c", script], capture_output=True, text=True)
    assert 'did you mean "trials"?' in done.stdout and "ResourceWarning" not in done.stderr


def test_it_continues():
    """What was told before a kill -9 counts, and what was not told is handed out again."""
    script = (
        "import os, tunehost; from tunehost import tune\n"
        "e = tunehost.AskTell({'x': tune.uniform(0, 1)}, metric='loss', mode='min', trials=4, name='kept', seed=1)\n"
        "first, second = e.ask(), e.ask()\n"
        "e.tell(first, 1.0); e.report(second, 0.5)\n"
        "print(second.id, flush=True); os.kill(os.getpid(), 9)"
    )
    died = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert died.returncode == -9
    space = {"x": tune.uniform(0, 1)}
    with tunehost.AskTell(space, metric="loss", mode="min", trials=4, name="kept", seed=1) as experiment:
        asked = list_of(experiment)
        assert asked[0].id == died.stdout.strip() and asked[0].resume_from == 1
        assert len(asked) == 3 and len(experiment.trials()) == 4
        assert experiment.trials()[0]["metrics"]["loss"] == 1


@pytest.mark.parametrize(
    "space, differs",
    [
        ({"x": tune.uniform(0, 2), "c": tune.choice([1, 2])}, "changed: x"),
        ({"x": tune.uniform(0, 1), "c": tune.choice([{"a": tune.uniform(0, 1)}, 2])}, "changed: c; only here: c_0"),
        ({"x": tune.uniform(0, 1), "c": tune.choice([1, 2]), "y": 1}, "only here: y"),
        ({"c": tune.choice([1, 2])}, "only there: x"),
        ({"d": 1}, "only there: x, c; only here: d"),
    ],
)
def test_another_space_is_another_experiment(space, differs):
    first = {"x": tune.uniform(0, 1), "c": tune.choice([1, 2])}
    for _ in range(2):  # the same space continues
        with tunehost.AskTell(first, metric="loss", mode="min", trials=4, name="one") as experiment:
            experiment.tell(experiment.ask(), 1.0)
    with pytest.raises(tunehost.AskError) as raised:
        tunehost.AskTell(space, metric="loss", mode="min", trials=4, name="one")
    says = f"the experiment 'one' has begun with another space ({differs}): choose another name"
    assert str(raised.value) == says


def test_a_program_that_was_killed_says_how_to_continue():
    experiment = tunehost.AskTell({"x": tune.uniform(0, 1)}, metric="loss", mode="min", trials=4, name="killed")
    os.kill(experiment._program._child.pid, 9)
    with pytest.raises(tunehost.AskError, match=r"ended by signal 9 \(SIGKILL\); AskTell with the same arguments"):
        experiment.ask()
    experiment.close()


def test_what_interrupts_a_request_ends_the_session(monkeypatch):
    """Such as the handler of a signal: its answer would be taken for that of the next request."""

    def interrupted():
        raise TimeoutError("an alarm")

    with tunehost.AskTell({"x": tune.uniform(0, 1)}, metric="loss", mode="min", trials=4, name="cut") as experiment:
        with monkeypatch.context() as patched:
            patched.setattr(experiment._program, "_child", Interrupted(experiment._program._child, interrupted))
            with pytest.raises(TimeoutError, match="an alarm"):
                experiment.ask()
        with pytest.raises(tunehost.AskError, match="the session was closed: make another AskTell with the same name"):
            experiment.ask()


class Interrupted:
    """A process whose answers are cut short."""

    def __init__(self, child, readline):
        self.stdin, self.wait = child.stdin, child.wait
        self.stdout = types.SimpleNamespace(readline=readline, close=child.stdout.close)


def test_grids_alone_end():
    """As in an experiment file: each combination once."""
    space = {"a": tune.grid_search([1, 2, 3]), "b": {"c": tune.grid_search([4, 5])}, "d": 6}
    with tunehost.AskTell(space, metric="loss", mode="min", storage="none") as experiment:
        found = [(t.params["a"], t.params["b"]["c"]) for t in list_of(experiment)]
    assert sorted(found) == [(a, c) for a in (1, 2, 3) for c in (4, 5)]
    with tunehost.AskTell({**space, "x": tune.uniform(0, 1)}, metric="loss", mode="min", storage="none") as experiment:
        for _ in range(8):
            experiment.tell(experiment.ask(), 1)


@pytest.mark.parametrize("trials, made", [(6, 6), (12, 12), (1, 6), (7, 6), (None, 6)])
def test_trials_are_counted_with_grids(recwarn, trials, made):
    """trials is how many there are in all; a warning says where that cannot be."""
    space = {"a": tune.grid_search([1, 2, 3]), "b": {"c": tune.grid_search([4, 5])}}
    with tunehost.AskTell(space, metric="loss", mode="min", trials=trials, storage="none") as experiment:
        assert len(list_of(experiment)) == made
    says = f"trials={trials} makes 6 trials: the grids have 6 combinations, and each is tried once"
    assert [str(w.message) for w in recwarn] == ([] if made == trials or trials is None else [says])
    assert [os.path.basename(w.filename) for w in recwarn] in ([], ["test_asktell.py"])


def test_an_experiment_keeps_how_its_trials_were_counted(monkeypatch):
    """It has begun when trials was how often each combination is tried."""
    space = {"a": tune.grid_search([1, 2, 3])}
    with monkeypatch.context() as old:
        old.setattr("tunehost._grids.rounds", lambda trials, *_: trials)
        with tunehost.AskTell(space, metric="loss", mode="min", trials=2, name="old") as experiment:
            experiment.tell(experiment.ask(), 1.0)
    says = "trials=2 makes 6 trials: the experiment has begun with as many for each of the 3 combinations"
    with pytest.warns(UserWarning, match=says):
        experiment = tunehost.AskTell(space, metric="loss", mode="min", trials=2, name="old")
    assert len(list_of(experiment)) == 5
    experiment.close()


def test_values_that_the_record_has_as_texts_keep_their_types():
    space = {"c": tune.choice([None, 0.1, (1, [2, (3,)]), float("inf"), abs])}
    with tunehost.AskTell(space, metric="loss", mode="min", trials=20, name="typed", seed=1) as experiment:
        given = [trial.params["c"] for trial in list_of(experiment)]
        assert [t["params"]["c"] for t in experiment.trials()] == given
    read = [t["params"]["c"] for t in tunehost.Experiment.open("results/typed").trials()]
    assert read == ["abs" if value is abs else value for value in given] and {type(v) for v in read} >= {tuple, float}


def test_an_array_of_one_number_is_a_number():
    numpy = pytest.importorskip("numpy")
    with tunehost.AskTell({"x": tune.uniform(0, 1)}, "loss", "min", trials=4, storage="none") as experiment:
        for value in (numpy.array([3.5]), {"loss": numpy.array([[2]])}):
            experiment.tell(experiment.ask(), value)
        assert experiment.best()["value"] == 2
        for value in (numpy.array([1.0, 2.0]), True, numpy.array([True]), numpy.array(["1"])):
            with pytest.raises(ValueError, match="no metrics"):
                experiment.tell(experiment.ask() if value is True else "x", value)


def test_a_trial_that_was_forgotten_is_named():
    """Where no other thread could tell its result, waiting for it would never end."""
    script = (
        "import tunehost; from tunehost import tune\n"
        "with tunehost.AskTell({'x': tune.uniform(0, 1)}, 'loss', 'min', trials=2, storage='none') as e:\n"
        "    try:\n"
        "        for trial in e: pass\n"
        "    except tunehost.TellFirst as why: print(why)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100)
    assert re.match(r"waiting for the result of trial 0 \(\w+\), 1 \(\w+\), which was handed out and not told", done.stdout), done


def test_a_setting_that_cannot_be_written_leaves_no_process():
    script = (
        "import tunehost\n"
        "try: tunehost.AskTell({'x': 1}, metric='loss', mode='min', stop={'when': object()})\n"
        "except tunehost.AskError as e: print(e)\n"
    )
    done = subprocess.run([sys.executable, "-X", "dev", "-c", script], capture_output=True, text=True)
    assert "cannot be written into an experiment file" in done.stdout and "ResourceWarning" not in done.stderr


@pytest.fixture
def unrelated():
    """A thread of somebody else, as a notebook always has several."""
    end = threading.Event()
    threading.Thread(target=end.wait, daemon=True).start()
    yield
    end.set()


def test_unrelated_threads_tell_nothing(monkeypatch, unrelated):
    """In a notebook a cell before has forgotten a trial."""
    monkeypatch.setattr("tunehost._asktell._SAY_AFTER_S", 0.3)
    with tunehost.AskTell({"x": tune.uniform(0, 1)}, "loss", "min", trials=4, storage="none") as experiment:
        forgotten = experiment.ask()
        why = f"trial 0 \\({forgotten.id}\\), .* no other thread that goes on has asked for it or read its params"
        told = 0
        with pytest.raises(tunehost.TellFirst, match=why):
            for trial in experiment:
                experiment.tell(trial, {"loss": trial.params["x"]})
                told += 1
        assert told == 3
        experiment.tell(forgotten, 1.0)
        assert experiment.ask(wait=True) is None


def in_a_thread(f):
    """Carries out f for trials of a queue, in a thread."""
    trials = queue.Queue()
    threading.Thread(target=lambda: [f(trial) for trial in iter(trials.get, None)], daemon=True).start()
    return trials


@pytest.mark.parametrize("handed", ["the trial", "its id"])
def test_a_thread_that_was_handed_a_trial_tells_it_late(monkeypatch, unrelated, handed):
    """Two trials; each takes several times as long as a thread is waited for that has none. The second way becomes known
    with the first result."""
    monkeypatch.setattr("tunehost._asktell._SAY_AFTER_S", 1)
    computes, known = threading.Event(), threading.Event()

    def train(trial):
        if handed == "the trial":
            loss = trial.params["x"]
            known.set()
            computes.wait(3)
            experiment.tell(trial, loss)
        else:
            computes.wait(0.01 if trial.endswith("first") else 3)
            experiment.tell(trial.removesuffix("first"), 1.0)
            known.set()

    trials = in_a_thread(train)
    with tunehost.AskTell({"x": tune.uniform(0, 1)}, "loss", "min", trials=2, storage="none") as experiment:
        for trial in experiment:
            trials.put(trial if handed == "the trial" else trial.id + ("first" if trial.number == 0 else ""))
            assert known.wait(60)
        trials.put(None)
        assert experiment.best() is not None


def test_a_thread_that_has_asked_tells_late(monkeypatch):
    monkeypatch.setattr("tunehost._asktell._SAY_AFTER_S", 0.2)
    asked, waits = threading.Event(), threading.Event()
    with tunehost.AskTell({"x": tune.uniform(0, 1)}, "loss", "min", trials=1, storage="none") as experiment:

        def train():
            trial = experiment.ask()
            asked.set()
            waits.wait(2)
            experiment.tell(trial, 1.0)

        threading.Thread(target=train).start()
        asked.wait()
        assert experiment.ask(wait=True) is None


def test_threads_do_not_wait_for_each_other(monkeypatch):
    """Both have a trial, and ask for another one before they tell: one is told so, and the other then goes on."""
    monkeypatch.setattr("tunehost._asktell._SAY_AFTER_S", 0.2)
    both, whys, seen = threading.Barrier(2), [], []
    with tunehost.AskTell({"x": tune.uniform(0, 1)}, "loss", "min", trials=2, storage="none") as experiment:

        def asks():
            trial = experiment.ask()
            both.wait()
            try:
                seen.append(experiment.ask(wait=True))
            except tunehost.TellFirst as why:
                whys.append(str(why))
            experiment.tell(trial, trial.params["x"])

        threads = [threading.Thread(target=asks, daemon=True) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert whys and "no other thread that goes on has asked for it" in whys[0], (whys, seen)
        assert experiment.ask() is None


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_a_loop_feeds_a_pool(monkeypatch, pool):
    """The loop hands out as many trials as concurrency says, and waits for results however long they take."""
    monkeypatch.setattr("tunehost._asktell._SAY_AFTER_S", 0.1)
    settings = {"trials": 5, "storage": "none", "concurrency": 2}
    running = 0
    with pool(2) as workers, tunehost.AskTell({"x": tune.uniform(0, 1)}, "loss", "min", **settings) as experiment:

        def tell(future, trial):
            nonlocal running
            running -= 1
            experiment.tell(trial, future.result())

        for trial in experiment:
            running += 1
            assert running <= 2
            workers.submit(slowly, trial.params).add_done_callback(lambda future, trial=trial: tell(future, trial))
        assert experiment.best() is not None


def test_processes_that_are_forked_meanwhile():
    """They do not keep the program from ending, and cannot speak for the session."""
    said, ends = multiprocessing.get_context("fork").Pipe()
    with tunehost.AskTell({"x": tune.uniform(0, 1)}, "loss", "min", trials=1, storage="none") as experiment:
        trial = experiment.ask()

        def child():
            with pytest.raises(tunehost.AskError, match="the session is that of another process") as why:
                experiment.tell(trial, 1.0)
            ends.send(str(why.value))
            ends.recv()

        other = multiprocessing.get_context("fork").Process(target=child)
        other.start()
        assert said.poll(60) and said.recv()
        experiment.tell(trial, 2.0)
    assert experiment.best()["value"] == 2.0 and other.is_alive()
    said.send("end")
    other.join()


def slowly(params):
    time.sleep(0.6)
    return params["x"]


def test_trials_that_were_told_are_forgotten():
    with tunehost.AskTell({"x": tune.uniform(0, 1)}, "loss", "min", trials=3, storage="none") as experiment:
        trials = list_of(experiment)
        assert len({trial.params["x"] for trial in trials}) == 3
        assert experiment._hands._having == {}


def test_asking_waits_for_seconds(unrelated):
    with tunehost.AskTell({"x": tune.uniform(0, 1)}, "loss", "min", trials=1, storage="none") as experiment:
        trial = experiment.ask()
        with pytest.raises(tunehost.TellFirst, match="which was handed out and not told: call tell or fail"):
            experiment.ask(wait=0.1)
        threading.Timer(0.2, experiment.tell, (trial, 1.0)).start()
        assert experiment.ask(wait=100) is None


def test_a_trial_can_be_copied_and_pickled():
    with tunehost.AskTell({"x": tune.uniform(0, 1)}, "loss", "min", trials=1, storage="none") as experiment:
        trial = experiment.ask()
        assert pickle.loads(pickle.dumps(trial)) == copy.deepcopy(trial) == trial
        assert dataclasses.asdict(trial)["params"] == trial.params


def test_threads_that_wait_long_are_told_of_the_trial(monkeypatch, capfd):
    monkeypatch.setattr("tunehost._asktell._SAY_AFTER_S", 0.1)
    with tunehost.AskTell({"x": tune.uniform(0, 1)}, "loss", "min", trials=1, storage="none") as experiment:
        trial = experiment.ask()
        computes, known = threading.Event(), threading.Event()

        def late():
            loss = trial.params["x"]
            known.set()
            computes.wait(1)
            experiment.tell(trial, loss)

        threading.Thread(target=late).start()
        assert known.wait(60)
        assert experiment.ask(wait=True) is None
    assert f"tunehost: waiting for the result of trial 0 ({trial.id}), which was handed out" in capfd.readouterr().err


def test_warnings_have_no_words_of_the_command_line(capfd):
    for searcher in ("random", "tpe"):
        with tunehost.AskTell({"x": tune.uniform(0, 1)}, "loss", "min", trials=4, searcher=searcher, name="kept") as e:
            e.tell(e.ask(), 1)
    said = capfd.readouterr().err
    assert "warning: the change of searcher" in said and "stdin" not in said and "--" not in said


def test_runs_of_a_suggestion():
    pytest.importorskip("pandas")
    with tunehost.AskTell({"x": tune.uniform(0, 1)}, "loss", "min", trials=2, repeat=2, name="repeated") as experiment:
        for i, trial in enumerate(experiment):
            experiment.tell(trial, float(i))
        assert experiment.best()["value"] == 0.5
        assert list(experiment.dataframe()["suggestion"]) == [0, 0, 1, 1]


def test_the_best_without_a_record_is_a_mean():
    with tunehost.AskTell({"x": tune.uniform(0, 1)}, "loss", "min", trials=2, repeat=2, storage="none") as experiment:
        for i, trial in enumerate(experiment):
            experiment.tell(trial, float(i))
        assert experiment.best()["value"] == 0.5


def list_of(experiment):
    """All trials, each told."""
    found = []
    for trial in experiment:
        found.append(trial)
        experiment.tell(trial, 0.5)
    return found


def test_decisions():
    """A trial that is stopped needs no tell, and a tell for it does not count."""
    with tunehost.AskTell(
        {"x": tune.grid_search([1, 2])}, metric="loss", mode="min", stop={"iteration": 2}, searcher="grid"
    ) as experiment:
        trial = experiment.ask()
        assert experiment.report(trial, {"loss": 3.0}) == "continue"
        assert experiment.report(trial, {"loss": 2.0}) == "stop"
        other = experiment.ask()
        assert experiment.fail(other, "no memory") is None
        assert [t["state"] for t in experiment.trials()] == ["TERMINATED", "ERROR"]
        assert "no memory" in experiment.trials()[1]["error"]


def raised():
    try:
        raise ValueError("too\nhot")
    except ValueError as e:
        return e


@pytest.mark.parametrize("why, said", [
    (raised(), r"^ValueError: too hot \(.*test_asktell\.py:\d+\)$"), (MemoryError(), "^MemoryError$"), (None, "^failed$"),
    ("", "^failed$"), (137, "^137$"), (["a"], r"^\['a'\]$"), ({"a": 1}, "^{'a': 1}$"), (b"x", "^b'x'$"), ("x" * 2_000_000, "^x+"),
])
def test_any_reason_of_a_failure(why, said):
    """It is given where an exception is handled: another one would end the loop."""
    with tunehost.AskTell({"x": 1}, metric="loss", mode="min", trials=1, name="why") as experiment:
        experiment.fail(experiment.ask(), why)
        assert re.search(said, experiment.trials()[0]["error"])


@pytest.mark.parametrize("trial", [None, {"x": 1}, object()])
def test_what_is_no_trial(trial):
    with tunehost.AskTell({"x": 1}, metric="loss", mode="min", trials=1, storage="none") as experiment:
        for call in (experiment.tell, experiment.report, experiment.fail):
            with pytest.raises(tunehost.AskError, match="^the trial is .*: expected what ask returned, or its id$"):
                call(trial, 1.0)


@pytest.mark.parametrize("text", ['{"x', "\udcff", '{"trials": 1}x', "[]", '"x"', '{"space": null}', '{"space": [1]}', "{}", "",
                                  '{"space":' + "[" * 100_000])
def test_a_damaged_experiment_file(text):
    """One line of the program, whatever it has in the place of JSON."""
    space = {"x": tune.grid_search([1, 2])}
    tunehost.AskTell(space, metric="loss", mode="min", trials=2, name="damaged").close()
    file = Path("results/damaged/experiment.yaml")
    file.chmod(0o644)
    file.write_text(text, errors="surrogateescape")
    with pytest.raises(tunehost.AskError, match="experiment.yaml cannot be read: .*put it back from a copy$"):
        tunehost.AskTell(space, metric="loss", mode="min", trials=2, name="damaged")


def test_tell_first():
    """A grid of two points: the third ask needs a result, and with wait it waits for another thread's."""
    space = {"x": tune.grid_search([1, 2])}
    with tunehost.AskTell(space, metric="loss", mode="min", searcher="grid") as experiment:
        asked = [experiment.ask(), experiment.ask()]
        with pytest.raises(tunehost.TellFirst):
            experiment.ask()
        found = []
        waits = threading.Thread(target=lambda: found.append(experiment.ask(wait=True)))
        waits.start()
        for trial in asked:
            experiment.tell(trial, 1)
        waits.join(60)
        assert found == [None]


def test_several_objectives():
    with tunehost.AskTell({"x": tune.uniform(0, 1)}, metric={"a": "min", "b": "max"}, trials=3) as experiment:
        for trial in experiment:
            experiment.tell(trial, {"a": trial.params["x"], "b": -trial.params["x"]})
        assert len(experiment.front()) == 1
        with pytest.raises(TypeError, match="a dict with a, b"):
            experiment.tell("x", 1.0)


def test_conditional_parameters_are_those_of_the_trials():
    """Also where a value is an object, and where another process reads them."""
    values = [{"kind": "a", "x": tune.uniform(0, 10)}, {"kind": "b", "y": tune.uniform(0, 5)}]
    space = {"model": tune.choice(values), "f": tune.choice([abs, len])}
    for storage in ("none", None):
        given = []
        with tunehost.AskTell(space, metric="loss", mode="min", trials=6, name="cond", storage=storage) as experiment:
            for trial in experiment:
                given.append(trial.params)
                experiment.tell(trial, float(trial.number))
            assert experiment.best()["params"] == given[0]
    with tunehost.AskTell(space, metric="loss", mode="min", trials=6, name="cond") as experiment:
        assert [t["params"] for t in experiment.trials()] == given
        assert experiment.status()["best"]["params"] == given[0]
    read = tunehost.Experiment.open("results/cond")
    assert [t["params"]["model"] for t in read.trials()] == [p["model"] for p in given]
    assert {"params/model/kind", "params/f"} <= set(read.dataframe().columns)
    assert not [name for name in read.dataframe().columns if "model_" in name]


def test_mistakes():
    with pytest.raises(tunehost.AskError, match="there is no searcher"):
        tunehost.AskTell(SPACE, metric="loss", mode="min", searcher="nothing")
    with pytest.raises(tunehost.AskError, match="does not serve"):
        tunehost.AskTell(SPACE, metric="loss", mode="min", searcher=Mine())
    with tunehost.AskTell(SPACE, metric="loss", mode="min", name="m") as experiment:
        with pytest.raises(tunehost.AskError, match="no trial"):
            experiment.tell("nobody", 1.0)
        with pytest.raises(TypeError, match="is no number"):
            experiment.tell(experiment.ask(), {"loss": 1.0, "note": "text"})
        trial = experiment.ask()
        with pytest.raises(ValueError, match=r"^no metrics: write tell\(trial, {'loss': 0.9}\); loss is '1', which is not"):
            experiment.tell(trial, {"loss": "1"})
        with pytest.raises(ValueError, match=r"^no metrics: write report\(trial, {'loss': 0.9}\)"):
            experiment.report(trial, {})
        experiment.tell(trial, 2.0)  # the session goes on
    with pytest.raises(tunehost.AskError, match="was closed"):
        experiment.ask()


def test_one_session_at_a_time():
    with tunehost.AskTell(SPACE, metric="loss", mode="min", name="one"):
        with pytest.raises(tunehost.AskError, match="is in use by process"):
            tunehost.AskTell(SPACE, metric="loss", mode="min", name="one")


def test_asyncio():
    """Tasks share a session: those for whom there is no trial wait for the results of others."""

    async def train(experiment, done):
        async for trial in experiment:
            await asyncio.sleep(0.01 * trial.params["x"])
            if trial.number == 3:
                await experiment.fail(trial, "on purpose")
            elif await experiment.report(trial, 1.0) == "continue":
                await experiment.tell(trial, trial.params["x"])
            done.append(trial.id)

    async def main():
        done = []
        async with tunehost.AsyncAskTell({"x": tune.grid_search([1, 2, 3, 4, 5])}, metric="loss", mode="min",
                                         searcher="grid", name="tasks") as experiment:
            await asyncio.gather(*(train(experiment, done) for _ in range(8)))
            return done, experiment.reading.status()

    done, status = asyncio.run(main())
    assert len(set(done)) == 5 and status["counts"]["ERROR"] == 1
    with pytest.raises(tunehost.AskError, match="has not begun"):
        tunehost.AsyncAskTell({}, metric="loss", mode="min").reading


def in_tasks(f, trials):
    """Carries out f with a session of so many trials, within half a minute."""

    async def main():
        async with tunehost.AsyncAskTell({"x": tune.uniform(0, 1)}, "loss", "min", trials=trials, storage="none") as experiment:
            return await asyncio.wait_for(f(experiment), 30)

    return asyncio.run(main())


def test_a_task_does_not_wait_for_a_program_that_is_gone(monkeypatch, capfd):
    """Nobody tells anything any more then."""
    monkeypatch.setattr("tunehost._asktell._SAY_AFTER_S", 0.3)

    async def ask(experiment):
        trial = await experiment.ask()
        asks, said = asyncio.ensure_future(experiment.ask()), ""
        while "waiting for" not in said:
            await asyncio.sleep(0.05)
            said += capfd.readouterr().err
        await asyncio.sleep(1)  # it is looked several times again, and said once
        said += capfd.readouterr().err
        assert not asks.done() and said.count(f"waiting for the result of trial 0 ({trial.id})") == 1
        os.kill(experiment.reading._program._child.pid, 9)
        with pytest.raises(tunehost.AskError, match=r"ended by signal 9 \(SIGKILL\)"):
            await asks

    in_tasks(ask, trials=1)


def in_three_tasks(first):
    """Three tasks, the first of which does something else with its first trial."""

    async def works(experiment):
        async for trial in experiment:
            await asyncio.sleep(0.01)
            await experiment.tell(trial, trial.params["x"])

    async def works_first(experiment):
        await first(experiment, await experiment.ask())
        await works(experiment)

    return lambda experiment: asyncio.gather(works_first(experiment), works(experiment), works(experiment),
                                             return_exceptions=True)


@pytest.mark.parametrize("error", [ValueError, asyncio.CancelledError])
def test_tasks_do_not_wait_for_one_that_has_died(monkeypatch, error):
    monkeypatch.setattr("tunehost._asktell._SAY_AFTER_S", 0.3)

    async def dies(experiment, trial):
        raise error

    died, *others = in_tasks(in_three_tasks(dies), trials=8)
    assert isinstance(died, error) and all(isinstance(other, tunehost.TellFirst) for other in others)
    assert re.search(r"trial 0 \(\w+\), .*, and no other task that goes on has asked for it or read its params", str(others[0]))


def test_a_task_does_not_wait_for_itself(monkeypatch):
    monkeypatch.setattr("tunehost._asktell._SAY_AFTER_S", 0.3)

    async def forgets(experiment):
        await experiment.ask()
        with pytest.raises(tunehost.TellFirst):
            async for trial in experiment:
                await experiment.tell(trial, 1.0)
        with pytest.raises(tunehost.TellFirst):
            await experiment.ask(wait=False)
        with pytest.raises(tunehost.TellFirst, match="handed out and not told: call tell or fail for each trial$"):
            await experiment.ask(wait=0.1)

    in_tasks(forgets, trials=3)


async def trains(experiment, trial):
    await asyncio.sleep(1)
    await experiment.tell(trial, 1.0)


async def hands_it_to_a_task(experiment, trial):
    async def late():
        trial.params
        await trains(experiment, trial)

    experiment.kept = asyncio.ensure_future(late())


async def hands_it_to_a_thread(experiment, trial):
    loop, known = asyncio.get_running_loop(), threading.Event()

    def late():
        trial.params
        known.set()
        threading.Event().wait(1)
        asyncio.run_coroutine_threadsafe(experiment.tell(trial, 1.0), loop)

    threading.Thread(target=late).start()
    assert known.wait(60)


async def tells_slowly(experiment, trial):
    """By another task, that knows nothing but the id: the program takes long to answer."""
    tell = experiment.reading.tell

    def slow(told, metrics):
        if told == trial.id:
            threading.Event().wait(1)
        return tell(told, metrics)

    experiment.reading.tell = slow
    experiment.kept = asyncio.ensure_future(experiment.tell(trial.id, 1.0))


@pytest.mark.parametrize("first", [trains, hands_it_to_a_task, hands_it_to_a_thread, tells_slowly])
def test_tasks_wait_for_one_that_trains_long(monkeypatch, first):
    """Several times as long as is waited for a trial that nobody has."""
    monkeypatch.setattr("tunehost._asktell._SAY_AFTER_S", 0.2)
    assert in_tasks(in_three_tasks(first), trials=8) == [None, None, None]


def test_a_task_that_is_cancelled_takes_no_trial(monkeypatch):
    """Another task gets it, which waits already."""

    async def ask(experiment):
        entered, leaves, real = threading.Event(), threading.Event(), experiment.reading.ask

        def slow():
            found = real()
            entered.set()
            leaves.wait(30)
            return found

        with monkeypatch.context() as patched:
            patched.setattr(experiment.reading, "ask", slow)
            asks = asyncio.ensure_future(experiment.ask())
            await asyncio.get_running_loop().run_in_executor(None, entered.wait, 30)
        asks.cancel()
        waits = asyncio.ensure_future(experiment.ask())
        await asyncio.sleep(0.3)
        assert asks.cancelled() and not waits.done()
        leaves.set()
        trial = await waits
        await experiment.tell(trial, 1.0)
        return trial.number, await experiment.ask()

    assert in_tasks(ask, trials=1) == (0, None)


@pytest.mark.parametrize("trials", ["5", 2.5, 0, True])
@pytest.mark.parametrize("space", [SPACE, {"x": tune.grid_search([1, 2])}])
def test_trials_that_are_no_number(space, trials):
    with pytest.raises(tunehost.AskError, match="^trials is .*: expected a whole number from 1 on, or -1 for no limit"):
        tunehost.AskTell(space, "loss", "min", trials=trials)
    with tunehost.AskTell(space, "loss", "min", trials=2.0, storage="none") as experiment:
        assert len(list_of(experiment)) == 2


def test_nothing_is_kept():
    with tunehost.AskTell(SPACE, metric="loss", mode="min", trials=2, storage="none") as experiment:
        assert len(list_of(experiment)) == 2
    assert os.listdir(".") == []


@pytest.mark.parametrize("storage", [None, "none"])
def test_there_is_no_best_trial_yet(storage):
    space = {"x": tune.uniform(0, 1)}
    with tunehost.AskTell(space, metric="loss", mode="min", trials=2, seed=1, storage=storage) as experiment:
        assert experiment.best() is None
        for trial in experiment:
            experiment.tell(trial, {"loss": float("nan")})
        assert experiment.best() is None
    if storage is None:
        read = tunehost.Experiment.open(experiment.dir)
        assert read.best() is None and read.front() == [] and read.best_checkpoint is None
        with pytest.raises(tunehost.ReadError, match='no trial has reported a metric "nope"'):
            read.best("nope")
