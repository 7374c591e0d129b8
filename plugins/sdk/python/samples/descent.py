#!/usr/bin/env python3
"""A trainable: gradient descent on Rosenbrock's function."""

import random
from typing import Dict, Iterator

import tunehost


@tunehost.trainable(name="descent", version="1.0.0")
def descent(run: tunehost.Run, epochs: int = tunehost.option(27, "how many steps", minimum=1)) -> Iterator[Dict[str, float]]:
    """Descends on Rosenbrock's function with parameters lr and momentum."""
    lr, momentum = run.params["lr"], run.params["momentum"]
    rng = random.Random(run.seed)
    x, y = rng.uniform(-2, 2), rng.uniform(-1, 3)
    vx = vy = 0.0
    for _ in range(epochs):
        dx = -2 * (1 - x) - 400 * x * (y - x * x)
        dy = 200 * (y - x * x)
        vx, vy = momentum * vx - lr * dx, momentum * vy - lr * dy
        x, y = x + vx, y + vy
        yield {"loss": (1 - x) * (1 - x) + 100 * (y - x * x) * (y - x * x)}


if __name__ == "__main__":
    tunehost.serve(descent)
