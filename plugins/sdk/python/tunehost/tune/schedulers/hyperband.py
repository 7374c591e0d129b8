"""The module with the name that it has in Ray Tune."""

from . import HyperBandScheduler

__all__ = ["HyperBandScheduler"]
