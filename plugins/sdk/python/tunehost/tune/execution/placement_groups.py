"""Requests of several bundles, where Ray Tune has them, too."""

from ..resources import PlacementGroupFactory

__all__ = ["PlacementGroupFactory"]
