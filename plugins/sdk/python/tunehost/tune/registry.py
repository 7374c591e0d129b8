"""Trainables by names."""

from __future__ import annotations

from typing import Any, Dict

from .error import Unsupported

__all__ = ["register_env", "register_trainable"]

_known: Dict[str, Any] = {}


def register_trainable(name: str, trainable: Any, warn: bool = True) -> None:
    """Makes a trainable known by a name, which Tuner and run accept instead of it, in this process. TypeError: it
    cannot be called."""
    if not callable(trainable):
        raise TypeError(
            f"the trainable {name} is {trainable!r:.60}: expected a function, or a subclass of tune.Trainable"
        )
    _known[name] = trainable


def registered(trainable: Any) -> Any:
    """The trainable that a name stands for; anything else as it is."""
    return _known.get(trainable, trainable) if isinstance(trainable, str) else trainable


def register_env(name: str, env_creator: Any) -> None:
    """Belongs to RLlib, which is not supported. It raises Unsupported."""
    raise Unsupported("register_env belongs to RLlib, which is not supported: make the environment in the trainable")
