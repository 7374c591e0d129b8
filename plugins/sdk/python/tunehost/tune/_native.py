"""Scalars of numpy, and of libraries like it, as the plain values that they are. The record has these."""

from __future__ import annotations

import numbers
import sys
from typing import Any

__all__ = ["native"]


def native(value: Any) -> Any:
    """The number, truth value or text that a scalar is, also inside of lists, tuples and dicts. Other values, such as
    arrays, are returned as they are."""
    if type(value) in (list, tuple):
        return type(value)(map(native, value))
    if type(value) is dict:
        return {native(key): native(one) for key, one in value.items()}
    if not _is_scalar(value):
        return value
    found = value.item()
    return found if type(found) in (bool, int, float, str) else value


def _is_scalar(value: Any) -> bool:
    generic: Any = getattr(sys.modules.get("numpy"), "generic", ())
    return isinstance(value, (numbers.Real, generic)) and hasattr(value, "item")
