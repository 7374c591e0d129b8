"""The module with the name that it has in Ray Tune."""

from ._methods import HyperOptSearch

__all__ = ["HyperOptSearch"]
