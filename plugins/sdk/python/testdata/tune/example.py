from tunehost import tune


def train(config):
    accuracy = 0.5
    for epoch in range(config["epochs"]):
        accuracy += (1 - accuracy) * 10 * config["lr"]
        tune.report({"accuracy": accuracy})


results = tune.Tuner(
    train,
    param_space={"lr": tune.loguniform(1e-4, 1e-1), "epochs": 20, "opt": tune.choice(["adam", "sgd"])},
    tune_config=tune.TuneConfig(
        metric="accuracy", mode="max", num_samples=20, scheduler=tune.ASHAScheduler(max_t=20)
    ),
).fit()
print("best", results.get_best_result().config["lr"])
