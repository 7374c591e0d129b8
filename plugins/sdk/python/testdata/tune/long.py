"""Trials that take long, for a test that kills this script: python long.py run|restore"""

import json
import sys
import tempfile
import time
from pathlib import Path

from tunehost import tune


def train(config):
    start = 0
    if tune.get_checkpoint():
        start = json.loads(Path(tune.get_checkpoint().path, "state.json").read_text())
    for i in range(start + 1, config["epochs"] + 1):
        time.sleep(config["sleep"])
        with tempfile.TemporaryDirectory() as dir:
            Path(dir, "state.json").write_text(json.dumps(i))
            with open("ran", "a") as f:
                f.write(f"{i}\n")
            tune.report({"loss": config["x"] / i}, checkpoint=tune.Checkpoint.from_directory(dir))


if sys.argv[1] == "run":
    tuner = tune.Tuner(
        train,
        param_space={"x": tune.uniform(0, 1), "epochs": 10, "sleep": 0.05},
        tune_config=tune.TuneConfig(metric="loss", mode="min", num_samples=6, max_concurrent_trials=2),
        run_config=tune.RunConfig(name="long", storage_path="kept", verbose=0),
    )
else:
    assert tune.Tuner.can_restore("kept/long")
    tuner = tune.Tuner.restore("kept/long", train)
results = tuner.fit()
assert len(results) == 6 and not results.errors, results.errors
for result in results:
    assert [r["training_iteration"] for r in result.results] == list(range(1, 11)), result.results
    assert [r["loss"] for r in result.results] == [result.config["x"] / i for i in range(1, 11)]
    assert json.loads(Path(result.checkpoint.path, "state.json").read_text()) == 10
print(json.dumps({r.trial_id: len(Path(r.path, "ran").read_text().split()) for r in results}))
