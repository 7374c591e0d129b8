"""The module with the name that it has in Ray Tune."""

from ._methods import NevergradSearch

__all__ = ["NevergradSearch"]
