"""Values of other libraries in JSON of experiment files."""

from __future__ import annotations

from typing import Any, Callable, Type

__all__ = ["plain"]


def plain(error: Type[Exception]) -> Callable[[Any], Any]:
    """A default of json.dumps that takes numbers of numpy, and raises such an error for anything else."""

    def default(value: Any) -> Any:
        item = getattr(value, "item", None)
        if item is None:
            raise error(f"{value!r:.60} cannot be written into an experiment file: expected a number, a text or a list")
        return item()

    return default
