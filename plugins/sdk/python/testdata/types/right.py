"""What a user writes who has types; type checkers find nothing."""

from typing import Any, Dict

import tunehost
from tunehost import tune


def train(config: Dict[str, Any]) -> None:
    for epoch in range(3):
        tune.report({"loss": config["lr"] / (epoch + 1)})


results = tune.Tuner(train, param_space={"lr": tune.loguniform(1e-4, 1e-1)},
                     tune_config=tune.TuneConfig(metric="loss", mode="min", num_samples=4)).fit()
print(results.get_best_result().config)
best = tunehost.minimize(lambda p: float(p["x"]), {"x": tune.uniform(0, 1)}, trials=3)
print(best.params["x"] + best.value)
with tunehost.AskTell({"x": tune.uniform(0, 1)}, metric="loss", mode="min", trials=3) as experiment:
    for trial in experiment:
        experiment.tell(trial, {"loss": 1.0})
