"""The module with the name that it has in Ray Tune."""

from . import Repeater

__all__ = ["Repeater"]
