#!/usr/bin/env python3
"""A trainable that can be paused and resumed: gradient descent on Rosenbrock's function."""

import json
import random
from pathlib import Path

import tunehost


class DescentResumable(tunehost.Trainable):
    """Descends on Rosenbrock's function, and can continue from a checkpoint."""

    name = "descent-resumable"
    version = "1.0.0"
    saves = True

    epochs: int = tunehost.option(27, "how many steps", minimum=1)

    def train(self, run: tunehost.Run) -> None:
        lr, momentum = run.params["lr"], run.params["momentum"]
        rng = random.Random(run.seed)
        state = [rng.uniform(-2, 2), rng.uniform(-1, 3), 0.0, 0.0]
        if run.restore:
            state = load(run.restore)

        def save(dir: Path) -> None:
            (dir / "state.json").write_text(json.dumps(state))

        while run.iteration < self.epochs:
            x, y, vx, vy = state
            dx = -2 * (1 - x) - 400 * x * (y - x * x)
            dy = 200 * (y - x * x)
            vx, vy = momentum * vx - lr * dx, momentum * vy - lr * dy
            x, y = x + vx, y + vy
            state = [x, y, vx, vy]
            loss = (1 - x) * (1 - x) + 100 * (y - x * x) * (y - x * x)
            run.report(loss=loss, save=save, done=run.iteration + 1 == self.epochs)


def load(dir: Path) -> list[float]:
    try:
        state: list[float] = json.loads((dir / "state.json").read_text())
        return state
    except (OSError, ValueError) as e:
        raise tunehost.RestoreError(f"cannot read the state in {dir}: {e}") from e


if __name__ == "__main__":
    tunehost.serve(DescentResumable)
