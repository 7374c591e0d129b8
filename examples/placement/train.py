"""Trains a network on handwritten digits in several processes.

Each process computes the gradient of its part of each batch, and all processes apply the
mean of the gradients. The script also runs without tunehost: python3 train.py
"""
import json
import os
import socket
import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

params = {"lr": 0.5, "units": 32, "batch": 96, "epochs": 10}
if "TUNEHOST_PARAMS" in os.environ:  # started by tunehost: the trial's parameters
    with open(os.environ["TUNEHOST_PARAMS"]) as f:
        params.update(json.load(f))
seed = int(os.environ.get("TUNEHOST_SEED", "0")) % 2**32

# The rank of this process, in the variables of libraries for distributed training.
rank = int(os.environ.get("RANK", "0"))
world = int(os.environ.get("WORLD_SIZE", "1"))


class Group:
    """All processes of a trial. Rank 0 listens, the others connect to it."""

    def __init__(self):
        self.others = []
        if world == 1:
            return
        address = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
        if rank == 0:
            with socket.create_server(address) as server:
                self.others = [server.accept()[0] for _ in range(world - 1)]
        else:
            self.others = [self._connect(address)]
        for s in self.others:
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @staticmethod
    def _connect(address):
        while True:  # rank 0 may not listen yet; if it never does, tunehost kills this process
            try:
                return socket.create_connection(address)
            except ConnectionRefusedError:
                time.sleep(0.02)

    def mean(self, x):
        """Returns the mean over all ranks, identical on each."""
        if rank == 0:
            for s in self.others:
                x = x + self._receive(s, x)
            x = x / world
        for s in self.others:
            s.sendall(x.tobytes())
        return x if rank == 0 else self._receive(self.others[0], x)

    @staticmethod
    def _receive(s, like):
        data = bytearray()
        while len(data) < like.nbytes:
            part = s.recv(like.nbytes - len(data))
            if not part:
                raise SystemExit("another process of this trial has ended")
            data += part
        return np.frombuffer(bytes(data), like.dtype).reshape(like.shape)


def forward(w, x):
    hidden = np.maximum(x @ w[0] + w[1], 0)
    scores = hidden @ w[2] + w[3]
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return hidden, p / p.sum(axis=1, keepdims=True)


def gradient(w, x, y):
    """Returns the gradient of the mean loss over x as one vector."""
    hidden, p = forward(w, x)
    p[np.arange(len(y)), y] -= 1
    p /= len(y)
    back = (p @ w[2].T) * (hidden > 0)
    parts = x.T @ back, back.sum(axis=0), hidden.T @ p, p.sum(axis=0)
    return np.concatenate([g.ravel() for g in parts])


def step(w, g):
    for i, part in enumerate(np.split(g, np.cumsum([v.size for v in w])[:-1])):
        w[i] = w[i] - params["lr"] * part.reshape(w[i].shape)


x, y = load_digits(return_X_y=True)
x, x_val, y, y_val = train_test_split(x / 16, y, test_size=0.3, random_state=0, stratify=y)
random = np.random.default_rng(seed)  # the same on all ranks
units, batch = params["units"], params["batch"] // world * world
w = [random.normal(0, 0.1, (64, units)), np.zeros(units), random.normal(0, 0.1, (units, 10)), np.zeros(10)]

group = Group()
for epoch in range(params["epochs"]):
    order = random.permutation(len(x))
    for at in range(0, len(x) - batch + 1, batch):
        mine = order[at : at + batch][rank::world]
        step(w, group.mean(gradient(w, x[mine], y[mine])))
    if rank == 0:  # the results of rank 0 are the trial's
        p = forward(w, x_val)[1]
        loss = -np.log(p[np.arange(len(y_val)), y_val] + 1e-12).mean()
        print(json.dumps({"accuracy": float((p.argmax(axis=1) == y_val).mean()), "loss": float(loss)}), flush=True)
