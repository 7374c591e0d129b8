"""Objects of the user whose script is killed: python own.py run|restore"""

import json
import os
import sys
import time
from pathlib import Path

from tunehost import tune
from tunehost.tune.schedulers import FIFOScheduler, TrialScheduler
from tunehost.tune.search import Searcher


def train(config):
    start = 0
    if tune.get_checkpoint():
        start = json.loads(Path(tune.get_checkpoint().path, "state.json").read_text())
    for i in range(start + 1, 9):
        time.sleep(0.05)
        os.makedirs("new", exist_ok=True)
        Path("new/state.json").write_text(str(i))
        tune.report({"loss": config["number"] + i}, checkpoint=tune.Checkpoint.from_directory("new"))


class Numbers(Searcher):
    """Suggests 0, 1, 2 …"""

    def __init__(self):
        super().__init__()
        self.n = 0

    def suggest(self, trial_id):
        self.n += 1
        return {"number": self.n - 1}

    def on_trial_complete(self, trial_id, result=None, error=False):
        pass


class HalfOfThem(FIFOScheduler):
    """Stops trials with odd numbers at their fifth iteration, and counts them."""

    def __init__(self):
        super().__init__()
        self.stopped = set()

    def on_trial_result(self, tune_controller, trial, result):
        if trial.config["number"] % 2 and result["training_iteration"] == 5:
            self.stopped.add(trial.trial_id)
            return TrialScheduler.STOP
        return TrialScheduler.CONTINUE

    def on_trial_complete(self, tune_controller, trial, result):
        assert result["loss"] == trial.config["number"] + result["training_iteration"]


class Hears(tune.Callback):
    """Writes down what it hears."""

    def on_trial_result(self, iteration, trials, trial, result, **info):
        with open("heard", "a") as f:
            f.write(json.dumps([trial.config["number"], result["training_iteration"]]) + "\n")


if sys.argv[1] == "run":
    tuner = tune.Tuner(
        train,
        tune_config=tune.TuneConfig(
            num_samples=8, max_concurrent_trials=2, search_alg=Numbers(), scheduler=HalfOfThem()
        ),
        run_config=tune.RunConfig(name="own", storage_path="kept", verbose=0, callbacks=[Hears()]),
    )
else:
    tuner = tune.Tuner.restore("kept/own", train)
results = tuner.fit()
assert not results.errors, results.errors
assert sorted(r.config["number"] for r in results) == list(range(8))
for r in results:
    last = 5 if r.config["number"] % 2 else 8
    assert [m["training_iteration"] for m in r.results] == list(range(1, last + 1)), r.results
print(json.dumps({"suggested": len(results), "stopped": sum(len(r.results) == 5 for r in results)}))
