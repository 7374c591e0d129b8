"""The same training over tunehost's channel: it receives decisions and saves checkpoints."""
import json
import os
import pickle
import socket
import sys

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

# The channel: send a line of JSON, receive a line of JSON.
channel = socket.socket(socket.AF_UNIX)
channel.connect(os.environ["TUNEHOST_CHANNEL"])
lines = channel.makefile("rw")


def report(metrics, iteration, checkpoint=None):
    """Reports one result; returns "continue", "pause" or "stop"."""
    message = {"metrics": metrics, "iteration": iteration}
    if checkpoint:
        message["checkpoint"] = checkpoint
    print(json.dumps(message), file=lines, flush=True)
    answer = json.loads(lines.readline())
    return answer.get("decision") or sys.exit(answer["error"])


with open(os.environ["TUNEHOST_PARAMS"]) as f:
    params = json.load(f)
seed = int(os.environ["TUNEHOST_SEED"]) % 2**32

x, y = load_breast_cancer(return_X_y=True)
x, x_val, y, y_val = train_test_split(x, y, test_size=0.3, random_state=0, stratify=y)
scaler = StandardScaler().fit(x)
x, x_val = scaler.transform(x), scaler.transform(x_val)

epoch, model = 0, SGDClassifier(
    loss="log_loss", learning_rate="constant", eta0=params["lr"],
    alpha=params["alpha"], penalty=params["penalty"], random_state=seed,
)
if "TUNEHOST_CHECKPOINT" in os.environ:  # continue from an earlier attempt
    with open(os.path.join(os.environ["TUNEHOST_CHECKPOINT"], "model.pickle"), "rb") as f:
        epoch, model = pickle.load(f)

while epoch < 9:
    epoch += 1
    model.partial_fit(x, y, classes=[0, 1])
    result = {
        "accuracy": model.score(x_val, y_val),
        "loss": log_loss(y_val, model.predict_proba(x_val)),
    }
    checkpoint = None
    if epoch % 3 == 0:  # a complete directory, which now belongs to tunehost
        checkpoint = os.path.join(os.environ["TUNEHOST_CHECKPOINT_DIR"], f"epoch-{epoch}")
        os.makedirs(checkpoint, exist_ok=True)
        with open(os.path.join(checkpoint, "model.pickle"), "wb") as f:
            pickle.dump((epoch, model), f)
    if report(result, epoch, checkpoint) != "continue":
        break  # stopped or paused
