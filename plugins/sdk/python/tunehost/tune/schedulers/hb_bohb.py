"""The module with the name that it has in Ray Tune."""

from . import HyperBandForBOHB

__all__ = ["HyperBandForBOHB"]
