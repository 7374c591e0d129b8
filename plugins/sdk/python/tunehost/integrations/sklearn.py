"""Reports from estimators with partial_fit:

    def train(config):
        model = MLPClassifier(learning_rate_init=config["lr"])
        partial_fit(model, x, y, epochs=20, score=lambda model: {"accuracy": model.score(x_test, y_test)},
                    classes=numpy.unique(y))
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, Callable, Mapping

import cloudpickle

from ._saving import Save, due, report, restored

__all__ = ["partial_fit"]

_FILE = "model.pkl"


def partial_fit(
    model: Any,
    x: Any,
    y: Any,
    *,
    epochs: int,
    score: Callable[[Any], Mapping[str, Any]],
    every: int = 0,
    **arguments: Any,
) -> Any:
    """Calls model.partial_fit(x, y) once for each epoch, and reports what score(model) returns: numbers by name. The
    first call gets the other arguments too, such as classes. every: a checkpoint after so many epochs, with the
    pickled model; 0: none. A trial that continues goes on with the model of its checkpoint. Returns the model."""
    found, done = restored(_FILE), 0
    if found:
        done, model = pickle.loads(found.read_bytes())
    for epoch in range(done + 1, epochs + 1):
        model.partial_fit(x, y, **(arguments if epoch == 1 else {}))
        report({**score(model), "iteration": epoch}, _saver(model, epoch) if due(epoch, every) else None)
    return model


def _saver(model: Any, epoch: int) -> Save:
    def save(dir: Path) -> None:
        (dir / _FILE).write_bytes(cloudpickle.dumps((epoch, model)))

    return save
