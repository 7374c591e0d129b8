"""What Tuner.restore needs to know of an experiment."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Mapping, Optional, Tuple

from . import _callbacks, _encode, _payload
from ._wrapped import Wrapped
from .config import RunConfig, TuneConfig
from .error import TuneError


def remember(dir: Path, tune: TuneConfig, run: RunConfig, trainable: str) -> None:
    """Keeps what the results need, and how much is shown; trainable is its name."""
    facts = {"metric": tune.metric, "mode": tune.mode, "trainable": trainable, "verbose": run.verbose}
    _payload.replace(dir / "tuner.json", json.dumps(facts).encode())


def remember_settings(dir: Path, settings: _callbacks.Settings) -> None:
    """Keeps the callbacks, for Tuner.restore."""
    try:
        _payload.dump(dir / _callbacks.FOLDER / "settings.pkl", settings, "a callback")
    except TuneError as e:
        print(f"tunehost: {e}; Tuner.restore will have no callbacks", file=sys.stderr)


def settings(dir: Path) -> Optional[_callbacks.Settings]:
    """The callbacks of an experiment; None if it has none."""
    file = dir / _callbacks.FOLDER / "settings.pkl"
    if not file.exists():
        return None
    found: _callbacks.Settings = _payload.load(file)
    return found


def configs(dir: Path) -> Tuple[TuneConfig, RunConfig]:
    """The configs, as far as they matter later."""
    found = json.loads((dir / "tuner.json").read_text(encoding="utf-8"))
    return TuneConfig(metric=found["metric"], mode=found["mode"]), RunConfig(verbose=found.get("verbose"))


def renew(dir: Path, trainable: Any, param_space: Optional[Mapping[str, Any]]) -> None:
    """Replaces the trainable and the objects of the space."""
    if trainable is None and param_space is None:
        return
    payload, plan = _payload.read(dir), _payload.read_plan(dir)
    objects = {}
    if trainable is not None:
        wrapped = trainable if isinstance(trainable, Wrapped) else Wrapped(trainable)
        if isinstance(wrapped.inner, type) != isinstance(payload.trainable, type):
            raise TuneError("the trainable is a class and was a function, or the other way round: give the same one")
        payload.trainable, objects = wrapped.inner, wrapped.objects
        if callable(wrapped.resources) and payload.resources:
            payload.resources = wrapped.resources
    if param_space is not None:
        new = _encode.encode(param_space)
        if _shape(new.plan) != _shape(plan):
            raise TuneError(
                "param_space has other parameters than the experiment: give the same, or begin a new experiment"
            )
        plan = new.plan
    _payload.write(dir, payload, plan, objects)


def _shape(node: _encode.Node) -> Any:
    """The parameters of a plan, without values."""
    kind = type(node).__name__
    if isinstance(node, _encode.Group):
        return kind, sorted((str(key), _shape(child)) for key, child in node.members.items())
    path = getattr(node, "path", None)
    return kind, path, [_shape(child) for child in node.children()]
