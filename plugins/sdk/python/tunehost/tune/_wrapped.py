"""A trainable with what with_resources and with_parameters have added."""

from __future__ import annotations

import functools
from typing import Any, Dict


class Wrapped:
    """A function or class, its request and its objects."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.resources: Any = None
        self.objects: Dict[str, Any] = {}
        named = inner.func if isinstance(inner, functools.partial) else inner
        self.__name__ = getattr(named, "__name__", type(named).__name__).strip("<>")

    @classmethod
    def of(cls, trainable: Any, resources: Any = None, objects: Any = None) -> Wrapped:
        """A copy of the trainable with more."""
        known = trainable if isinstance(trainable, Wrapped) else cls(trainable)
        made = cls(known.inner)
        made.resources = known.resources if resources is None else resources
        made.objects = {**known.objects, **(objects or {})}
        return made

    def __call__(self, config: Any) -> Any:
        """Calls the function as a trial does: for tests of one's own."""
        return self.inner(config, **self.objects)
