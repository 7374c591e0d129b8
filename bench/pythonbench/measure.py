"""Measures tuning from Python beside Optuna and Ray Tune, in one run: python measure.py [NAME ...]

Run by `make bench-python`, which installs all three. NAMEs are parts of rows' names, or import or training. Each figure is of processes of its own; processor time is that of all
processes that a run has started. Costs of a trial are differences between runs of many and of one trial.
"""

import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from training import TRAININGS

IMPORTS = ["pass", "import tunehost", "from tunehost import tune", "import optuna", "from ray import tune"]

TUNEHOST = """
import sys, time
from tunehost import tune
def train(config):
    if config["first"]: open("first", "w").write(repr(time.time()))
    return {"loss": config["x"]}
begin = time.time()
space = {"x": tune.uniform(0, 1), "first": COUNT == 1}
results = tune.Tuner(train, param_space=space, tune_config=tune.TuneConfig(metric="loss", mode="min", num_samples=COUNT),
                     run_config=tune.RunConfig(verbose=0)).fit()
assert len(results) == COUNT and not results.errors
first = results[0].path + "/first"
"""

RAY = """
import os, sys, time, logging
os.environ.update(RAY_DEDUP_LOGS="0", TUNE_DISABLE_AUTO_CALLBACK_LOGGERS="1", RAY_USAGE_STATS_ENABLED="0")
import ray
from ray import tune
here = os.getcwd()
def train(config):
    if config["first"]: open(here + "/first", "w").write(repr(time.time()))
    tune.report({"loss": config["x"]})
begin = time.time()
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
space = {"x": tune.uniform(0, 1), "first": COUNT == 1}
results = tune.Tuner(train, param_space=space,
                     tune_config=tune.TuneConfig(metric="loss", mode="min", num_samples=COUNT, reuse_actors=True),
                     run_config=tune.RunConfig(verbose=0, storage_path=here)).fit()
assert len(results) == COUNT and not results.errors
first = here + "/first"
ray.shutdown()
"""

OPTUNA = """
import time, optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
begin, first = time.time(), ""
storage = STORAGE
study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1), storage=storage)
study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=COUNT)
assert len(study.trials) == COUNT
"""
JOURNAL = 'optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend("journal"))'

ASKTELL = """
import time, tunehost
from tunehost import tune
begin, first = time.time(), ""
space = {"x": tune.uniform(0, 1)}
with tunehost.AskTell(space, metric="loss", mode="min", trials=COUNT, searcher="random") as experiment:
    for trial in experiment:
        experiment.tell(trial, trial.params["x"])
    assert len(experiment.trials()) == COUNT
"""

END = """
import json
print(json.dumps([time.time() - begin, float(open(first).read()) - begin if first and COUNT == 1 else None]))
"""

PROGRAMS = {
    "tunehost.tune, a forked process each, recorded": (TUNEHOST, 1000),
    "tunehost.AskTell, in this process, recorded": (ASKTELL, 1000),
    "Optuna, in memory": (OPTUNA.replace("STORAGE", "None"), 1000),
    "Optuna, journal file": (OPTUNA.replace("STORAGE", JOURNAL), 200),
    "Ray Tune, reuse_actors, without loggers": (RAY, 40),
}


def main() -> None:
    """Prints a table in Markdown."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # this process reaps what its children leave behind
    chosen = sys.argv[1:]
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} at the start", flush=True)
    if not chosen or "import" in chosen:
        imports()
    if not chosen or "training" in chosen:
        trainings()
    programs = {name: of for name, of in PROGRAMS.items() if not chosen or any(c in name for c in chosen)}
    if programs:
        print("\n| trials that return at once | wall | processor | to the first line |\n|---|---|---|---|", flush=True)
    for name, (program, count) in programs.items():
        print(row(name, program, count), flush=True)
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")


def imports() -> None:
    """The processor time of imports, the least of five: other work on the machine only adds to it."""
    print("\n| | processor | above the interpreter |\n|---|---|---|")
    cost = {code: min(run(code)[1] for _ in range(5)) for code in IMPORTS}
    for code, spent in cost.items():
        print(f"| `{code}` | {spent * 1e3:.0f} ms | {(spent - cost['pass']) * 1e3:.0f} ms |", flush=True)


def trainings() -> None:
    """Whole runs of a real training, from the command to the end."""
    print("\n| 60 trials of a small neural network | wall | processor |\n|---|---|---|", flush=True)
    for name, program in TRAININGS.items():
        begin = time.monotonic()
        _, cpu = run(program)
        print(f"| {name} | {time.monotonic() - begin:.1f} s | {cpu:.1f} s |", flush=True)


def row(name: str, program: str, count: int) -> str:
    """Runs one trial, then many."""
    (one, first), cpu_one = timed(program, 1)
    (many, _), cpu_many = timed(program, count)
    wall, cpu = (many - one) / (count - 1), (cpu_many - cpu_one) / (count - 1)
    start = "" if first is None else f"{first * 1e3:.0f} ms"
    return f"| {name} ({count}) | {wall * 1e3:.1f} ms | {cpu * 1e3:.2f} ms | {start} |"


def timed(program: str, count: int) -> "tuple[list[float], float]":
    """What the program prints about itself, and the processor time of all its processes."""
    out, cpu = run((program + END).replace("COUNT", str(count)))
    return json.loads(out.strip().splitlines()[-1]), cpu


def run(code: str) -> "tuple[str, float]":
    """Runs code in a new folder; its output, and the processor time of it and everything that it has started."""
    before = spent()
    with tempfile.TemporaryDirectory(prefix="pythonbench-") as dir:
        script = Path(dir, "script.py")
        script.write_text(code)
        done = subprocess.run([sys.executable, str(script)], cwd=dir, stdout=subprocess.PIPE, text=True, check=True)
        reap()
    return done.stdout, spent() - before


def reap() -> None:
    """Waits until nothing is left of a run; its time counts then."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.05)
        except ChildProcessError:
            return
    sys.exit("processes of a run are still there after 30 s")


def spent() -> float:
    """The processor time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
