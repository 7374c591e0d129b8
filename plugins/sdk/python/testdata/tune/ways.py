"""Trainables of a script's own module, in every form that Python has; a test runs this as a script, as a module and in a
notebook."""

import functools
import logging
import os
import sys
from pathlib import Path

import numpy as np

from tunehost import tune


def plain(config):
    print("printed", config["x"])
    print("to stderr", file=sys.stderr)
    logging.getLogger("mine").warning("logged %s", config["x"])
    return {"y": helper(config["x"])}


def helper(x):
    return 2 * x


class Callable:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, config):
        return {"y": self.factor * config["x"]}

    def method(self, config):
        return {"y": self.factor * config["x"]}

    @staticmethod
    def static(config):
        return {"y": 2 * config["x"]}


class Steps(tune.Trainable):
    def step(self):
        return {"y": helper(self.config["x"]), "done": True}


def closure(factor):
    def train(config):
        return {"y": factor * config["x"]}

    return train


def with_factor(config, factor):
    return {"y": factor * config["x"]}


def mapped(config, data):
    """Whether the array is the file's memory, and not a copy in this process."""
    at = data.__array_interface__["data"][0]
    for line in Path("/proc/self/maps").read_text().splitlines():
        low, high = (int(part, 16) for part in line.split()[0].split("-"))
        if low <= at < high:
            return {"y": 6 if line.endswith("objects/data.bin") else -1}
    return {"y": -2}


def main():
    config = tune.RunConfig(verbose=0)
    ways = [
        plain, Callable(2), Callable(2).method, Callable.static, Steps, closure(2), lambda config: {"y": 2 * config["x"]},
        functools.partial(with_factor, factor=2), tune.with_parameters(with_factor, factor=2),
        tune.with_parameters(mapped, data=np.zeros(1_000_000)),
    ]
    for way in ways:
        result = tune.Tuner(way, param_space={"x": 3}, run_config=config).fit()[0]
        assert result.error is None and result.metrics["y"] == 6, (way, result.error, result.metrics)
        if way is plain:
            assert Path(result.path, "stdout").read_text() == "printed 3\n"
            written = Path(result.path, "stderr").read_text().splitlines()
            assert written[0] == "to stderr" and written[1].endswith("WARNING mine: logged 3"), written
    print("ways", len(ways), os.path.exists("results"))


if __name__ == "__main__":
    main()
