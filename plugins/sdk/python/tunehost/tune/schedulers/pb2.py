"""The module with the name that it has in Ray Tune."""

from ._pbt import PB2

__all__ = ["PB2"]
