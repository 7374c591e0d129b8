"""The module with the name that it has in Ray Tune."""

from . import Searcher

__all__ = ["Searcher"]
