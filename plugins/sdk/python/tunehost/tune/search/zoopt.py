"""The module with the name that it has in Ray Tune."""

from ._methods import ZOOptSearch

__all__ = ["ZOOptSearch"]
