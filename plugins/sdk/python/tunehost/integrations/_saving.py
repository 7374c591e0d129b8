"""What all callbacks share: reports with checkpoints."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, Mapping, Optional

from .. import tune

Save = Callable[[Path], None]


def due(iteration: int, every: int) -> bool:
    """Whether an iteration (from 1) has a checkpoint; every 0: none has."""
    return every > 0 and iteration % every == 0


def report(metrics: Mapping[str, Any], save: Optional[Save]) -> None:
    """Reports a result, with the checkpoint that save writes into an empty directory. Raises tune.Stopped."""
    if save is None:
        tune.report(metrics)
        return
    with tempfile.TemporaryDirectory() as dir:
        save(Path(dir))
        tune.report(metrics, checkpoint=tune.Checkpoint.from_directory(dir))


def restored(name: str) -> Optional[Path]:
    """The file of this name in the checkpoint that the trial continues from; None when it begins."""
    checkpoint = tune.get_checkpoint()
    if checkpoint is None:
        return None
    found = Path(checkpoint.path, name)
    if not found.exists():
        raise FileNotFoundError(f"the checkpoint {checkpoint.path} has no {name}: it is of another callback")
    return found


def chosen(metrics: Mapping[str, Any], names: Any) -> Dict[str, Any]:
    """The metrics that are reported: all, those of a list, or those of a dict under the names of its keys.

    >>> chosen({"loss": 1, "acc": 2}, ["acc"]), chosen({"val_loss": 1}, {"loss": "val_loss"})
    ({'acc': 2}, {'loss': 1})
    """
    if names is None:
        return dict(metrics)
    wanted = dict(names) if isinstance(names, Mapping) else {name: name for name in _list(names)}
    for name in wanted.values():
        if name not in metrics:
            raise KeyError(f"there is no metric {name!r}; there are {', '.join(sorted(map(str, metrics))) or 'none'}")
    return {own: metrics[name] for own, name in wanted.items()}


def _list(names: Any) -> Any:
    return [names] if isinstance(names, str) else names
