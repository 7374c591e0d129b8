"""The module with the name that it has in Ray Tune."""

from . import ConcurrencyLimiter

__all__ = ["ConcurrencyLimiter"]
