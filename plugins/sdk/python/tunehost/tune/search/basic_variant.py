"""The module with the name that it has in Ray Tune."""

from . import BasicVariantGenerator

__all__ = ["BasicVariantGenerator"]
