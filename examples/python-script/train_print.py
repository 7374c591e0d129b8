"""Trains a classifier and prints one line of JSON per epoch.

The script also runs without tunehost: python3 train_print.py
"""
import json
import os

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

params = {"lr": 0.01, "alpha": 0.0001, "penalty": "l2"}
if "TUNEHOST_PARAMS" in os.environ:  # started by tunehost: the trial's parameters
    with open(os.environ["TUNEHOST_PARAMS"]) as f:
        params.update(json.load(f))
seed = int(os.environ.get("TUNEHOST_SEED", "0")) % 2**32

x, y = load_breast_cancer(return_X_y=True)
x, x_val, y, y_val = train_test_split(x, y, test_size=0.3, random_state=0, stratify=y)
scaler = StandardScaler().fit(x)
x, x_val = scaler.transform(x), scaler.transform(x_val)

model = SGDClassifier(
    loss="log_loss", learning_rate="constant", eta0=params["lr"],
    alpha=params["alpha"], penalty=params["penalty"], random_state=seed,
)
for epoch in range(1, 10):
    model.partial_fit(x, y, classes=[0, 1])
    result = {
        "accuracy": model.score(x_val, y_val),
        "loss": log_loss(y_val, model.predict_proba(x_val)),
    }
    print(json.dumps(result))  # tunehost sets PYTHONUNBUFFERED: it arrives at once
