"""The module with the name that it has in Ray Tune."""

from . import MedianStoppingRule

__all__ = ["MedianStoppingRule"]
