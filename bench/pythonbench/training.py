"""Programs that tune a real training: a neural network of scikit-learn on its digits, 60 random points, 9 epochs, asha, two
trials at a time. Each is a script for a process of its own."""

LEARN = """
import os
os.environ["OMP_NUM_THREADS"] = "1"
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
def epochs(lr, units):
    x, y = load_digits(return_X_y=True)
    x, x_val, y, y_val = train_test_split(x / 16, y, test_size=0.3, random_state=0)
    model = MLPClassifier((units,), learning_rate_init=lr, random_state=0)
    for _ in range(9):
        model.partial_fit(x, y, classes=range(10))
        yield model.score(x_val, y_val)
"""

TUNER = """
def train(config):
    for accuracy in epochs(config["lr"], config["units"]):
        tune.report({"accuracy": accuracy})
space = {"lr": tune.loguniform(1e-4, 1e-1), "units": tune.randint(16, 257)}
scheduler = ASHAScheduler(max_t=9, grace_period=1, reduction_factor=4)
results = tune.Tuner(train, param_space=space, run_config=tune.RunConfig(verbose=0, storage_path=os.getcwd()),
                     tune_config=tune.TuneConfig(metric="accuracy", mode="max", num_samples=60, scheduler=scheduler)).fit()
assert len(results) == 60 and not results.errors
"""

TUNEHOST = LEARN + """
from tunehost import tune
from tunehost.tune.schedulers import ASHAScheduler
""" + TUNER

RAY = LEARN + """
import logging
os.environ.update(TUNE_DISABLE_AUTO_CALLBACK_LOGGERS="1", RAY_USAGE_STATS_ENABLED="0")
import ray
from ray import tune
from ray.tune.schedulers import ASHAScheduler
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
""" + TUNER + """
ray.shutdown()
"""

OPTUNA = LEARN + """
import optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
def objective(trial):
    lr, units = trial.suggest_float("lr", 1e-4, 1e-1, log=True), trial.suggest_int("units", 16, 256)
    for epoch, accuracy in enumerate(epochs(lr, units), 1):
        trial.report(accuracy, epoch)
        if trial.should_prune():
            raise optuna.TrialPruned
    return accuracy
study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1),
                            pruner=optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=4))
study.optimize(objective, n_trials=60, n_jobs=2)
assert len(study.trials) == 60
"""

PROGRAM = """
import os, pathlib, subprocess, sys
pathlib.Path("train.py").write_text('''LEARN
import json
with open(os.environ["TUNEHOST_PARAMS"]) as f:
    params = json.load(f)
for accuracy in epochs(**params):
    print(json.dumps({"accuracy": accuracy}))
''')
pathlib.Path("experiment.yaml").write_text(f'''
version: 1
objective: {{metric: accuracy, mode: max}}
trainable: {{command: [{sys.executable}, train.py], warm: WARM}}
space: {{lr: {{loguniform: [1e-4, 1e-1]}}, units: {{int: [16, 256]}}}}
searcher: random
scheduler: {{plugin: asha, max: 9, reduction_factor: 4}}
resources: {{cpu: 1}}
trials: 60
''')
subprocess.run([os.environ["TUNEHOST_BINARY"], "run", "experiment.yaml", "--resources", "cpu=2"], check=True,
               stdout=subprocess.DEVNULL)
""".replace("LEARN", LEARN)

TRAININGS = {
    "tunehost.tune, a forked process each, recorded": TUNEHOST,
    "tunehost, an unchanged script with `warm: true`": PROGRAM.replace("WARM", "true"),
    "tunehost, an unchanged script, a new interpreter each": PROGRAM.replace("WARM", "false"),
    "Optuna, two threads of one process, in memory": OPTUNA,
    "Ray Tune, a process for each trial": RAY,
}
